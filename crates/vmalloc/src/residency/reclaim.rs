//! What is done before a request is refused: everything that waits is given back, and the request is tried again.

use super::Residency;
use crate::error::AllocError;
use crate::zone::{Held, Zone};
use freehold_kva::{AllocError as NoAddresses, Request};

impl Residency {
    /// What was refused, once more if addresses have run out.
    #[cold]
    #[inline(never)]
    pub(super) fn alloc_after_reclaim(
        &self,
        zone: &Zone,
        request: &Request,
        len: usize,
        error: AllocError,
    ) -> Result<Held, AllocError> {
        if !is_scarce(&error) {
            return Err(error);
        }
        self.end_quarantine();
        // What others clear or give back is free when they are done.
        let _alone = zone.hold_alone();
        loop {
            // What is refused is cleared, and free all the same.
            let _ = self.release_dropped_open(zone);
            self.purge_open(zone, u64::MAX)?;
            zone.space.trim();
            match zone.alloc_request(&self.zones.mapping, request, len) {
                // More was dropped meanwhile.
                Err(error) if is_scarce(&error) && !zone.dropped().is_empty() => {}
                done => return done,
            }
        }
    }
}

/// Whether addresses have run out.
fn is_scarce(error: &AllocError) -> bool {
    use NoAddresses::{NoSpace, Occupied};
    matches!(error, AllocError::Addresses(NoSpace { .. } | Occupied { .. }))
}
