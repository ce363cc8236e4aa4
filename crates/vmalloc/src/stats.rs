//! The figures of a virtual memory, and the checking of its invariants.

use crate::builder::Commit;
use crate::memory::{Shared, Use, VirtualMemory, lock};
use crate::zone::Zone;
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
    /// When addresses become usable.
    pub commit: Commit,
    /// How guards are made, once one was: where each is a mapping of its own, there can be 32,000 or so.
    pub guards: Option<Guard>,
    /// Whether mappings have names: `CONFIG_ANON_VMA_NAME` of the kernel.
    pub named: bool,
    /// Bytes of free memory that count as warm: more have no pages, slots that wait to be cleared included.
    pub warm_bytes: u64,
    /// Of these, bytes of slots that wait to be cleared.
    pub dropped_bytes: u64,
    /// Bytes of freed blocks that wait in the quarantine of the debug mode.
    pub quarantine_bytes: u64,
    /// Bytes of addresses that vectors have.
    pub vector_bytes: u64,
    /// Batches that were given back.
    pub purges: u64,
    /// Bytes that were given back, in batches or alone, each with all its pages.
    pub purged_bytes: u64,
    /// Bytes of dropped slots that were found to have pages and cleared.
    pub cleared_bytes: u64,
    /// Times that the system was asked which pages have memory.
    pub scans: u64,
    /// Calls that the system refused where there was another way, as when a block is dropped.
    pub refused: u64,
    /// Frees in the debug mode that could not be guarded.
    pub unguarded: u64,
    /// The zones: small blocks, large blocks, and pools in the order in which they were made.
    pub zones: Vec<ZoneStats>,
}

/// What a zone holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZoneStats {
    /// Its name, which is its mapping's where the kernel has names.
    pub name: String,
    /// Its addresses.
    pub addresses: Span,
    /// Bytes from its start that are committed.
    pub committed_bytes: u64,
    /// What the space of its addresses says.
    pub space: pooled::Stats,
}

impl VirtualMemory {
    /// The figures. Cost: a look at every slab of every zone.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let shared = &*self.shared;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let zones: Vec<ZoneStats> = shared.zones().map(|zone| shared.zone_stats(&zone)).collect();
        let pools = lock(&shared.pools);
        let of_vectors = pools.space.regions().filter(|region| *region.value() == Use::Vector);
        let vector_bytes = of_vectors.map(|region| region.span().size_saturating()).sum();
        drop(pools);
        Stats {
            addresses: shared.addresses(),
            commit: shared.commit,
            guards: shared.mapping.guards(),
            named: shared.named,
            warm_bytes: shared.warm.bytes(),
            dropped_bytes: shared.zones().map(|zone| dropped_bytes(&zone)).sum(),
            quarantine_bytes: shared.quarantine.as_ref().map_or(0, |quarantine| quarantine.bytes()),
            vector_bytes,
            purges: count(&shared.counts.purges),
            purged_bytes: count(&shared.counts.purged_bytes),
            cleared_bytes: count(&shared.counts.cleared_bytes),
            scans: count(&shared.counts.scans),
            refused: count(&shared.counts.refused),
            unguarded: count(&shared.counts.unguarded),
            zones,
        }
    }

    /// Bytes that have memory, present or swapped, of all zones and vectors: what `/proc/self/smaps` says of the same
    /// addresses. The system is asked now.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn resident_bytes(&self) -> Result<u64, SysError> {
        let shared = &*self.shared;
        let mut scan = shared.borrow_scan()?;
        let mut bytes = 0;
        let all = 0..shared.mapping.len();
        let done = shared.resident(&mut scan, all, |run| bytes += run.len() as u64);
        shared.return_scan(scan);
        done.map(|()| bytes)
    }

    /// Checks every invariant. Other threads, that of [`Keep::decay`](crate::Keep::decay) too, must leave it alone meanwhile.
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    pub fn validate(&self) -> Result<(), Broken> {
        let shared = &*self.shared;
        let mut warm = 0;
        for zone in shared.zones() {
            zone.space.validate()?;
            let stats = zone.space.stats();
            warm += zone.warm_bytes(stats.warm_bytes + stats.purging_bytes) + dropped_bytes(&zone);
            zone.validate(&shared.mapping)?;
        }
        check(warm == shared.warm.bytes(), "S6", "what is counted as warm is what is free and warm", warm)?;
        lock(&shared.pools).space.validate()
    }
}

/// Bytes of slots that wait to be cleared.
fn dropped_bytes(zone: &Zone) -> u64 {
    lock(&zone.dropped).iter().map(|held| held.pages.len() as u64).sum()
}

impl Shared {
    fn zone_stats(&self, zone: &Zone) -> ZoneStats {
        let range = zone.range();
        let addresses = Span::from_size(self.mapping.address(range.start), range.len() as u64);
        ZoneStats {
            name: zone.name.clone(),
            addresses: addresses.expect("V1: a zone has addresses"),
            committed_bytes: zone.committed() as u64,
            space: zone.space.stats(),
        }
    }
}
