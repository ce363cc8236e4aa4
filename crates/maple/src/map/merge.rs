//! Merges equal neighbours: on request, and in a store.

use super::WordMap;
use super::words::NewWord;
use crate::entry::{StoredValue, Word};
use crate::error::{StoreError, or_reject};
use crate::key::to_store;
use crate::tree::{Need, StorePlan, indexes};
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

impl<E: StoredValue> WordMap<E> {
    /// Merges each run of equal entries that touch into one entry, which keeps the first value of the run. Returns by
    /// how many the number of entries fell. Never takes memory.
    ///
    /// Cost: O(n) for n entries, and O(log n) for each run that is merged.
    ///
    /// ```
    /// # use freehold_maple::WordMap;
    /// # use freehold_units::{Rejected, Span};
    /// let mut map = WordMap::new();
    /// for (first, last, value) in [(0, 3, 'a'), (4, 7, 'a'), (9, 9, 'a'), (10, 12, 'b')] {
    ///     map.store(Span::new(first, last).unwrap(), value as u32)?;
    /// }
    /// assert_eq!(map.merge_adjacent(), 1);
    /// assert_eq!(map.entry_at(5), Some((Span::new(0, 7).unwrap(), 'a' as u32)));
    /// # Ok::<(), freehold_maple::Rejected<u32, freehold_maple::StoreError>>(())
    /// ```
    pub fn merge_adjacent(&mut self) -> u64
    where
        for<'a> E::Ref<'a>: PartialEq,
    {
        self.merge_adjacent_by(|a, b| a == b)
    }

    /// As [`merge_adjacent`](Self::merge_adjacent), with `same` to compare two neighbours. It gets the run's first
    /// value, and the value that may join it.
    ///
    /// If `same` or a value's drop panics, the runs so far are merged and the others are not.
    ///
    /// Cost: O(n) for n entries, and O(log n) for each run that is merged.
    pub fn merge_adjacent_by(&mut self, same: impl for<'a> FnMut(E::Ref<'a>, E::Ref<'a>) -> bool) -> u64 {
        self.merge_adjacent_in_by(.., same)
    }

    /// As [`merge_adjacent`](Self::merge_adjacent), for the entries that overlap or touch the bounds. After a store
    /// over a range, this merges the new entry with its neighbours.
    ///
    /// Cost: O(log n + m) for n entries and m slots within the bounds, and O(log n) for each run that is merged.
    pub fn merge_adjacent_in(&mut self, bounds: impl RangeBounds<u64>) -> u64
    where
        for<'a> E::Ref<'a>: PartialEq,
    {
        self.merge_adjacent_in_by(bounds, |a, b| a == b)
    }

    /// As [`merge_adjacent_in`](Self::merge_adjacent_in), with `same` to compare two neighbours.
    ///
    /// Cost: O(log n + m) for n entries and m slots within the bounds, and O(log n) for each run that is merged.
    pub fn merge_adjacent_in_by(
        &mut self,
        bounds: impl RangeBounds<u64>,
        mut same: impl for<'a> FnMut(E::Ref<'a>, E::Ref<'a>) -> bool,
    ) -> u64 {
        let before = self.len();
        let mut left = Span::from_bounds(&bounds).map(with_neighbours);
        while let Some(span) = left {
            let Some((run, word)) = self.next_run(span, &mut same) else { break };
            let mut plan = StorePlan::new(run);
            self.tree.plan(&mut plan, true);
            debug_assert_eq!(plan.need, Need::default(), "one entry instead of several takes no node");
            let value = self.owned(word);
            self.commit(&mut plan, Some(value));
            left = run.last().checked_add(1).and_then(|behind| Span::new(behind, span.last()));
        }
        before - self.len()
    }

    /// Stores a value over a range, and makes one entry of it and its equal neighbours: the entries that touch the
    /// range, and the remaining parts of entries that it cuts. Returns the range of that entry.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k; amortized O(log n), as an entry is removed once.
    ///
    /// ```
    /// # use freehold_maple::WordMap;
    /// # use freehold_units::{Rejected, Span};
    /// let mut map = WordMap::new();
    /// map.store_merging(0..10, 1u32)?;
    /// assert_eq!(map.store_merging(5..20, 1)?, Span::try_from(0..20)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    pub fn store_merging(
        &mut self,
        bounds: impl RangeBounds<u64>,
        value: E,
    ) -> Result<Span, Rejected<E, StoreError>>
    where
        for<'a> E::Ref<'a>: PartialEq,
    {
        self.store_merging_by(bounds, value, |new, old| new == old)
    }

    /// As [`store_merging`](Self::store_merging), with `same` to compare the new value with that of a neighbour. The
    /// merged entry has the new value.
    ///
    /// `same` is called before anything changes: for the lower neighbour first, then for the upper one, and once if
    /// both are parts of one entry. If it panics, nothing has changed, and the value is dropped.
    ///
    /// Cost: as for [`store_merging`](Self::store_merging).
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    pub fn store_merging_by(
        &mut self,
        bounds: impl RangeBounds<u64>,
        value: E,
        mut same: impl for<'a> FnMut(E::Ref<'a>, E::Ref<'a>) -> bool,
    ) -> Result<Span, Rejected<E, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let new = NewWord::new(value);
        let mut plan = StorePlan::new(span);
        self.tree.plan_merging(&mut plan, |word| same(new.borrow(), self.borrow(word)));
        let merged = plan.span;
        self.store_at(&mut plan, new.into_value()).map(|()| merged)
    }

    /// The first two entries that touch and of which `same` is true, among the entries that overlap a range: their
    /// range, and the value of the first.
    pub(crate) fn next_pair<'a>(
        &'a self,
        span: Span,
        mut same: impl FnMut((Span, E::Ref<'a>), (Span, E::Ref<'a>)) -> bool,
    ) -> Option<(Span, E::Ref<'a>)> {
        let mut before: Option<(Span, Word)> = None;
        for (entry, word) in
            self.tree.entries_from(span.first()).take_while(|(entry, _)| entry.overlaps(span))
        {
            if let Some((low, first)) = before.replace((entry, word))
                && low.touches(entry)
                && same((low, self.borrow(first)), (entry, self.borrow(word)))
            {
                return Some((low.hull(entry), self.borrow(first)));
            }
        }
        None
    }

    /// The first run of at least two entries that touch and equal the first of them, among the entries that overlap a
    /// range: its range, and the word of its first entry.
    pub(crate) fn next_run<'a>(
        &'a self,
        span: Span,
        mut same: impl FnMut(E::Ref<'a>, E::Ref<'a>) -> bool,
    ) -> Option<(Span, Word)> {
        let mut runs: Option<(Span, Word, bool)> = None;
        for (entry, word) in
            self.tree.entries_from(span.first()).take_while(|(entry, _)| entry.overlaps(span))
        {
            runs = match runs {
                Some((run, first, _))
                    if run.touches(entry) && same(self.borrow(first), self.borrow(word)) =>
                {
                    Some((run.hull(entry), first, true))
                }
                Some((_, _, true)) => break,
                _ => Some((entry, word, false)),
            };
        }
        runs.and_then(|(run, first, several)| several.then_some((run, first)))
    }
}

/// A range extended by one index on either side.
pub(crate) fn with_neighbours(span: Span) -> Span {
    indexes(span.first().saturating_sub(1), span.last().saturating_add(1))
}
