//! What is asked of a space.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Usable size in bytes.
    pub size_bytes: u64,
    /// Bytes after the region that stay taken with it.
    pub guard_bytes: u64,
    /// What the region must start at a multiple of.
    pub align: Align,
    /// Where the region and its guard must lie.
    pub window: Span,
}

impl Request {
    /// `size_bytes` anywhere, without constraint. A size of 0 is refused by the space.
    #[must_use]
    pub const fn new(size_bytes: u64) -> Self {
        Self { size_bytes, guard_bytes: 0, align: Align::ONE, window: Span::ALL }
    }

    /// The region must start at a multiple of `align`. The space's granule counts in any case.
    #[must_use]
    pub const fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    /// Region and guard must lie in `window`.
    #[must_use]
    #[doc(alias = "zone", alias = "vstart", alias = "vend")]
    pub const fn window(self, window: Span) -> Self {
        Self { window, ..self }
    }

    /// `guard_bytes` after the region stay taken with it, and belong to nobody.
    #[must_use]
    pub const fn guard(self, guard_bytes: u64) -> Self {
        Self { guard_bytes, ..self }
    }
}
