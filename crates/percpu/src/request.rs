//! Requests for objects.

use crate::AllocError;
use crate::geometry::{BIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES};

/// A request for one object, which exists once per CPU.
///
/// ```
/// use freehold_percpu::Request;
/// let counter = Request::new(8).align(8);
/// assert_eq!((counter.size_bytes, counter.align_bytes, counter.atomic), (8, 8, false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Size in bytes. The object takes this size rounded up to a multiple of 4.
    pub size_bytes: u64,
    /// The offset must be a multiple of this, in bytes: a power of two up to a page. Less than 4 counts as 4.
    pub align_bytes: u64,
    /// Whether the object must lie in populated pages, because the caller cannot wait for memory.
    pub atomic: bool,
}

impl Request {
    /// `size_bytes` at a multiple of 4. The request may wait for memory. Cost: constant.
    #[must_use]
    pub const fn new(size_bytes: u64) -> Self {
        Self { size_bytes, align_bytes: BIT_BYTES as u64, atomic: false }
    }

    /// Requires that the offset be a multiple of `align_bytes`. Cost: constant.
    #[must_use]
    pub const fn align(self, align_bytes: u64) -> Self {
        Self { align_bytes, ..self }
    }

    /// Requires that the object lie in populated pages. Cost: constant.
    #[must_use]
    #[doc(alias = "GFP_ATOMIC")]
    pub const fn atomic(self) -> Self {
        Self { atomic: true, ..self }
    }

    /// The request in bits, if its size and alignment are valid.
    #[inline]
    pub(crate) fn check(&self) -> Result<BitRequest, AllocError> {
        let Self { size_bytes, align_bytes, atomic } = *self;
        if size_bytes == 0 {
            return Err(AllocError::ZeroSize);
        }
        if size_bytes > u64::from(MIN_UNIT_BYTES) {
            return Err(AllocError::TooLarge { size_bytes });
        }
        if !align_bytes.is_power_of_two() {
            return Err(AllocError::NotPowerOfTwo { align_bytes });
        }
        if align_bytes > u64::from(PAGE_BYTES) {
            return Err(AllocError::AlignTooLarge { align_bytes });
        }
        // Both fit in 32 bits: they were compared with 32-bit limits.
        let (size, align) = (size_bytes as u32, align_bytes as u32);
        Ok(BitRequest { bits: size.div_ceil(BIT_BYTES), align: (align / BIT_BYTES).max(1), atomic })
    }
}

/// A valid request, in bits of [`BIT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitRequest {
    /// Size: from 1 to the bits of the smallest unit.
    pub bits: u32,
    /// Alignment of the first bit: a power of two, at most a block.
    pub align: u32,
    /// Whether the request cannot wait for memory, so that its pages must be populated.
    pub atomic: bool,
}
