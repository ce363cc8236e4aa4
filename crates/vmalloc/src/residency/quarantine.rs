//! The debug mode: freed memory is guarded, and not handed out again before a number of further bytes were freed.
//!
//! Each zone has its blocks in the order of their frees, so a zone short of addresses shortens only its own quarantine.

use crate::lock::lock;
use crate::mapping::Mapping;
use crate::zone::{Held, Quarantined, Zone};
use std::sync::atomic::{AtomicU64, Ordering};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Quarantine {
    /// Bytes that must be freed after a block before it is reused.
    most_bytes: u64,
    /// Bytes freed so far.
    freed_bytes: AtomicU64,
    /// Frees that could not be guarded.
    pub(crate) unguarded: AtomicU64,
}

impl Quarantine {
    pub(super) fn new(most_bytes: u64) -> Self {
        Self { most_bytes, freed_bytes: AtomicU64::new(0), unguarded: AtomicU64::new(0) }
    }

    /// Adds a block that takes `bytes` of addresses and had `freed_bytes` in use. Frees the blocks of its zone that
    /// have waited long enough.
    fn add(&self, zone: &Zone, position: u64, bytes: u64, freed_bytes: u64) {
        // Relaxed: a count.
        let freed_at = self.freed_bytes.fetch_add(freed_bytes, Ordering::Relaxed) + freed_bytes;
        let mut waiting = lock(&zone.quarantined);
        if waiting.try_reserve(1).is_err() {
            // This block does not wait. It still faults until it is handed out again.
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

    /// Guards a freed block until it is handed out again. Returns it if that was refused.
    #[cold]
    pub(super) fn guard(&self, mapping: &Mapping, zone: &Zone, held: Held) -> Result<(), Held> {
        let freed_bytes = held.pages.len() as u64;
        // The pages after the block's end may be left from an earlier block.
        let mut held = Held { pages: zone.all_pages(mapping, &held), ..held };
        if mapping.guard(&mut held.pages).is_err() {
            // Too many mappings, if a guard is one: use of this block is not caught.
            self.unguarded.fetch_add(1, Ordering::Relaxed);
            return Err(held);
        }
        self.add(zone, held.position, held.slot_bytes, freed_bytes);
        Ok(())
    }
}
