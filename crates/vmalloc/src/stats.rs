//! The figures of a virtual memory, and the checking of its invariants.
//!
//! Each layer counts at its border, and has a struct of figures here.

use crate::builder::Commit;
use crate::memory::VirtualMemory;
use crate::zone::{Zone, Zones};
use freehold_kva::pooled;
use freehold_sys::{Guard, SysError};
use freehold_units::{Broken, Span, check};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a virtual memory holds and did. While other threads work, figures are of slightly different times.
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
    /// What was cleared.
    pub scrub: ScrubStats,
    /// The zones: that of blocks, which is all addresses, and pools in the order in which they were made.
    pub zones: Vec<ZoneStats>,
}

/// Figures of the reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MappingStats {
    /// When addresses become usable.
    pub commit: Commit,
    /// How guards are made, once one was: where each is a mapping of its own, there can be 32,000 or so.
    pub guards: Option<Guard>,
    /// Whether mappings have names: `CONFIG_ANON_VMA_NAME` of the kernel.
    pub named: bool,
    /// Calls that the system refused where there was another way, as when a block is dropped.
    pub refused: u64,
}

/// Figures of addresses that pools and vectors have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LendingStats {
    /// Bytes of addresses that vectors have.
    pub vector_bytes: u64,
    /// Bytes of addresses of dropped pools and vectors whose memory the system refused to take back.
    pub pending_release_bytes: u64,
}

/// Figures of free memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResidencyStats {
    /// Bytes of free memory that count as resident: no more have pages. Slots that wait to be cleared are included.
    pub resident_bytes: u64,
    /// Of these, bytes of slots that wait to be cleared.
    pub dropped_bytes: u64,
    /// Bytes of freed blocks that wait in the quarantine of the debug mode.
    pub quarantine_bytes: u64,
    /// Frees in the debug mode that could not be guarded.
    pub unguarded: u64,
    /// Batches that were given back.
    pub purges: u64,
    /// Bytes that were given back, in batches or alone, as they were counted.
    pub purged_bytes: u64,
}

/// Figures of clearing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScrubStats {
    /// Bytes of dropped slots that were found to have pages and cleared.
    pub cleared_bytes: u64,
    /// Times that the system was asked which pages have memory.
    pub scans: u64,
}

/// What a zone holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZoneStats {
    /// Its name, which is its mapping's where the kernel has names.
    pub name: String,
    /// Its addresses.
    pub addresses: Span,
    /// Bytes of them that are committed.
    pub committed_bytes: u64,
    /// Whether the system was asked for huge pages for it, and takes that up: [`VirtualMemory::huge_page_bytes`] says what came of it.
    pub huge_pages: bool,
    /// The node that its memory is asked to come from, if the system takes that up.
    pub node: Option<u32>,
    /// What the space of its addresses says.
    pub space: pooled::Stats,
}

impl VirtualMemory {
    /// The figures.
    ///
    /// # Cost
    /// A look at every slab of every zone.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (scrub, residency, zones) = (&*self.shared, &self.shared.residency, self.shared.zones());
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (vector_bytes, pending_release_bytes) = zones.lending.bytes();
        let quarantined = |zone: &Zone| zone.quarantined().iter().map(|block| block.bytes).sum::<u64>();
        Stats {
            addresses: zones.addresses(),
            mapping: MappingStats {
                commit: zones.mapping.commits(),
                guards: zones.mapping.guards(),
                named: zones.named,
                refused: zones.mapping.refused(),
            },
            lending: LendingStats { vector_bytes, pending_release_bytes },
            residency: ResidencyStats {
                resident_bytes: residency.resident.bytes(),
                dropped_bytes: zones.all().map(|zone| zone.dropped_bytes()).sum(),
                quarantine_bytes: zones.all().map(|zone| quarantined(&zone)).sum(),
                unguarded: residency.quarantine.as_ref().map_or(0, |quarantine| quarantine.unguarded()),
                purges: count(&residency.counts.purges),
                purged_bytes: count(&residency.counts.purged_bytes),
            },
            scrub: ScrubStats { cleared_bytes: count(&scrub.cleared_bytes), scans: count(&scrub.scans) },
            zones: zones.all().map(|zone| zone_stats(zones, &zone)).collect(),
        }
    }

    /// Bytes that have memory, present or swapped, of all zones and vectors: what `/proc/self/smaps` says of the same
    /// addresses. The system is asked now.
    ///
    /// # Errors
    /// The system does not tell.
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

    /// Bytes of huge pages, of all zones and vectors, as `/proc/self/smaps` says.
    ///
    /// # Errors
    /// The system does not tell.
    ///
    /// # Cost
    /// A visit of each page table of the process.
    #[doc(alias = "AnonHugePages")]
    pub fn huge_page_bytes(&self) -> Result<u64, SysError> {
        self.shared.mapping().huge_page_bytes()
    }

    /// Checks every invariant. Other threads, that of [`RetainPolicy::decay`](crate::RetainPolicy::decay) too, must leave it
    /// alone meanwhile.
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
        committed_bytes: zones.mapping.committed_bytes(&range) as u64,
        huge_pages: zone.place.advice.huge_pages,
        node: zone.place.advice.node,
        space: zone.stats(),
    }
}
