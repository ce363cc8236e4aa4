//! A request in granules, the unit of the tree.

use super::leaf::{BASE_ALIGN, REACH};
use crate::request::CheckedRequest;

/// A request in granules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GranuleRequest {
    /// Size including the guard; at least 1.
    pub(super) size: u64,
    /// The alignment minus one.
    pub(super) mask: u64,
    /// The first and the last granule that lie entirely in the window.
    pub(super) first: u64,
    pub(super) last: u64,
}

impl GranuleRequest {
    /// `None` if the window holds no whole granule.
    #[inline]
    pub(crate) fn new(request: &CheckedRequest, shift: u32) -> Option<Self> {
        let (window, granule) = (request.window, 1u64 << shift);
        let first = window.first().checked_add(granule - 1)? >> shift;
        // `u64::MAX` is the last address of a granule.
        let last = match window.last().checked_add(1) {
            Some(end) => (end >> shift).checked_sub(1)?,
            None => u64::MAX >> shift,
        };
        let (size, mask) = (request.size_bytes >> shift, (request.align.bytes() >> shift) - 1);
        (first <= last).then_some(Self { size, mask, first, last })
    }

    /// Size and alignment mask for a search of lanes. `None` if the size is beyond reach or lanes are aligned less.
    #[inline]
    pub(super) fn lanes(&self) -> Option<(i32, i32)> {
        let holds = self.size < REACH as u64 && self.mask < BASE_ALIGN as u64;
        holds.then_some((self.size as i32, self.mask as i32))
    }
}
