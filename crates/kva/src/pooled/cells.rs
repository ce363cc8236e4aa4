//! Whole cells of 16 granules, which are all that the core hands out.

use super::PooledSpace;
use crate::{AllocError, Request};
use freehold_units::{Align, Span};

/// A request for cells.
pub(super) enum Cells {
    /// Fewer than 2^64 bytes.
    Of(Request),
    /// All 2^64 bytes of the largest space, a size that no [`Request`] can have.
    All,
}

impl PooledSpace {
    /// The request for whole cells that contain a region and its guard, such that both lie within the window.
    pub(super) fn in_cells(&self, request: &Request) -> Result<Cells, AllocError> {
        let &Request { size_bytes, guard_bytes, align_bytes, window, .. } = request;
        if !self.granule.divides(guard_bytes) {
            return Err(AllocError::NotGranular { size_bytes: guard_bytes, granule: self.granule });
        }
        let align = Align::new(align_bytes).ok_or(AllocError::NotPowerOfTwo { align_bytes })?;
        let Some(window) = window.intersection(self.span) else {
            return Err(AllocError::WindowOutside { window, space: self.span });
        };
        let taken_bytes = size_bytes.checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        let room_bytes = window.size_saturating();
        if taken_bytes > room_bytes {
            return Err(AllocError::TooLarge { size_bytes: taken_bytes, room_bytes, window });
        }
        let none = AllocError::NoMultiple { size_bytes: taken_bytes, align: align.max(self.cell), window };
        let highest = window.highest_fit(taken_bytes, self.cell, u64::MAX).ok_or(none)?;
        // No size is rounded up to 2^64 unless its cells are all that there are.
        let Some(cells_bytes) = self.cell.up(taken_bytes) else { return Ok(Cells::All) };
        // The last cell may extend past the window; the region and its guard may not. The space ends on a cell
        // boundary.
        let reach = Span::from_size(highest.first(), cells_bytes).ok_or(none)?;
        let window = Span::new(window.first(), reach.last()).ok_or(none)?;
        Ok(Cells::Of(Request::new(cells_bytes).align(align).window(window)))
    }
}
