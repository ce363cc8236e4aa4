//! A second map of the same kind, whose values are of another type: for loops over two types in one function.

use super::{BTreeMapRanges, ListRanges, NoditRanges, RangemapRanges};
use freehold_trace::maple::Ranges;
use freehold_units::Span;
use nodit::interval::ii;
use nodit::{Interval, NoditMap};
use rangemap::RangeInclusiveMap;

/// A kind of map that can have another type of values.
pub trait Second: Ranges {
    /// The map of that type.
    type Other: 'static;

    /// One with these ranges, which do not overlap and come in any order.
    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other;

    /// Goes through the one, then through the other, in two loops of one function, as who has such maps writes them: without an
    /// adapter in between. A sum over all entries.
    fn sum_both(one: &Self, other: &Self::Other) -> u64;
}

/// The two loops of [`Second::sum_both`]: of each entry its first and last index, and its value, a `u64` in the first map.
#[macro_export]
macro_rules! sum_both {
    ($one:expr, $other:expr; $entry:pat => $ends:expr, $value:expr) => {{
        let mut sum = 0_u64;
        for $entry in $one {
            sum = sum.wrapping_add($ends ^ $value);
        }
        for $entry in $other {
            sum = sum.wrapping_add($ends ^ u64::from($value));
        }
        sum
    }};
}

impl Second for BTreeMapRanges<u64> {
    type Other = BTreeMapRanges<u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        let mut map = BTreeMapRanges::new();
        ranges.for_each(|(span, value)| map.store(span, value));
        map
    }

    #[inline(never)]
    fn sum_both(one: &Self, other: &Self::Other) -> u64 {
        sum_both!(&one.entries, &other.entries; (first, (last, value)) => first ^ last, *value)
    }
}

impl Second for ListRanges<u64> {
    type Other = ListRanges<u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        let mut map = ListRanges::new();
        ranges.for_each(|(span, value)| map.put(span, Some(value)));
        map
    }

    #[inline(never)]
    fn sum_both(one: &Self, other: &Self::Other) -> u64 {
        sum_both!(&one.entries, &other.entries; (first, last, value) => first ^ last, *value)
    }
}

impl Second for RangemapRanges {
    type Other = RangeInclusiveMap<u64, u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        ranges.map(|(span, value)| (span.first()..=span.last(), value)).collect()
    }

    #[inline(never)]
    fn sum_both(one: &Self, other: &Self::Other) -> u64 {
        sum_both!(one.map.iter(), other.iter(); (range, value) => range.start() ^ range.end(), *value)
    }
}

impl Second for NoditRanges {
    type Other = NoditMap<u64, Interval<u64>, u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        let mut map = NoditMap::new();
        ranges.for_each(|(span, value)| drop(map.insert_overwrite(ii(span.first(), span.last()), value)));
        map
    }

    #[inline(never)]
    fn sum_both(one: &Self, other: &Self::Other) -> u64 {
        sum_both!(one.map.iter(), other.iter(); (interval, value) => interval.start() ^ interval.end(), *value)
    }
}
