//! Stores that merge with equal neighbours, and merging on request.

use super::RangeMap;
use super::numbered::{Numbered, number_of};
use crate::entry::StoredValue;
use crate::error::{StoreError, or_reject};
use crate::key::{Key, SpanOf, to_store, within};
use crate::tree::StorePlan;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

impl<V, K: Key> RangeMap<V, K> {
    /// Stores a value over a range, and makes one entry of it and its equal neighbours: the entries that touch the
    /// range, and the remaining parts of entries that it cuts. Returns the range of that entry. A map that is changed
    /// by this method and by removals alone never has equal neighbours, as a map of the crate `rangemap`.
    ///
    /// Both neighbours are found in the descent of the store: it is cheaper than [`store`](Self::store) and
    /// [`merge_adjacent_in`](Self::merge_adjacent_in).
    ///
    /// Cost: O(log n + k) for n entries of which it removes k, and O(n) where the table of values grows; amortized
    /// O(log n).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// # use freehold_units::Span;
    /// let mut map = RangeMap::new();
    /// map.store_merging(0..10, "a")?;
    /// map.store_merging(20..30, "a")?;
    /// assert_eq!(map.store_merging(10..20, "a")?, Span::try_from(0..30)?);
    /// assert_eq!(map.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    #[doc(alias = "insert")]
    #[doc(alias = "coalesce")]
    pub fn store_merging(
        &mut self,
        bounds: impl RangeBounds<K>,
        value: V,
    ) -> Result<K::Span, Rejected<V, StoreError>>
    where
        V: Clone + PartialEq,
    {
        self.store_merging_by(bounds, value, |new, old| new == old)
    }

    /// As [`store_merging`](Self::store_merging), with `same` to compare the new value with that of a neighbour. The
    /// merged entry has the new value.
    ///
    /// `same` is called before anything changes: for the lower neighbour first, then for the upper one, and once if
    /// both are parts of one entry. If `same` or a `clone` panics, nothing has changed, and the value is dropped.
    ///
    /// Cost: as for [`store_merging`](Self::store_merging).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// // Ages: the newest stays.
    /// let mut map = RangeMap::from([(0..10, ("a", 1))]);
    /// map.store_merging_by(10..20, ("a", 2), |new, old| new.0 == old.0)?;
    /// assert_eq!((map.get(5), map.len()), (Some(&("a", 2)), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    pub fn store_merging_by(
        &mut self,
        bounds: impl RangeBounds<K>,
        value: V,
        mut same: impl FnMut(&V, &V) -> bool,
    ) -> Result<K::Span, Rejected<V, StoreError>>
    where
        V: Clone,
    {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        let Numbered { numbers, values } = &mut self.ranges;
        numbers.tree.plan_merging(&mut plan, |word| same(&value, values.get(number_of(word))));
        or_reject!(self.ranges.reserve(&plan), value);
        let merged = plan.span;
        let second = self.ranges.cloned_second(&plan);
        // Not `commit`, to which the values would go through memory: a store takes 1.04 times its instructions with it.
        let Numbered { numbers, values } = &mut self.ranges;
        let entry = values.put(value).into_word();
        let second = second.map(|second| values.put(second).into_word());
        let take = |word| values.take(number_of(word));
        let second = |_| second.expect("M8: a cut entry has a second value");
        numbers.commit_words(&mut plan, Some(entry), second, Some(take));
        Ok(K::Span::of_words(merged))
    }

    /// Merges each run of entries that touch and have equal values into one entry, which keeps the first value of the
    /// run. Returns by how many the number of entries fell. Never takes memory.
    ///
    /// Cost: O(n) for n entries, and O(log n) for each run that is merged.
    #[doc(alias = "coalesce")]
    pub fn merge_adjacent(&mut self) -> u64
    where
        V: PartialEq,
    {
        self.merge_adjacent_in(..)
    }

    /// As [`merge_adjacent`](Self::merge_adjacent), for the entries that overlap or touch the bounds. Called after each
    /// store over a range, it keeps equal neighbours merged throughout the map.
    ///
    /// Cost: O(log n + m) for n entries and m slots within the bounds, and O(log n) for each run that is merged.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut map = RangeMap::new();
    /// for range in [0..10, 20..30, 10..20] {
    ///     map.store(range.clone(), "a")?;
    ///     map.merge_adjacent_in(range);
    /// }
    /// assert_eq!(map.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge_adjacent_in(&mut self, bounds: impl RangeBounds<K>) -> u64
    where
        V: PartialEq,
    {
        self.merge_adjacent_in_by(bounds, |a, b| a == b)
    }

    /// As [`merge_adjacent_in`](Self::merge_adjacent_in), with `same` to compare two neighbours. It gets the run's
    /// first value, and the value that may join it.
    ///
    /// If `same` or a value's drop panics, the runs so far are merged and the others are not.
    ///
    /// Cost: O(log n + m) for n entries and m slots within the bounds, and O(log n) for each run that is merged.
    pub fn merge_adjacent_in_by(
        &mut self,
        bounds: impl RangeBounds<K>,
        mut same: impl FnMut(&V, &V) -> bool,
    ) -> u64 {
        let before = self.len();
        let mut left = within(&bounds).map(crate::map::with_neighbours);
        while let Some(span) = left {
            let same = |a, b| same(self.ranges.values.get(a), self.ranges.values.get(b));
            let Some((run, word)) = self.ranges.numbers.next_run(span, same) else { break };
            drop(self.ranges.unite(run, number_of(word)));
            left = run.last().checked_add(1).and_then(|behind| Span::new(behind, span.last()));
        }
        before - self.len()
    }

    /// As [`merge_adjacent_in_by`](Self::merge_adjacent_in_by), for values that depend on their range, or that are
    /// combined. `same` gets two entries that touch, the lower one first. If it returns true, they become one entry,
    /// which has the value of the lower one; then `merged` gets the range of that entry, its value, and the value of
    /// the upper one. It is called for each pair, ascending; a third entry is compared with the merged two.
    ///
    /// If `same` or `merged` panics, the pairs so far are merged, the last one included, and the others are not.
    ///
    /// Cost: O(log n + m) for n entries and m slots within the bounds, and O(log n) for each pair that is merged.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// # use freehold_units::Span;
    /// // Where the bytes of a file are on a disk, and how often they were read.
    /// let mut extents = RangeMap::from([(0..10, (500, 1)), (10..30, (510, 2)), (30..40, (900, 4))]);
    /// let follows = |(low, a): (Span, &(u64, u32)), (high, b): (Span, &(u64, u32))| {
    ///     a.0 + (high.first() - low.first()) == b.0
    /// };
    /// assert_eq!(extents.merge_adjacent_in_with(.., follows, |_, kept, gone| kept.1 += gone.1), 1);
    /// assert_eq!(extents.entry_at(15), Some((Span::try_from(0..30)?, &(500, 3))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge_adjacent_in_with(
        &mut self,
        bounds: impl RangeBounds<K>,
        mut same: impl FnMut((K::Span, &V), (K::Span, &V)) -> bool,
        mut merged: impl FnMut(K::Span, &mut V, V),
    ) -> u64 {
        let before = self.len();
        let mut left = within(&bounds).map(crate::map::with_neighbours);
        while let Some(span) = left {
            let entry = |(span, number)| (K::Span::of_words(span), self.ranges.values.get(number));
            let same = |low, high| same(entry(low), entry(high));
            let Some((pair, number)) = self.ranges.numbers.next_pair(span, same) else { break };
            if let Some(gone) = self.ranges.unite(pair, number) {
                merged(K::Span::of_words(pair), self.ranges.values.get_mut(number), gone);
            }
            left = Span::new(pair.first(), span.last());
        }
        before - self.len()
    }
}

impl<V> Numbered<V> {
    /// Makes one entry of two or more entries that touch; the value with that number stays. Takes no memory. Returns
    /// the value of one of the others, and drops the rest.
    pub(super) fn unite(&mut self, run: Span, number: u32) -> Option<V> {
        let mut plan = StorePlan::new(run);
        self.numbers.tree.plan(&mut plan, true);
        debug_assert_eq!(plan.need.nodes(), 0, "one entry instead of several takes no node");
        let Self { numbers, values } = self;
        let mut gone = None;
        let take = |word| {
            let other = Some(number_of(word)).filter(|&other| other != number)?;
            gone.replace(values.take(other))
        };
        numbers.commit_words(&mut plan, Some(number.into_word()), |word| word, Some(take));
        gone
    }
}
