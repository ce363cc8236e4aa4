//! The steps before a request is refused: everything that waits is freed or decommitted, and the request is tried
//! again.
//!
//! The order, until one step serves the request:
//! 1. If memory was refused: a block that needs no call, from any slab.
//! 2. Slots that were dropped; memory that dropped pools and vectors left.
//! 3. All free memory of the zone is decommitted, and slabs without a block return to the space of blocks.
//! 4. Blocks of this zone in the quarantine, oldest first, twice as many each time.

use super::Residency;
use crate::error::AllocError;
use crate::lock::lock;
use crate::zone::{Held, Use, Zone};
use freehold_kva::{AllocError as NoAddresses, Request};
use std::ops::Range;

impl Residency {
    /// Retries a refused request after everything that waits was freed or decommitted.
    #[cold]
    #[inline(never)]
    pub(super) fn alloc_after_reclaim(
        &self,
        zone: &Zone,
        request: &Request,
        len: usize,
        error: AllocError,
    ) -> Result<Held, AllocError> {
        if !is_scarce(&error) && !matches!(error, AllocError::System(_)) {
            return Err(error);
        }
        if let Some(held) = self.alloc_ready(zone, request, len, &error) {
            return Ok(held);
        }
        self.zones.retry_pending();
        // Wait for blocks that other threads are clearing or decommitting: they are free afterwards.
        let _alone = zone.hold_alone();
        let mut oldest = 1;
        loop {
            // If a decommit is refused, the slots are cleared instead, and free all the same.
            let _ = self.release_dropped_open(zone);
            if let Ok(held) = zone.alloc_request(&self.zones.mapping, request, len) {
                return Ok(held);
            }
            let purged = self.purge_open(zone, u64::MAX);
            if zone.shape.is_none() {
                // All slabs of a pool are alike: one that returned would make room for none, and hide its guarded slots.
                zone.space.trim();
            }
            let error = match zone.alloc_request(&self.zones.mapping, request, len) {
                Ok(held) => return Ok(held),
                Err(error) => error,
            };
            if let Some(held) = self.alloc_ready(zone, request, len, &error) {
                return Ok(held);
            }
            // Slots may have been dropped meanwhile.
            if zone.free_quarantined(oldest) == 0 && lock(&zone.dropped).is_empty() {
                return Err(match purged {
                    Err(refused) if is_scarce(&error) => refused.into(),
                    _ => error,
                });
            }
            oldest *= 2;
        }
    }

    /// If a call was refused: a block that needs none, if the request allows any place.
    fn alloc_ready(&self, zone: &Zone, request: &Request, len: usize, error: &AllocError) -> Option<Held> {
        let is_anywhere = *request == Request::new(request.size_bytes);
        let may_help = matches!(error, AllocError::System(_)) && is_anywhere;
        may_help.then(|| zone.alloc_ready(&self.zones.mapping, request.size_bytes, len))?
    }

    /// Takes addresses for a pool or a vector. Before it fails, it frees what dropped ones left and decommits free
    /// blocks.
    pub(crate) fn lend(&self, request: &Request, by: Use) -> Result<Range<usize>, AllocError> {
        let range = self.lend_addresses(request, by)?;
        // Blocks that were freed here may have left guards. A pool opens each slot when it hands it out.
        if self.quarantine.is_some()
            && by == Use::Vector
            && let Err(error) = self.zones.mapping.unguard(range.clone(), self.zones.mapping.advice)
        {
            self.zones.end_lending(range, by, true);
            return Err(error.into());
        }
        Ok(range)
    }

    fn lend_addresses(&self, request: &Request, by: Use) -> Result<Range<usize>, AllocError> {
        match self.zones.lend(request, by).map_err(AllocError::from) {
            Err(error) if is_scarce(&error) => self.zones.retry_pending(),
            done => return done,
        };
        let zone = self.zones.blocks();
        let mut oldest = 1;
        loop {
            let purged = self.purge_all(zone);
            let error = match self.zones.lend(request, by) {
                Ok(range) => return Ok(range),
                Err(error) => error,
            };
            if zone.free_quarantined(oldest) == 0 {
                return Err(purged.map_or_else(AllocError::from, |()| error.into()));
            }
            oldest *= 2;
        }
    }
}

/// Whether the error is a lack of addresses.
pub(crate) fn is_scarce(error: &AllocError) -> bool {
    use NoAddresses::{NoSpace, Occupied};
    matches!(error, AllocError::Addresses(NoSpace { .. } | Occupied { .. }))
}
