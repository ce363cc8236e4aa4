//! The debug mode: what was freed is guarded, and not handed out again before so many bytes were freed after it.
//!
//! Each zone has its blocks in the order of their frees, so a zone that is short of addresses ends the wait of its own alone.

use super::Residency;
use crate::zone::{Held, Quarantined, Zone};
use freehold_sys::SysError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Quarantine {
    /// Bytes that are freed before a block comes back.
    most_bytes: u64,
    /// Bytes that were freed so far.
    freed_bytes: AtomicU64,
    /// Frees that could not be guarded.
    unguarded: AtomicU64,
}

impl Quarantine {
    pub(super) fn new(most_bytes: u64) -> Self {
        Self { most_bytes, freed_bytes: AtomicU64::new(0), unguarded: AtomicU64::new(0) }
    }

    /// Adds a block of that many bytes of addresses and freed bytes, and frees those of its zone that have waited long enough.
    fn add(&self, zone: &Zone, position: u64, bytes: u64, freed_bytes: u64) {
        // Relaxed: a count.
        let freed_at = self.freed_bytes.fetch_add(freed_bytes, Ordering::Relaxed) + freed_bytes;
        let mut waiting = zone.quarantined();
        if waiting.try_reserve(1).is_err() {
            // It does not wait. It faults until it is handed out again, as all do.
            drop(waiting);
            return zone.free_decommitted(position);
        }
        waiting.push_back(Quarantined { position, bytes, freed_at });
        while let Some(oldest) = waiting.front().copied()
            && freed_at.saturating_sub(oldest.freed_at) >= self.most_bytes
        {
            waiting.pop_front();
            zone.free_decommitted(oldest.position);
        }
    }
}

impl Residency {
    /// Takes back a block that is guarded until it is handed out again.
    #[cold]
    pub(super) fn guard_freed(&self, zone: &Arc<Zone>, held: Held, counted_bytes: u64) {
        let quarantine =
            self.quarantine.as_ref().expect("V1: freed blocks are guarded in the debug mode alone");
        let Held { position, slot_bytes, used_bytes, is_resident, slab, .. } = held;
        let freed_bytes = held.pages.len() as u64;
        // What is beyond the block's end may be of an earlier one.
        let pages = zone.all_pages(&self.zones.mapping, held);
        let mut held = Held { pages, position, slot_bytes, used_bytes, is_resident, slab };
        if self.zones.mapping.guard(&mut held.pages).is_err() {
            // Too many mappings, where a guard is one: this block is not caught.
            quarantine.unguarded.fetch_add(1, Ordering::Relaxed);
            self.resident.add(counted_bytes);
            return self.give_pages_back(zone, held, counted_bytes);
        }
        quarantine.add(zone, position, slot_bytes, freed_bytes);
    }

    /// Makes a block usable that may have been guarded while it was free, or a part of its slot then.
    #[cold]
    pub(super) fn unguard_freed(&self, zone: &Zone, held: Held) -> Result<Held, SysError> {
        let start = self.zones.mapping.offset_of(&held.pages);
        match self.zones.mapping.unguard(start..start + held.pages.len()) {
            Ok(()) => Ok(held),
            Err(error) => {
                if held.is_resident {
                    self.resident.add(zone.counted_slot(held.slot_bytes));
                    zone.free_resident(held.position, held.slab);
                } else {
                    zone.free_decommitted(held.position);
                }
                Err(error)
            }
        }
    }

    /// Frees the `count` blocks of a zone that have waited longest. Returns how many there were.
    pub(super) fn end_oldest(&self, zone: &Zone, count: usize) -> usize {
        let mut waiting = zone.quarantined();
        let count = count.min(waiting.len());
        waiting.drain(..count).for_each(|block| zone.free_decommitted(block.position));
        count
    }

    /// Frees all blocks of a zone that wait.
    pub(crate) fn end_quarantine(&self, zone: &Zone) {
        self.end_oldest(zone, usize::MAX);
    }

    /// Frees that could not be guarded.
    pub(crate) fn unguarded(&self) -> u64 {
        self.quarantine.as_ref().map_or(0, |quarantine| quarantine.unguarded.load(Ordering::Relaxed))
    }
}
