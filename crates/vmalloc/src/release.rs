//! Giving memory back to the system: what passes the threshold, what is idle, what can never be warm.
//!
//! # Invariants
//! S6: free memory that may have pages stays under the threshold and a batch: what would pass it is purged first, or given
//! back itself. A call that fails leaves what it was to take warm, so nothing passes for zero that is not (V2).

use crate::memory::{Counts, Shared, lock};
use crate::zone::{Held, Zone};
use freehold_sys::SysError;
use std::sync::Arc;

/// The least that is given back at a time.
const LEAST_BATCH_BYTES: u64 = 256 << 10;

impl Shared {
    /// Gives free blocks of a zone back that count as `warm_bytes`, in batches. Returns what they counted as.
    pub(crate) fn purge(&self, zone: &Zone, warm_bytes: u64) -> Result<u64, SysError> {
        let open = zone.hold_open();
        if *open { self.purge_open(zone, warm_bytes) } else { Ok(0) }
    }

    /// As [`Shared::purge`], for who holds the zone open.
    pub(crate) fn purge_open(&self, zone: &Zone, warm_bytes: u64) -> Result<u64, SysError> {
        let batch = self.keep.batch_bytes().max(LEAST_BATCH_BYTES);
        let mut purged = 0;
        while purged < warm_bytes {
            let claimed = zone.claim((warm_bytes - purged).min(batch));
            // ENOMEM, as of any call.
            let claimed = claimed.map_err(|_| SysError { call: "malloc", errno: 12 })?;
            if claimed.is_empty() {
                break;
            }
            let bytes = claimed.warm_bytes();
            if let Err(error) = claimed.decommit(&self.mapping) {
                Counts::add(&self.counts.refused, 1);
                return Err(error);
            }
            self.warm.sub(bytes);
            Counts::add(&self.counts.purges, 1);
            Counts::add(&self.counts.purged_bytes, bytes);
            purged += bytes;
        }
        Ok(purged)
    }

    /// Gives back what counts as `warm_bytes`, of all zones: slots that wait to be cleared last.
    pub(crate) fn release(&self, warm_bytes: u64) -> Result<u64, SysError> {
        let mut released = 0;
        let mut refused = None;
        for zone in self.zones() {
            match self.purge(&zone, warm_bytes - released) {
                Ok(purged) => released += purged,
                Err(error) => refused = Some(error),
            }
            if released >= warm_bytes {
                break;
            }
        }
        for zone in self.zones() {
            if released >= warm_bytes {
                break;
            }
            match self.release_dropped(&zone) {
                Ok(dropped) => released += dropped,
                Err(error) => refused = Some(error),
            }
        }
        refused.map_or(Ok(released), Err)
    }

    /// Purges until the threshold is kept, the zone itself first. False if it is not.
    #[cold]
    pub(crate) fn make_room(&self, zone: &Arc<Zone>, warm_bytes: u64) -> bool {
        if warm_bytes > self.keep.bytes {
            return false;
        }
        let batch = self.keep.batch_bytes().max(warm_bytes);
        for zone in std::iter::once(Arc::clone(zone)).chain(self.zones()) {
            if !self.warm.is_over() {
                break;
            }
            // What is refused is counted, and tried elsewhere.
            let _ = self.purge(&zone, batch);
            if self.warm.is_over() {
                let _ = self.release_dropped(&zone);
            }
        }
        !self.warm.is_over()
    }

    /// Takes back what was counted as warm and has to give its pages back.
    #[cold]
    pub(crate) fn give_pages_back(&self, zone: &Zone, held: Held, warm_bytes: u64) {
        // What is refused is counted, and warm.
        let _ = self.try_give_pages_back(zone, held, warm_bytes);
    }

    /// As [`Shared::give_pages_back`]. If that is refused, the block is free and warm; a slot that has to be zero is cleared.
    fn try_give_pages_back(&self, zone: &Zone, held: Held, warm_bytes: u64) -> Result<(), SysError> {
        let (position, slab) = (held.position, held.slab);
        let mut pages = zone.all_pages(&self.mapping, held);
        let all = 0..pages.len();
        let done = self.mapping.decommit(&mut pages, all.clone());
        if done.is_ok() {
            self.warm.sub(warm_bytes);
            Counts::add(&self.counts.purged_bytes, warm_bytes);
            zone.give_cold(position);
            return done;
        }
        Counts::add(&self.counts.refused, 1);
        if let Some(shape) = zone.shape.as_ref().filter(|shape| shape.zeroed) {
            // Free slots of such a pool are zero (V3).
            pages.zero(all);
            self.warm.sub(warm_bytes - shape.kept as u64);
        }
        zone.give_warm(position, slab);
        done
    }

    /// Takes back what is never kept warm: extents, and everything while freed blocks are guarded.
    #[cold]
    pub(crate) fn take_back_cold(&self, zone: &Arc<Zone>, held: Held, warm_bytes: u64) {
        let Some(quarantine) = &self.quarantine else {
            self.warm.add(warm_bytes);
            return self.give_pages_back(zone, held, warm_bytes);
        };
        let Held { position, slot_bytes, is_warm, slab, .. } = held;
        // What is beyond the block's end may be of an earlier one.
        let pages = zone.all_pages(&self.mapping, held);
        let mut held = Held { pages, position, slot_bytes, is_warm, slab };
        if self.mapping.guard(&mut held.pages).is_err() {
            // Too many mappings, where a guard is one: this block is not caught.
            Counts::add(&self.counts.unguarded, 1);
            self.warm.add(warm_bytes);
            return self.give_pages_back(zone, held, warm_bytes);
        }
        quarantine.add(zone, position, slot_bytes);
    }

    /// Frees all blocks that wait in the quarantine.
    pub(crate) fn end_quarantine(&self) {
        if let Some(quarantine) = &self.quarantine {
            quarantine.end();
        }
    }

    /// Makes a block usable that may have been guarded while it was free, or a part of its slot then.
    #[cold]
    pub(crate) fn unguard_freed(&self, zone: &Zone, held: Held) -> Result<Held, SysError> {
        let start = self.mapping.offset_of(&held.pages);
        match self.mapping.unguard(start..start + held.pages.len()) {
            Ok(()) => Ok(held),
            Err(error) => {
                if held.is_warm {
                    self.warm.add(zone.warm_bytes(held.slot_bytes));
                    zone.give_warm(held.position, held.slab);
                } else {
                    zone.give_cold(held.position);
                }
                Err(error)
            }
        }
    }

    /// Gives back slots that were dropped and wait to be cleared. Returns what they counted as.
    pub(crate) fn release_dropped(&self, zone: &Zone) -> Result<u64, SysError> {
        let _open = zone.hold_open();
        self.release_dropped_open(zone)
    }

    /// As [`Shared::release_dropped`], for who holds the zone open.
    pub(crate) fn release_dropped_open(&self, zone: &Zone) -> Result<u64, SysError> {
        let dropped = std::mem::take(&mut *lock(&zone.dropped));
        let (mut released, mut refused) = (0, None);
        for held in dropped {
            let bytes = held.pages.len() as u64;
            match self.try_give_pages_back(zone, held, bytes) {
                Ok(()) => released += bytes,
                Err(error) => refused = Some(error),
            }
        }
        refused.map_or(Ok(released), Err)
    }
}
