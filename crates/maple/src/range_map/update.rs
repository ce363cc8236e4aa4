//! Changes values in place, cuts entries and merges them.

use super::RangeMap;
use super::store::number_of;
use crate::OutOfMemory;
use crate::entry::StoredValue;
use crate::tree::{StorePlan, indexes};
use core::ops::RangeBounds;
use freehold_units::Span;

impl<V> RangeMap<V> {
    /// Changes only the values in a range: entries that reach beyond it are first cut at its ends, and their values
    /// cloned. `change` gets each entry's range, ascending, and its value. Gaps stay gaps.
    ///
    /// Entries stay cut even if the values on both sides are equal: see [`merge_adjacent_in`](Self::merge_adjacent_in).
    ///
    /// Cost: O(log n + k) for n entries and k whose values change, and O(n) where the table of values grows for a part
    /// that is cut off.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut protection = RangeMap::new();
    /// protection.store(0x1000..0x9000, String::from("rw"))?;
    /// protection.update_range(0x3000..0x4000, |_, access| access.push('x'))?;
    /// assert_eq!(protection.get(0x3fff).unwrap(), "rwx");
    /// assert_eq!((protection.get(0x4000).unwrap().as_str(), protection.len()), ("rw", 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for another node or value, if an entry is cut. Nothing has changed then. If `change` panics,
    /// the values so far are changed.
    #[doc(alias = "overlapping_mut")]
    pub fn update_range(
        &mut self,
        bounds: impl RangeBounds<u64>,
        mut change: impl FnMut(Span, &mut V),
    ) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        // Clones may panic, so both are made before anything changes.
        let low = self.cut_part(span.first());
        let high = span.last().checked_add(1).and_then(|behind| self.cut_part(behind));
        let whole = self.numbers.entry_at(span.first()).filter(|_| low.is_some());
        self.store_part(low)?;
        if let Err(cause) = self.store_part(high) {
            if let Some((whole, number)) = whole {
                self.unite(whole, number);
            }
            return Err(cause);
        }
        for (part, number) in self.numbers.range(span) {
            change(part, self.values.get_mut(number));
        }
        Ok(())
    }

    /// Cuts the entry that contains an index, so that an entry begins there; its value is cloned. Returns `false` if
    /// there is nothing to cut: the index is in a gap, or an entry begins there already.
    ///
    /// Cost: O(log n) for n entries, and O(n) where the table of values grows; amortized O(log n).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut map = RangeMap::from([(0..10, "a")]);
    /// assert_eq!((map.cut_at(4)?, map.cut_at(4)?, map.len()), (true, false, 2));
    /// assert_eq!((map.merge_adjacent(), map.len()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for another node or value. Nothing has changed then.
    #[doc(alias = "split")]
    pub fn cut_at(&mut self, index: u64) -> Result<bool, OutOfMemory>
    where
        V: Clone,
    {
        let part = self.cut_part(index);
        let cuts = part.is_some();
        self.store_part(part)?;
        Ok(cuts)
    }

    /// The part, from an index on, of the entry that contains the index, and a clone of its value. `None` if the entry
    /// begins there.
    fn cut_part(&self, index: u64) -> Option<(Span, V)>
    where
        V: Clone,
    {
        let (whole, number) = self.numbers.entry_at(index).filter(|(whole, _)| whole.first() < index)?;
        Some((indexes(index, whole.last()), self.values.get(number).clone()))
    }

    /// Stores a part that was cut off as an entry of its own.
    fn store_part(&mut self, part: Option<(Span, V)>) -> Result<(), OutOfMemory> {
        if let Some((part, value)) = part {
            let mut plan = StorePlan::new(part);
            self.prepare(&mut plan, true)?;
            self.commit(&mut plan, Some(value), None);
        }
        Ok(())
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
    pub fn merge_adjacent_in(&mut self, bounds: impl RangeBounds<u64>) -> u64
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
        bounds: impl RangeBounds<u64>,
        mut same: impl FnMut(&V, &V) -> bool,
    ) -> u64 {
        let before = self.len();
        let mut left = Span::from_bounds(&bounds).map(crate::map::with_neighbours);
        while let Some(span) = left {
            let same = |a, b| same(self.values.get(a), self.values.get(b));
            let Some((run, word)) = self.numbers.next_run(span, same) else { break };
            self.unite(run, number_of(word));
            left = run.last().checked_add(1).and_then(|behind| Span::new(behind, span.last()));
        }
        before - self.len()
    }

    /// Makes one entry of two or more entries that touch; the value with that number stays. Takes no memory.
    fn unite(&mut self, run: Span, number: u32) {
        let mut plan = StorePlan::new(run);
        self.numbers.tree.plan(&mut plan, true);
        debug_assert_eq!(plan.need.nodes(), 0, "one entry instead of several takes no node");
        let Self { numbers, values } = self;
        let take =
            |word| Some(number_of(word)).filter(|&other| other != number).map(|other| values.take(other));
        numbers.commit_words(&mut plan, Some(number.into_word()), |word| word, Some(take));
    }
}
