//! A request as the tree searches for it: in granules.

use super::leaf::{BASE_ALIGN, REACH};
use crate::request::CheckedRequest;

/// What is searched for, in granules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GranuleRequest {
    /// At least 1, guard included.
    pub(super) size: u64,
    /// The alignment less one.
    pub(super) mask: u64,
    /// The first and the last granule that lie in the window as a whole.
    pub(super) from: u64,
    pub(super) until: u64,
}

impl GranuleRequest {
    /// `None` if the window holds no whole granule.
    #[inline]
    pub(crate) fn new(request: &CheckedRequest, shift: u32) -> Option<Self> {
        let (window, granule) = (request.window, 1u64 << shift);
        let from = window.first().checked_add(granule - 1)? >> shift;
        // The last address of all ends a granule.
        let until = match window.last().checked_add(1) {
            Some(end) => (end >> shift).checked_sub(1)?,
            None => u64::MAX >> shift,
        };
        let (size, mask) = (request.size_bytes >> shift, (request.align.bytes() >> shift) - 1);
        (from <= until).then_some(Self { size, mask, from, until })
    }

    /// Size and alignment mask for a search of lanes, if they are within reach and lanes are as aligned.
    #[inline]
    pub(super) fn lanes(&self) -> Option<(i32, i32)> {
        let holds = self.size < REACH as u64 && self.mask < BASE_ALIGN as u64;
        holds.then_some((self.size as i32, self.mask as i32))
    }
}
