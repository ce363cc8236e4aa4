//! The statistics of a virtual memory, and the check of its invariants.
//!
//! Each layer counts at its border, and has its struct here.

use crate::builder::Commit;
use crate::lock::lock;
use crate::memory::VirtualMemory;
use crate::zone::{Zone, Zones};
use freehold_kva::pooled;
use freehold_sys::{Guard, SysError};
use freehold_units::{Broken, Span, check};
use std::sync::atomic::{AtomicU64, Ordering};

/// State and counts of a virtual memory. While other threads work, the numbers are of slightly different times.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// All of its addresses.
    pub addresses: Span,
    /// The reservation and the calls on it.
    pub mapping: MappingStats,
    /// The addresses of pools and vectors.
    pub lending: LendingStats,
    /// Free memory that has pages.
    pub residency: ResidencyStats,
    /// Clearing.
    pub scrub: ScrubStats,
    /// The zones: that of blocks, which has all addresses, then the pools in the order of their creation.
    pub zones: Vec<ZoneStats>,
}

/// Statistics of the reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappingStats {
    /// When addresses become usable.
    pub commit: Commit,
    /// How guards are made; `None` before the first. If each is a mapping of its own, there can be about 32,000.
    pub guards: Option<Guard>,
    /// Whether mappings have names: `CONFIG_ANON_VMA_NAME` of the kernel.
    pub named: bool,
    /// Calls that the system refused and that had a fallback, for example when a block is dropped.
    pub refused: u64,
}

/// Statistics of the addresses of pools and vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LendingStats {
    /// Bytes of addresses that vectors have.
    pub vector_bytes: u64,
    /// Bytes of addresses of dropped pools and vectors whose decommit the system refused.
    pub pending_release_bytes: u64,
}

/// Statistics of free memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResidencyStats {
    /// Bytes of free memory that count as resident; at most these have pages, except beside
    /// [huge pages](crate::Builder::huge_pages). Includes slots that wait to be cleared.
    pub resident_bytes: u64,
    /// Of these, bytes of slots that wait to be cleared.
    pub dropped_bytes: u64,
    /// Bytes of freed blocks that wait in the quarantine of the debug mode.
    pub quarantine_bytes: u64,
    /// Frees in the debug mode that could not be guarded.
    pub unguarded: u64,
    /// Batches that were decommitted.
    pub purges: u64,
    /// Bytes that were decommitted, in batches or alone, as they were counted.
    pub purged_bytes: u64,
}

/// Statistics of clearing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScrubStats {
    /// Bytes of dropped slots that were found to have pages and cleared.
    pub cleared_bytes: u64,
    /// Times that the system was asked which pages have memory.
    pub scans: u64,
}

/// State of a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZoneStats {
    /// Its name, which its mapping has too if the kernel supports names.
    pub name: String,
    /// Its addresses.
    pub addresses: Span,
    /// Bytes of them that are committed.
    pub committed_bytes: u64,
    /// Whether huge pages were requested for it and the system accepts that. [`VirtualMemory::huge_page_bytes`] tells
    /// how many bytes have them.
    pub huge_pages: bool,
    /// The NUMA node that its memory should come from, if one was requested and the system accepts that.
    pub node: Option<u32>,
    /// Statistics of the space of its addresses.
    pub space: pooled::Stats,
}

impl VirtualMemory {
    /// The statistics.
    ///
    /// # Cost
    /// A scan of every slab of every zone.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (scrub, residency, zones) = (&*self.shared, &self.shared.residency, self.shared.zones());
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (vector_bytes, pending_release_bytes) = zones.lending.bytes();
        let quarantined = |zone: &Zone| lock(&zone.quarantined).iter().map(|block| block.bytes).sum::<u64>();
        Stats {
            addresses: zones.addresses(),
            mapping: MappingStats {
                commit: zones.mapping.commits(),
                guards: zones.mapping.guards(),
                named: zones.named,
                refused: count(&zones.mapping.refused),
            },
            lending: LendingStats { vector_bytes, pending_release_bytes },
            residency: ResidencyStats {
                resident_bytes: residency.resident.bytes(),
                dropped_bytes: zones.all().map(|zone| zone.dropped_bytes()).sum(),
                quarantine_bytes: zones.all().map(|zone| quarantined(&zone)).sum(),
                unguarded: residency.quarantine.as_ref().map_or(0, |quarantine| count(&quarantine.unguarded)),
                purges: count(&residency.counts.purges),
                purged_bytes: count(&residency.counts.purged_bytes),
            },
            scrub: ScrubStats { cleared_bytes: count(&scrub.cleared_bytes), scans: count(&scrub.scans) },
            zones: zones.all().map(|zone| zone_stats(zones, &zone)).collect(),
        }
    }

    /// Bytes that have memory, present or swapped, of all zones and vectors: the same as in `/proc/self/smaps` for
    /// these addresses. Asks the system.
    ///
    /// # Errors
    /// The system does not provide it.
    ///
    /// # Cost
    /// System calls, and a visit of each page table of the reservation.
    pub fn resident_bytes(&self) -> Result<u64, SysError> {
        let shared = &*self.shared;
        let mut scan = shared.borrow_scan()?;
        let bytes = shared.resident_bytes(&mut scan);
        shared.return_scan(scan);
        bytes
    }

    /// Bytes of huge pages, of all zones and vectors, as in `/proc/self/smaps`.
    ///
    /// # Errors
    /// The system does not provide it.
    ///
    /// # Cost
    /// A visit of each page table of the process.
    #[doc(alias = "AnonHugePages")]
    pub fn huge_page_bytes(&self) -> Result<u64, SysError> {
        self.shared.mapping().huge_page_bytes()
    }

    /// Checks every invariant. Other threads, including that of [`RetainPolicy::decay`](crate::RetainPolicy::decay),
    /// must not use the memory meanwhile.
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    ///
    /// # Cost
    /// Linear in slabs, blocks, pools and vectors.
    pub fn validate(&self) -> Result<(), Broken> {
        let zones = self.shared.zones();
        let mut resident = 0;
        for zone in zones.all() {
            zone.validate(&zones.mapping)?;
            resident += zone.all_counted_bytes() + zone.dropped_bytes();
        }
        let counted = self.shared.residency.resident.bytes();
        check(resident == counted, "S6", "what is counted as resident is what is free and resident", resident)
    }
}

fn zone_stats(zones: &Zones, zone: &Zone) -> ZoneStats {
    let range = zone.place.range.clone();
    let addresses = Span::from_size(zones.mapping.address(range.start), range.len() as u64);
    ZoneStats {
        name: zone.place.name.clone(),
        addresses: addresses.expect("V1: a zone has addresses"),
        committed_bytes: zones.mapping.committed.committed_bytes(&range) as u64,
        huge_pages: zone.place.advice.huge_pages,
        node: zone.place.advice.node,
        space: zone.stats(),
    }
}
