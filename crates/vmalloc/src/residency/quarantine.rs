//! The debug mode's memory of what was freed last: it is guarded, and not handed out again for a while.

use super::Residency;
use crate::lock::lock;
use crate::zone::{Held, Zone};
use freehold_sys::SysError;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Freed blocks in the order of their frees. They are held, guarded and decommitted.
#[derive(Debug)]
pub(crate) struct Quarantine {
    most_bytes: u64,
    waiting: Mutex<Waiting>,
    /// Frees that could not be guarded.
    unguarded: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    blocks: VecDeque<(Arc<Zone>, u64, u64)>,
    bytes: u64,
}

impl Quarantine {
    pub(crate) fn new(most_bytes: u64) -> Self {
        Self { most_bytes, waiting: Mutex::new(Waiting::default()), unguarded: AtomicU64::new(0) }
    }

    /// Adds a block of that many bytes, and frees those that have waited longest, past the most.
    pub(crate) fn add(&self, zone: &Arc<Zone>, position: u64, bytes: u64) {
        let mut waiting = lock(&self.waiting);
        if waiting.blocks.try_reserve(1).is_err() {
            // It does not wait. It faults until it is handed out again, as all do.
            drop(waiting);
            return zone.free_decommitted(position);
        }
        waiting.blocks.push_back((Arc::clone(zone), position, bytes));
        waiting.bytes += bytes;
        self.free_down_to(&mut waiting, self.most_bytes);
    }

    fn free_down_to(&self, waiting: &mut Waiting, most_bytes: u64) {
        while waiting.bytes > most_bytes
            && let Some((zone, position, bytes)) = waiting.blocks.pop_front()
        {
            waiting.bytes -= bytes;
            zone.free_decommitted(position);
        }
    }

    /// Frees all.
    pub(crate) fn end(&self) {
        self.free_down_to(&mut lock(&self.waiting), 0);
    }

    pub(crate) fn bytes(&self) -> u64 {
        lock(&self.waiting).bytes
    }
}

impl Residency {
    /// Takes back a block that is guarded until it is handed out again.
    #[cold]
    pub(super) fn guard_freed(&self, zone: &Arc<Zone>, held: Held, counted_bytes: u64) {
        let quarantine =
            self.quarantine.as_ref().expect("V1: freed blocks are guarded in the debug mode alone");
        let Held { position, slot_bytes, is_resident, slab, .. } = held;
        // What is beyond the block's end may be of an earlier one.
        let pages = zone.all_pages(&self.zones.mapping, held);
        let mut held = Held { pages, position, slot_bytes, is_resident, slab };
        if self.zones.mapping.guard(&mut held.pages).is_err() {
            // Too many mappings, where a guard is one: this block is not caught.
            quarantine.unguarded.fetch_add(1, Ordering::Relaxed);
            self.resident.add(counted_bytes);
            return self.give_pages_back(zone, held, counted_bytes);
        }
        quarantine.add(zone, position, slot_bytes);
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

    /// Frees all blocks that wait in the quarantine.
    pub(crate) fn end_quarantine(&self) {
        if let Some(quarantine) = &self.quarantine {
            quarantine.end();
        }
    }

    /// Bytes that wait in the quarantine, and how many frees could not be guarded.
    pub(crate) fn quarantined(&self) -> (u64, u64) {
        let of = |quarantine: &Quarantine| (quarantine.bytes(), quarantine.unguarded.load(Ordering::Relaxed));
        self.quarantine.as_ref().map_or((0, 0), of)
    }
}
