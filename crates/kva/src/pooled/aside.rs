//! Addresses that the caller sets aside for another use. They are in no slab or extent, and [`PooledSpace::locate`]
//! never finds them.

use super::PooledSpace;
use super::core::ASIDE;
use crate::{AllocError, Placement, Request};
use freehold_units::Span;

impl PooledSpace {
    /// Sets addresses aside at the highest place that `request` allows; slabs and extents are placed lowest first. The
    /// span is a multiple of 16 granules.
    ///
    /// Cost: the core's lock and O(log n) there; a refusal for lack of space first looks at every slab in the lists.
    ///
    /// # Errors
    /// As [`PooledSpace::alloc_request`].
    pub fn set_aside(&self, request: &Request) -> Result<Span, AllocError> {
        let cells = self.in_cells(request)?;
        let mut core = self.lock();
        let mut placed = core.take(&cells, Placement::Highest, ASIDE);
        if let Err(error) = &placed
            && matches!(error, AllocError::NoSpace { .. } | AllocError::Occupied { .. })
            && self.retire_empty(&mut core) > 0
        {
            placed = core.take(&cells, Placement::Highest, ASIDE);
        }
        let span = placed?;
        core.aside += 1;
        Ok(span)
    }

    /// Returns the addresses that were set aside at `first` to the space. Returns `false`, and changes nothing, if none
    /// start there.
    ///
    /// Cost: the core's lock and O(log n) there.
    pub fn return_aside(&self, first: u64) -> bool {
        let mut core = self.lock();
        let region = core.space.region_at(first);
        if !region.is_some_and(|region| region.span().first() == first && *region.value() == ASIDE) {
            return false;
        }
        core.space.free(first).expect("S1: a region that was just seen is there");
        core.aside -= 1;
        true
    }
}
