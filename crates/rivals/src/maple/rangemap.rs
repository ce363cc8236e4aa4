//! The crate `rangemap`: inclusive ranges in a `BTreeMap`, neighbours with equal values merged.

use super::btree_memory::btree_bytes;
use super::gaps::{check_apart, highest_between, lowest_between};
use freehold_trace::maple::{End, Ranges};
use freehold_units::{Align, Span};
use rangemap::RangeInclusiveMap;
use std::ops::RangeInclusive;

/// A `RangeInclusiveMap`.
#[derive(Clone, Debug, Default)]
pub struct RangemapRanges {
    pub(super) map: RangeInclusiveMap<u64, u64>,
}

impl RangemapRanges {
    /// The range that holds the index.
    #[inline]
    #[must_use]
    pub fn holding(&self, index: u64) -> Option<(u64, u64, u64)> {
        self.map.get_key_value(&index).map(|(range, &value)| (*range.start(), *range.end(), value))
    }
}

impl Ranges for RangemapRanges {
    const GAP_IS_LINEAR: bool = true;

    fn new() -> Self {
        Self::default()
    }

    fn store(&mut self, span: Span, value: u64) {
        self.map.insert(span.first()..=span.last(), value);
    }

    fn clear(&mut self, span: Span) {
        self.map.remove(span.first()..=span.last());
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        let range = span.first()..=span.last();
        let free = !self.map.overlaps(&range);
        if free {
            self.map.insert(range, value);
        }
        free
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        let (range, &value) = self.map.get_key_value(&index)?;
        let range = range.clone();
        self.map.remove(range);
        Some(value)
    }

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        self.map.get(&index).copied()
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.map.iter().map(|(range, &value)| (*range.start(), *range.end(), value))
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let overlapping = self.map.overlapping(window.first()..=window.last());
        let overlapping = overlapping.map(|(range, _)| (*range.start(), *range.end()));
        match end {
            End::Lowest => lowest_between(overlapping, size, align, window),
            End::Highest => highest_between(overlapping.rev(), size, align, window),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn bytes(&self) -> usize {
        btree_bytes::<RangeInclusive<u64>, u64>(self.map.iter().map(|(range, _)| range))
    }

    fn validate(&self) -> Result<(), String> {
        check_apart(self.iter().map(|(first, last, _)| (first, last)))
    }
}
