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

    /// First index, last index and value of each of its ranges in ascending order.
    fn iter_other(other: &Self::Other) -> impl Iterator<Item = (u64, u64, u64)>;
}

impl Second for BTreeMapRanges<u64> {
    type Other = BTreeMapRanges<u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        let mut map = BTreeMapRanges::new();
        ranges.for_each(|(span, value)| map.store(span, value));
        map
    }

    #[inline]
    fn iter_other(other: &Self::Other) -> impl Iterator<Item = (u64, u64, u64)> {
        other.iter().map(|(first, last, value)| (first, last, u64::from(value)))
    }
}

impl Second for ListRanges<u64> {
    type Other = ListRanges<u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        let mut map = ListRanges::new();
        ranges.for_each(|(span, value)| map.put(span, Some(value)));
        map
    }

    fn iter_other(other: &Self::Other) -> impl Iterator<Item = (u64, u64, u64)> {
        other.iter().map(|(first, last, value)| (first, last, u64::from(value)))
    }
}

impl Second for RangemapRanges {
    type Other = RangeInclusiveMap<u64, u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        ranges.map(|(span, value)| (span.first()..=span.last(), value)).collect()
    }

    #[inline]
    fn iter_other(other: &Self::Other) -> impl Iterator<Item = (u64, u64, u64)> {
        other.iter().map(|(range, &value)| (*range.start(), *range.end(), u64::from(value)))
    }
}

impl Second for NoditRanges {
    type Other = NoditMap<u64, Interval<u64>, u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        let mut map = NoditMap::new();
        ranges.for_each(|(span, value)| drop(map.insert_overwrite(ii(span.first(), span.last()), value)));
        map
    }

    #[inline]
    fn iter_other(other: &Self::Other) -> impl Iterator<Item = (u64, u64, u64)> {
        other.iter().map(|(interval, &value)| (*interval.start(), *interval.end(), u64::from(value)))
    }
}
