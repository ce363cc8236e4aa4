//! Merges equal neighbours, on request only.

use super::WordMap;
use crate::entry::{StoredValue, Word};
use crate::tree::{Need, StorePlan, indexes};
use core::ops::RangeBounds;
use freehold_units::Span;

impl<E: StoredValue> WordMap<E> {
    /// Merges each run of equal entries that touch into one entry, which keeps the first value of the run. Returns by
    /// how many the number of entries fell. Never takes memory.
    ///
    /// Cost: O(n) for n entries, and O(log n) for each run that is merged.
    ///
    /// ```
    /// # use freehold_maple::WordMap;
    /// # use freehold_units::Span;
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
