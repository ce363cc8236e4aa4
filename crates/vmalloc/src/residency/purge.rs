//! Decommits free memory that exceeds the threshold, is idle, or can never stay resident.

use super::{Residency, count};
use crate::lock::lock;
use crate::mapping::ENOMEM;
use crate::zone::{Held, Zone};
use freehold_sys::SysError;
use std::sync::Arc;

/// The smallest batch.
const LEAST_BATCH_BYTES: u64 = 256 << 10;

impl Residency {
    /// Decommits free blocks of a zone that count as `counted_bytes`, in batches. Returns the bytes that they counted
    /// as.
    fn purge(&self, zone: &Zone, counted_bytes: u64) -> Result<u64, SysError> {
        let open = zone.hold_open();
        if *open { self.purge_open(zone, counted_bytes) } else { Ok(0) }
    }

    /// Decommits all free memory of a zone, and frees its slabs without a block.
    pub(super) fn purge_all(&self, zone: &Zone) -> Result<(), SysError> {
        let _alone = zone.hold_alone();
        let purged = self.purge_open(zone, u64::MAX);
        zone.space.trim();
        purged.map(drop)
    }

    /// As [`Residency::purge`], for a caller that holds the zone open.
    pub(crate) fn purge_open(&self, zone: &Zone, counted_bytes: u64) -> Result<u64, SysError> {
        let batch = self.policy.batch_bytes().max(LEAST_BATCH_BYTES);
        let mut purged = 0;
        while purged < counted_bytes {
            let claimed = zone.claim((counted_bytes - purged).min(batch));
            let claimed = claimed.map_err(|_| SysError { call: "malloc", errno: ENOMEM })?;
            if claimed.is_empty() {
                break;
            }
            let bytes = claimed.counted_bytes();
            if let Err(error) = claimed.decommit(&self.zones.mapping) {
                self.zones.mapping.count_refused();
                return Err(error);
            }
            self.resident.sub(bytes);
            count(&self.counts.purges, 1);
            count(&self.counts.purged_bytes, bytes);
            purged += bytes;
        }
        Ok(purged)
    }

    /// Decommits memory that counts as `counted_bytes`, in all zones. Slots that wait to be cleared come last.
    pub(crate) fn release(&self, counted_bytes: u64) -> Result<u64, SysError> {
        let mut released = 0;
        let mut refused = None;
        self.zones.retry_pending();
        for zone in self.zones.all() {
            match self.purge(&zone, counted_bytes - released) {
                Ok(purged) => released += purged,
                Err(error) => refused = Some(error),
            }
            if counted_bytes == u64::MAX {
                self.release_edges(&zone);
            }
            if released >= counted_bytes {
                break;
            }
        }
        for zone in self.zones.all() {
            if released >= counted_bytes {
                break;
            }
            match self.release_dropped(&zone) {
                Ok(dropped) => released += dropped,
                Err(error) => refused = Some(error),
            }
        }
        refused.map_or(Ok(released), Err)
    }

    /// Decommits what a huge page brought into the bytes beside a pool's slots, which count as nothing.
    fn release_edges(&self, zone: &Zone) {
        let open = zone.hold_open();
        if *open && zone.decommit_edges(&self.zones.mapping).is_err() {
            self.zones.mapping.count_refused();
        }
    }

    /// Purges until the threshold is kept, the zone itself first. `false` if that fails.
    #[cold]
    pub(crate) fn make_room(&self, zone: &Arc<Zone>, counted_bytes: u64) -> bool {
        if counted_bytes > self.policy.bytes {
            return false;
        }
        let batch = self.policy.batch_bytes().max(counted_bytes);
        for zone in std::iter::once(Arc::clone(zone)).chain(self.zones.all()) {
            if !self.resident.is_over() {
                break;
            }
            // A refused purge is counted, and another zone is tried.
            let _ = self.purge(&zone, batch);
            if self.resident.is_over() {
                let _ = self.release_dropped(&zone);
            }
        }
        !self.resident.is_over()
    }

    /// Takes back a block that was counted as resident, and decommits it.
    #[cold]
    pub(crate) fn give_pages_back(&self, zone: &Zone, held: Held, counted_bytes: u64) {
        // If that is refused, the block is counted, and resident.
        let _ = self.try_give_pages_back(zone, held, counted_bytes);
    }

    /// As [`Residency::give_pages_back`]. If the decommit is refused, the block is free and resident; a slot that has
    /// to be zero is cleared.
    fn try_give_pages_back(&self, zone: &Zone, held: Held, counted_bytes: u64) -> Result<(), SysError> {
        let (position, slab) = (held.position, held.slab);
        let mut pages = zone.all_pages(&self.zones.mapping, &held);
        let all = 0..pages.len();
        let done = self.zones.mapping.decommit(&mut pages, all);
        if done.is_ok() {
            self.resident.sub(counted_bytes);
            count(&self.counts.purged_bytes, counted_bytes);
            zone.free_decommitted(position);
            return done;
        }
        self.zones.mapping.count_refused();
        if let Some(shape) = &zone.shape {
            if shape.zeroed {
                // Free slots of such a pool are zero (V3).
                pages.zero(0..held.used_bytes);
            }
            self.resident.sub(counted_bytes - shape.kept as u64);
        }
        zone.free_resident(position, slab);
        done
    }

    /// Decommits dropped slots that wait to be cleared. Returns the bytes that they counted as.
    pub(crate) fn release_dropped(&self, zone: &Zone) -> Result<u64, SysError> {
        let _open = zone.hold_open();
        self.release_dropped_open(zone)
    }

    /// As [`Residency::release_dropped`], for a caller that holds the zone open.
    pub(crate) fn release_dropped_open(&self, zone: &Zone) -> Result<u64, SysError> {
        let dropped = std::mem::take(&mut *lock(&zone.dropped));
        let (mut released, mut refused) = (0, None);
        for held in dropped {
            let bytes = zone.dropped_slot(&held);
            match self.try_give_pages_back(zone, held, bytes) {
                Ok(()) => released += bytes,
                Err(error) => refused = Some(error),
            }
        }
        refused.map_or(Ok(released), Err)
    }
}
