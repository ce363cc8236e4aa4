//! Requests for a range of a space.

use crate::AllocError;
use freehold_units::{Align, Span};

/// A request for one range.
///
/// ```
/// use freehold_kva::Request;
/// use freehold_units::{Align, Span};
/// let below_4g = Span::new(0, u64::from(u32::MAX)).unwrap();
/// let request = Request::new(0x10_0000).align(Align::new(0x1000).unwrap()).window(below_4g).guard(0x1000);
/// assert_eq!(request.size_bytes, 0x10_0000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Request {
    /// Usable size in bytes.
    pub size_bytes: u64,
    /// Bytes after the region that are reserved with it and stay unused.
    pub guard_bytes: u64,
    /// The region's start must be a multiple of this. The space refuses a number that is not a power of two.
    pub align_bytes: u64,
    /// The addresses that the region and its guard must lie in.
    pub window: Span,
}

impl Request {
    /// A request for `size_bytes` anywhere. The space refuses a size of 0. Cost: constant.
    #[must_use]
    pub const fn new(size_bytes: u64) -> Self {
        Self { size_bytes, guard_bytes: 0, align_bytes: 1, window: Span::ALL }
    }

    /// Requires that the region start at a multiple of `align`. The space's granule always applies as well. Cost:
    /// constant.
    #[must_use]
    pub const fn align(self, align: Align) -> Self {
        self.align_bytes(align.bytes())
    }

    /// [`Request::align`] with a number that comes from a guest or a file. The space refuses a number that is not a
    /// power of two ([`AllocError::NotPowerOfTwo`]).
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn align_bytes(self, align_bytes: u64) -> Self {
        Self { align_bytes, ..self }
    }

    /// A request for `size_bytes`, a power of two, at a multiple of itself, as for a PCI BAR or a large page. Cost:
    /// constant.
    #[must_use]
    pub const fn natural(size_bytes: u64) -> Self {
        Self::new(size_bytes).align_bytes(size_bytes)
    }

    /// Requires that region and guard lie in `window`, which is never empty ([`Request::within`] takes any two ends).
    ///
    /// Cost: constant.
    #[must_use]
    #[doc(alias = "zone", alias = "vstart", alias = "vend")]
    pub const fn window(self, window: Span) -> Self {
        Self { window, ..self }
    }

    /// Requires that region and guard lie in `first..=last`. This is a [window](Self::window) whose ends come from a
    /// guest or a file, and may be in the wrong order.
    ///
    /// Cost: constant.
    ///
    /// # Errors
    /// [`AllocError::WindowEmpty`] if `last` is below `first`.
    ///
    /// ```
    /// use freehold_kva::{AllocError, Request};
    /// let request = Request::new(0x1000);
    /// assert_eq!(request.within(0x8000, 0xffff)?.window.size_bytes(), 0x8000);
    /// let empty = AllocError::WindowEmpty { first: 0x8000, last: 0x7fff };
    /// assert_eq!(request.within(0x8000, 0x7fff), Err(empty));
    /// # Ok::<(), AllocError>(())
    /// ```
    pub const fn within(self, first: u64, last: u64) -> Result<Self, AllocError> {
        match Span::new(first, last) {
            Some(window) => Ok(self.window(window)),
            None => Err(AllocError::WindowEmpty { first, last }),
        }
    }

    /// Reserves `guard_bytes` after the region, which stay unused while the region lives. Cost: constant.
    #[must_use]
    pub const fn guard(self, guard_bytes: u64) -> Self {
        Self { guard_bytes, ..self }
    }
}

/// A checked request, the input of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedRequest {
    /// Size including the guard in bytes; at least a granule.
    pub size_bytes: u64,
    /// The start must be a multiple of this; at least the granule.
    pub align: Align,
    /// The addresses that the region and its guard must lie in.
    pub window: Span,
}

impl CheckedRequest {
    /// The lowest place for the request in a free block, if there is one.
    #[inline]
    pub(crate) fn lowest_in(&self, block: Span) -> Option<Span> {
        let place = block.lowest_fit(self.size_bytes, self.align, self.window.first())?;
        (place.last() <= self.window.last()).then_some(place)
    }
}

/// The largest guard, in granules.
pub(crate) const MAX_GUARD_GRANULES: u32 = (1 << 31) - 1;

/// The guard in granules, if a region can have one that large.
#[inline]
pub(crate) fn guard_granules(granules: u64) -> Option<u32> {
    u32::try_from(granules).ok().filter(|&granules| granules <= MAX_GUARD_GRANULES)
}
