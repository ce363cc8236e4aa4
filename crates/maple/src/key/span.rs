//! Ranges of keys, as a map returns them.

use super::Key;
use core::fmt;
use core::ops::{Bound, Range, RangeBounds, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};
use freehold_units::{EmptyRange, Span};

/// The keys `first..=last`, never empty. It is to another type of keys what [`Span`] is to `u64`.
///
/// ```
/// use freehold_maple::KeySpan;
///
/// let letters = KeySpan::new('a', 'z').unwrap();
/// assert_eq!((letters.first(), letters.last(), letters.len()), ('a', 'z', Some(26)));
/// assert_eq!(KeySpan::try_from(..='z').unwrap().first(), '\0');
/// assert!(letters.contains('k') && !letters.contains('K'));
/// assert_eq!(letters.to_string(), "a..=z");
/// assert_eq!(KeySpan::try_from(b'a'..b'c'), Ok(KeySpan::new(b'a', b'b').unwrap()));
/// assert_eq!(KeySpan::new('z', 'a'), None);
/// # Ok::<(), freehold_units::EmptyRange>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeySpan<K> {
    first: K,
    last: K,
}

/// A range of keys, in the form of their type: [`Span`] of `u64`, and [`KeySpan`] of any other. Nothing else is one.
pub trait SpanOf<K>: Copy + RangeBounds<K> + sealed::Sealed {
    /// The keys of words, which are those of keys. Cost: constant.
    #[must_use]
    fn of_words(words: Span) -> Self;

    /// The words of the keys. Cost: constant.
    #[must_use]
    fn words(self) -> Span;

    /// A range of one value, which need not be a key. Cost: constant.
    #[doc(hidden)]
    #[must_use]
    fn of_one(value: K) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for freehold_units::Span {}
    impl<K> Sealed for super::KeySpan<K> {}
}

impl SpanOf<u64> for Span {
    #[inline]
    fn of_words(words: Span) -> Self {
        words
    }

    #[inline]
    fn words(self) -> Span {
        self
    }

    #[inline]
    fn of_one(value: u64) -> Self {
        Self::from_size(value, 1).expect("M14: every u64 is a key")
    }
}

impl<K: Key> SpanOf<K> for KeySpan<K> {
    #[inline]
    fn of_words(words: Span) -> Self {
        Self { first: K::from_word(words.first()), last: K::from_word(words.last()) }
    }

    #[inline]
    fn words(self) -> Span {
        // Its ends are in order, as `new` and maps make no other.
        Span::new(self.first.to_word(), self.last.to_word())
            .expect("M14: the words of keys are in their order")
    }

    #[inline]
    fn of_one(value: K) -> Self {
        Self { first: value, last: value }
    }
}

impl<K: Key> KeySpan<K> {
    /// `first..=last`; `None` if `first` is above `last`. Cost: constant.
    #[must_use]
    pub fn new(first: K, last: K) -> Option<Self> {
        (first.to_word() <= last.to_word()).then_some(Self { first, last })
    }

    /// The lowest key. Cost: constant.
    #[must_use]
    pub const fn first(self) -> K {
        self.first
    }

    /// The highest key, included. Cost: constant.
    #[must_use]
    pub const fn last(self) -> K {
        self.last
    }

    /// The number of keys; `None` if it is 2^64, which a `u64` cannot count. Cost: constant.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a range of keys is never empty")]
    pub fn len(self) -> Option<u64> {
        self.words().len()
    }

    /// Whether a key is one of them. Cost: constant.
    #[must_use]
    pub fn contains(self, key: K) -> bool {
        self.words().contains(key.to_word())
    }
}

impl<K: Key> RangeBounds<K> for KeySpan<K> {
    fn start_bound(&self) -> Bound<&K> {
        Bound::Included(&self.first)
    }

    fn end_bound(&self) -> Bound<&K> {
        Bound::Included(&self.last)
    }
}

impl<K> From<KeySpan<K>> for RangeInclusive<K> {
    fn from(span: KeySpan<K>) -> Self {
        span.first..=span.last
    }
}

impl<K: Key> From<KeySpan<K>> for Span {
    /// The words of the keys.
    fn from(span: KeySpan<K>) -> Self {
        span.words()
    }
}

/// From a range in any form. An inclusive range that was iterated to its end is empty.
macro_rules! from_ranges {
    ($($range:ty),+) => {$(
        impl<K: Key> TryFrom<$range> for KeySpan<K> {
            type Error = EmptyRange;

            fn try_from(range: $range) -> Result<Self, EmptyRange> {
                super::within(&range).map(Self::of_words).ok_or(EmptyRange)
            }
        }
    )+};
}

from_ranges!(
    Range<K>,
    RangeInclusive<K>,
    RangeFrom<K>,
    RangeTo<K>,
    RangeToInclusive<K>,
    (Bound<K>, Bound<K>)
);

impl<K: fmt::Debug> fmt::Debug for KeySpan<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}..={:?}", self.first, self.last)
    }
}

impl<K: fmt::Display> fmt::Display for KeySpan<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.first, self.last)
    }
}
