//! What one writes with the standard library alone: a `BTreeMap` from first index to last index and value.
//!
//! Cost: a store looks for what reaches into its range, for each range that starts in it, and for its own place. A
//! gap is looked for one by one.

use super::btree_memory::btree_bytes;
use super::gaps::{check_apart, highest_between, lowest_between};
use freehold_trace::maple::{End, Ranges};
use freehold_trace::vma::AreaMap;
use freehold_units::{Align, Span};
use std::collections::BTreeMap;

/// Disjoint ranges in a `BTreeMap`.
#[derive(Clone, Debug, Default)]
pub struct BTreeMapRanges<V> {
    /// First index to last index and value.
    pub(super) entries: BTreeMap<u64, (u64, V)>,
}

impl<V: Copy> BTreeMapRanges<V> {
    /// An empty map.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: BTreeMap::new() }
    }

    /// Ranges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of memory that it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        btree_bytes::<u64, (u64, V)>(self.entries.keys())
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// First index, last index and value of every range in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, V)> {
        self.entries.iter().map(|(&first, &(last, value))| (first, last, value))
    }

    /// The last of the ranges that start at or below the index.
    #[inline]
    #[must_use]
    pub fn at_or_below(&self, index: u64) -> Option<(u64, u64, V)> {
        self.entries.range(..=index).next_back().map(|(&first, &(last, value))| (first, last, value))
    }

    /// The first of the ranges that start at or above the index.
    #[must_use]
    pub fn at_or_above(&self, index: u64) -> Option<(u64, u64, V)> {
        self.entries.range(index..).next().map(|(&first, &(last, value))| (first, last, value))
    }

    /// The ranges that start in a span, ascending.
    pub fn starting_in(&self, span: Span) -> impl Iterator<Item = (u64, u64, V)> {
        let starting = self.entries.range(span.first()..=span.last());
        starting.map(|(&first, &(last, value))| (first, last, value))
    }

    /// The range that holds the index.
    #[inline]
    #[must_use]
    pub fn holding(&self, index: u64) -> Option<(u64, u64, V)> {
        self.at_or_below(index).filter(|&(_, last, _)| last >= index)
    }

    /// Whether nothing is stored in a range.
    #[inline]
    #[must_use]
    pub fn is_free(&self, span: Span) -> bool {
        self.at_or_below(span.last()).is_none_or(|(_, last, _)| last < span.first())
    }

    /// Stores over a range, whatever is there.
    pub fn store(&mut self, span: Span, value: V) {
        self.cut_below(span);
        if let Some(after) = span.first().checked_add(1).and_then(|after| Span::new(after, span.last())) {
            self.remove_starting(after);
        }
        if let Some((last, old)) = self.entries.insert(span.first(), (span.last(), value)) {
            self.keep_above(span, last, old);
        }
    }

    /// Empties a range, whatever is there.
    pub fn clear(&mut self, span: Span) {
        self.cut_below(span);
        self.remove_starting(span);
    }

    /// Erases the whole range that holds the index.
    pub fn erase(&mut self, index: u64) -> Option<(u64, u64, V)> {
        let held = self.holding(index)?;
        self.entries.remove(&held.0);
        Some(held)
    }

    /// Cuts off what of the range below reaches into `span`.
    fn cut_below(&mut self, span: Span) {
        let below = self.entries.range_mut(..span.first()).next_back();
        if let Some((_, (end, value))) = below
            && *end >= span.first()
        {
            let (last, value) = (*end, *value);
            *end = span.first().saturating_sub(1);
            self.keep_above(span, last, value);
        }
    }

    /// Removes the ranges that start in `span`, but for what reaches beyond it.
    fn remove_starting(&mut self, span: Span) {
        while let Some((&first, &(last, value))) = self.entries.range(span.first()..=span.last()).next() {
            self.entries.remove(&first);
            self.keep_above(span, last, value);
        }
    }

    /// Keeps what a range that ended at `last` had above `span`.
    fn keep_above(&mut self, span: Span, last: u64, value: V) {
        if let Some(first) = span.last().checked_add(1).filter(|&first| first <= last) {
            self.entries.insert(first, (last, value));
        }
    }

    /// The lowest or highest place that is free, [`Ranges::gap`].
    #[must_use]
    pub fn free_place(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let around = self.holding(window.first()).filter(|(first, ..)| *first < window.first());
        let around = around.map(|(first, last, _)| (first, last)).into_iter();
        let inside = self.entries.range(window.first()..=window.last());
        let inside = inside.map(|(&first, &(last, _))| (first, last));
        match end {
            End::Lowest => lowest_between(around.chain(inside), size, align, window),
            End::Highest => highest_between(inside.rev().chain(around), size, align, window),
        }
    }

    /// Checks that ranges are ranges, and apart.
    ///
    /// # Errors
    /// Which is not.
    pub fn validate(&self) -> Result<(), String> {
        check_apart(self.iter().map(|(first, last, _)| (first, last)))
    }
}

impl Ranges for BTreeMapRanges<u64> {
    const GAP_IS_LINEAR: bool = true;

    fn new() -> Self {
        Self::new()
    }

    fn store(&mut self, span: Span, value: u64) {
        self.store(span, value);
    }

    fn clear(&mut self, span: Span) {
        self.clear(span);
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        let free = self.is_free(span);
        if free {
            self.entries.insert(span.first(), (span.last(), value));
        }
        free
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        self.erase(index).map(|(_, _, value)| value)
    }

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        self.holding(index).map(|(_, _, value)| value)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.iter()
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        self.free_place(end, size, align, window)
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn bytes(&self) -> usize {
        Self::bytes(self)
    }

    fn validate(&self) -> Result<(), String> {
        self.validate()
    }
}

impl AreaMap for BTreeMapRanges<u64> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let below = self.holding(span.first()).filter(|&(first, ..)| first < span.first());
        below.into_iter().chain(self.starting_in(span))
    }
}
