//! Which zone serves a length, and what it is asked for.

/// Pages of the largest small block, and granules of the largest slot.
const SLOT_GRANULES: usize = 256;
/// A granule of large blocks, 256 KiB whatever a page has: their zone begins at a multiple of 16.
pub(super) const LARGE_GRANULE: usize = crate::mapping::BASE_ALIGN / 16;

/// Rounds up to a power of two, without a division.
#[derive(Clone, Copy, Debug)]
struct Granule {
    mask: usize,
}

impl Granule {
    fn new(bytes: usize) -> Self {
        debug_assert!(bytes.is_power_of_two());
        Self { mask: bytes - 1 }
    }

    /// `None` beyond the address space.
    #[inline]
    fn up(self, len: usize) -> Option<usize> {
        Some(len.checked_add(self.mask)? & !self.mask)
    }
}

/// The granules of lengths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    page: Granule,
    large: Granule,
}

impl Sizes {
    pub(super) fn new(page_bytes: usize) -> Self {
        Self { page: Granule::new(page_bytes), large: Granule::new(LARGE_GRANULE) }
    }

    /// Whole pages that hold `len` bytes; `None` beyond the address space.
    #[inline]
    pub(crate) fn pages(self, len: usize) -> Option<usize> {
        self.page.up(len)
    }

    /// Whether a length of whole pages is small.
    #[inline]
    pub(super) fn is_small(self, len: usize) -> bool {
        len <= SLOT_GRANULES * (self.page.mask + 1)
    }

    /// What the zone of large blocks is asked for.
    #[inline]
    pub(super) fn large_bytes(self, len: usize) -> u64 {
        // A length that cannot be rounded up is too long either way.
        self.large.up(len).unwrap_or(!self.large.mask) as u64
    }
}
