//! What is done before a request is refused: everything that waits is given back, and the request is tried again.
//!
//! The order, until one of them serves the request:
//! 1. Memory was refused: a block that needs no call, whoever's slab it is of.
//! 2. Slots that were dropped; what dropped pools and vectors left.
//! 3. All free memory of the zone is given back, and slabs without a block go back to its space.
//! 4. Blocks of this zone in the quarantine, the oldest first, twice as many each time.

use super::Residency;
use crate::error::AllocError;
use crate::zone::{Held, Use, Zone};
use freehold_kva::{AllocError as NoAddresses, Request};
use std::ops::Range;

impl Residency {
    /// What was refused, once more after all that waits was given back.
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
        // What others clear or give back is free when they are done.
        let _alone = zone.hold_alone();
        let mut oldest = 1;
        loop {
            // What is refused is cleared, and free all the same.
            let _ = self.release_dropped_open(zone);
            if let Ok(held) = zone.alloc_request(&self.zones.mapping, request, len) {
                return Ok(held);
            }
            let purged = self.purge_open(zone, u64::MAX);
            zone.space.trim();
            let error = match zone.alloc_request(&self.zones.mapping, request, len) {
                Ok(held) => return Ok(held),
                Err(error) => error,
            };
            if let Some(held) = self.alloc_ready(zone, request, len, &error) {
                return Ok(held);
            }
            // Slots may have been dropped meanwhile.
            if zone.free_quarantined(oldest) == 0 && zone.dropped().is_empty() {
                return Err(match purged {
                    Err(refused) if is_scarce(&error) => refused.into(),
                    _ => error,
                });
            }
            oldest *= 2;
        }
    }

    /// Where a call was refused, a block that needs none, if any place will do.
    fn alloc_ready(&self, zone: &Zone, request: &Request, len: usize, error: &AllocError) -> Option<Held> {
        let is_anywhere = *request == Request::new(request.size_bytes);
        let may_help = matches!(error, AllocError::System(_)) && is_anywhere;
        may_help.then(|| zone.alloc_ready(&self.zones.mapping, request.size_bytes, len))?
    }

    /// Takes addresses for a pool or a vector. Before they are refused, what dropped ones left and free blocks have go back.
    pub(crate) fn lend(&self, request: &Request, by: Use) -> Result<Range<usize>, AllocError> {
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

/// Whether addresses have run out.
pub(crate) fn is_scarce(error: &AllocError) -> bool {
    use NoAddresses::{NoSpace, Occupied};
    matches!(error, AllocError::Addresses(NoSpace { .. } | Occupied { .. }))
}
