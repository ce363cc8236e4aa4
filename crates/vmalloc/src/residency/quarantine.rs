//! The debug mode: what was freed is guarded, and not handed out again before so many bytes were freed after it.
//!
//! Each zone has its blocks in the order of their frees, so a zone that is short of addresses ends the wait of its own alone.

use crate::mapping::Mapping;
use crate::zone::{Held, Quarantined, Zone};
use std::sync::atomic::{AtomicU64, Ordering};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Quarantine {
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

    /// Guards a freed block until it is handed out again. It comes back if that was refused.
    #[cold]
    pub(super) fn guard(&self, mapping: &Mapping, zone: &Zone, held: Held) -> Result<(), Held> {
        let freed_bytes = held.pages.len() as u64;
        // What is beyond the block's end may be of an earlier one.
        let mut held = Held { pages: zone.all_pages(mapping, &held), ..held };
        if mapping.guard(&mut held.pages).is_err() {
            // Too many mappings, where a guard is one: this block is not caught.
            self.unguarded.fetch_add(1, Ordering::Relaxed);
            return Err(held);
        }
        self.add(zone, held.position, held.slot_bytes, freed_bytes);
        Ok(())
    }

    /// Frees that could not be guarded.
    pub(crate) fn unguarded(&self) -> u64 {
        self.unguarded.load(Ordering::Relaxed)
    }
}
