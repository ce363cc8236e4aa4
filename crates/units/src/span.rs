//! A range of addresses, both ends included, never empty.
//!
//! ```text
//!   first               last
//!     |###################|        size = last - first + 1, from 1 to 2^64
//! ```

mod convert;
mod text;

use crate::Align;
use core::ops::{Bound, RangeBounds, RangeInclusive};

pub use convert::{EmptyRange, EndsAtTheTop};
pub use text::ParseSpanError;

/// The addresses `first..=last`. Invariant: `first <= last`.
///
/// The end is inclusive so that a span can contain the last address of the space. A span is never empty, so no method
/// has a special case for an empty one.
///
/// ```
/// use freehold_units::Span;
/// let span = Span::try_from(0x1000..0x3000)?;
/// assert_eq!((span.first(), span.last(), span.size_bytes()), (0x1000, 0x2fff, 0x2000));
/// assert_eq!(span.to_string(), "0x1000..=0x2fff");
/// assert_eq!("0x1000..=0x2fff".parse(), Ok(span));
/// assert_eq!(["0x1000..0x3000".parse(), "4K+8K".parse()], [Ok(span), Ok(span)]);
///
/// const BUS: Span = Span::new(0xc000_0000, 0xffff_ffff).unwrap();
/// assert_eq!(Span::from_bounds(&(0xc000_0000..1 << 32)), Some(BUS));
/// assert_eq!(Span::new(2, 1), None);
/// assert_eq!(Span::ALL.size_bytes(), 1 << 64);
/// # Ok::<(), freehold_units::EmptyRange>(())
/// ```
///
/// A span is a [`RangeBounds`], as std's ranges are, and converts from each of them: by `From` from those that are never
/// empty, by `TryFrom` from the others. It converts into [`RangeInclusive`](core::ops::RangeInclusive), and into
/// [`Range`](core::ops::Range) unless it has the last address. With the feature `serde`, a span is serialized as the text of
/// [`Display`](core::fmt::Display) in formats for people, and as the pair of its ends in others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    first: u64,
    last: u64,
}

impl Span {
    /// All addresses.
    pub const ALL: Self = Self { first: 0, last: u64::MAX };

    /// `first..=last`; `None` if `first > last`.
    #[must_use]
    pub const fn new(first: u64, last: u64) -> Option<Self> {
        if first <= last { Some(Self { first, last }) } else { None }
    }

    /// `size_bytes` addresses from `first` on; `None` if the size is 0, or if they would pass `u64::MAX`.
    #[must_use]
    pub const fn from_size(first: u64, size_bytes: u64) -> Option<Self> {
        match size_bytes.checked_sub(1) {
            Some(reach) => match first.checked_add(reach) {
                Some(last) => Some(Self { first, last }),
                None => None,
            },
            None => None,
        }
    }

    /// The addresses of a range of any form, such as `4..9`, `4..=8`, `4..` or another span; `None` if there are none.
    #[must_use]
    pub fn from_bounds(bounds: &(impl RangeBounds<u64> + ?Sized)) -> Option<Self> {
        let first = match bounds.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before.checked_add(1)?,
            Bound::Unbounded => 0,
        };
        let last = match bounds.end_bound() {
            Bound::Included(&last) => last,
            Bound::Excluded(&behind) => behind.checked_sub(1)?,
            Bound::Unbounded => u64::MAX,
        };
        Self::new(first, last)
    }

    /// The lowest address.
    #[must_use]
    pub const fn first(self) -> u64 {
        self.first
    }

    /// The highest address, included.
    #[must_use]
    pub const fn last(self) -> u64 {
        self.last
    }

    /// The number of addresses, 1 to 2^64.
    #[must_use]
    pub const fn size_bytes(self) -> u128 {
        (self.last - self.first) as u128 + 1
    }

    /// The number of addresses, or `u64::MAX` for the one span of 2^64.
    ///
    /// The size of a request is a `u64`, so comparing the two gives the right answer for every span.
    #[must_use]
    pub const fn size_saturating(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }

    /// The number of addresses; `None` for the one span of 2^64, which a `u64` cannot count.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a span is never empty")]
    pub const fn len(self) -> Option<u64> {
        (self.last - self.first).checked_add(1)
    }

    /// The addresses in ascending order, from both ends.
    pub fn iter(self) -> RangeInclusive<u64> {
        self.into()
    }

    /// The span `by` addresses higher; `None` if it would pass `u64::MAX`.
    #[must_use]
    pub const fn shifted(self, by: u64) -> Option<Self> {
        match (self.first.checked_add(by), self.last.checked_add(by)) {
            (Some(first), Some(last)) => Some(Self { first, last }),
            _ => None,
        }
    }

    /// Whether the span contains `address`.
    #[must_use]
    pub const fn contains(self, address: u64) -> bool {
        self.first <= address && address <= self.last
    }

    /// Whether the span contains every address of `other`.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// Whether the two spans share an address.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// The addresses in both spans; `None` if there are none.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        Self::new(self.first.max(other.first), self.last.min(other.last))
    }

    /// From the lower of the two starts to the higher of the two ends: the smallest span that covers both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    /// Whether `next` starts right after this span ends.
    #[must_use]
    pub const fn touches(self, next: Self) -> bool {
        match self.last.checked_add(1) {
            Some(after) => after == next.first,
            None => false,
        }
    }

    /// The part of `self` below `middle`, which must lie inside; `None` if it is empty.
    #[must_use]
    pub const fn below(self, middle: Self) -> Option<Self> {
        match middle.first.checked_sub(1) {
            Some(last) => Self::new(self.first, last),
            None => None,
        }
    }

    /// The part of `self` above `middle`, which must lie inside; `None` if it is empty.
    #[must_use]
    pub const fn above(self, middle: Self) -> Option<Self> {
        match middle.last.checked_add(1) {
            Some(first) => Self::new(first, self.last),
            None => None,
        }
    }

    /// The lowest span of `size_bytes` inside this one that starts at a multiple of `align` and not below
    /// `from`; `None` if there is none. Never wraps.
    #[inline]
    #[must_use]
    pub const fn lowest_fit(self, size_bytes: u64, align: Align, from: u64) -> Option<Self> {
        let lowest = if from > self.first { from } else { self.first };
        let Some(first) = align.up(lowest) else { return None };
        match Self::from_size(first, size_bytes) {
            Some(fit) if fit.last <= self.last => Some(fit),
            _ => None,
        }
    }

    /// The highest span of `size_bytes` inside this one that starts at a multiple of `align` and ends at or
    /// below `until`; `None` if there is none. Never wraps.
    #[inline]
    #[must_use]
    pub const fn highest_fit(self, size_bytes: u64, align: Align, until: u64) -> Option<Self> {
        let highest = if until < self.last { until } else { self.last };
        let Some(reach) = size_bytes.checked_sub(1) else { return None };
        let Some(start) = highest.checked_sub(reach) else { return None };
        let first = align.down(start);
        if first < self.first { None } else { Self::from_size(first, size_bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both ends of the space and the middle, so that every carry is met.
    fn edges() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..6, (u64::MAX - 5)..=u64::MAX, ((1u64 << 63) - 3)..(1 << 63) + 3]
    }

    proptest! {
        #[test]
        fn agrees_with_wide_arithmetic(a in edges(), b in edges(), c in edges(), d in edges()) {
            prop_assert_eq!(Span::new(a, b).is_some(), a <= b);
            let (Some(x), Some(y)) = (Span::new(a, b), Span::new(c, d)) else { return Ok(()) };
            prop_assert_eq!(x.size_bytes(), u128::from(b) - u128::from(a) + 1);
            prop_assert_eq!(x.len().map(u128::from), Some(x.size_bytes()).filter(|&size| size < 1 << 64));
            prop_assert!(x.iter().take(3).eq((a..=b).take(3)) && x.iter().next_back() == Some(b));
            prop_assert_eq!(u128::from(x.size_saturating()), x.size_bytes().min(u128::from(u64::MAX)));
            let shared = u128::from(a.max(c))..u128::from(b.min(d)) + 1;
            prop_assert_eq!(x.overlaps(y), !shared.is_empty());
            prop_assert_eq!(x.intersection(y).is_some(), !shared.is_empty());
            prop_assert_eq!(x.covers(y), x.intersection(y) == Some(y));
            prop_assert_eq!(x.hull(y), Span { first: a.min(c), last: b.max(d) });
            prop_assert_eq!(x.touches(y), u128::from(b) + 1 == u128::from(c));
            if x.covers(y) {
                let around = x.below(y).map_or(0, Span::size_bytes) + x.above(y).map_or(0, Span::size_bytes);
                prop_assert_eq!(around + y.size_bytes(), x.size_bytes());
            }
        }

        #[test]
        fn lowest_fit_is_the_lowest(first in edges(), last in edges(), from in edges(),
                                    size in prop_oneof![0u64..6, Just(u64::MAX)], shift in 0u32..4) {
            let Some(span) = Span::new(first, last) else { return Ok(()) };
            let align = Align::new(1 << shift).unwrap();
            let naive = || {
                let mut at = u128::from(first.max(from)).next_multiple_of(u128::from(align.bytes()));
                let end = at + u128::from(size);
                if size == 0 || end > u128::from(last) + 1 { at = 1 << 64 }
                u64::try_from(at).ok()
            };
            prop_assert_eq!(span.lowest_fit(size, align, from).map(Span::first), naive());
        }
    }

    proptest! {
        #[test]
        fn highest_fit_is_the_highest(first in 0u64..40, len in 0u64..40, until in 0u64..80,
                                      size in 0u64..9, shift in 0u32..5) {
            let span = Span::new(first, first + len).unwrap();
            let align = Align::new(1 << shift).unwrap();
            let fits = |at: &u64| {
                let end = at + size;
                size > 0 && align.divides(*at) && first <= *at && end <= first + len + 1 && end <= until + 1
            };
            let expected = (0..80).rev().find(fits);
            prop_assert_eq!(span.highest_fit(size, align, until).map(Span::first), expected);
        }
    }
}
