//! `take_range`, `replace_range` and `split_at`: operations that return what they remove.

use super::RangeMap;
use super::numbered::{CutEnd, Numbered, number_of, put_both};
use super::store::of_words;
use crate::OutOfMemory;
use crate::entry::{StoredValue, Word};
use crate::error::{StoreError, or_reject};
use crate::key::{Key, to_store, within};
use crate::map::{Removed, overlap};
use crate::tree::StorePlan;
use crate::value_arena::ValueArena;
use alloc::vec::Vec;
use arrayvec::ArrayVec;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

impl<V, K: Key> RangeMap<V, K> {
    /// As [`take_range`](Self::take_range), with `cut` to compute the value of each part of an entry that is cut: of
    /// the removed part, and of the remaining parts. `cut` gets the entry's whole range, the part, and the old value.
    /// It is called before anything changes.
    ///
    /// Cost: as for [`take_range`](Self::take_range).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// // Where the bytes of a file are on a disk: the place of the first.
    /// let mut extents = RangeMap::new();
    /// extents.store(0..100, 5000u64)?;
    /// let freed = extents.take_range_with(40..50, |whole, part, disk| disk + (part.first() - whole.first()))?;
    /// assert_eq!(freed.map(|(span, disk)| (disk, span.size_bytes())).collect::<Vec<_>>(), [(5040, 10)]);
    /// assert_eq!((extents.get(39), extents.get(50)), (Some(&5000), Some(&5050)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`take_range`](Self::take_range).
    pub fn take_range_with(
        &mut self,
        bounds: impl RangeBounds<K>,
        cut: impl FnMut(K::Span, K::Span, &V) -> V,
    ) -> Result<Removed<V, K>, OutOfMemory> {
        let Some(span) = within(&bounds) else { return Ok(Removed::new(Vec::new())) };
        let mut plan = StorePlan::new(span);
        let taken = self.ranges.plan_taking(&mut plan, false)?;
        let mut cut = of_words::<K, V>(cut);
        let ends = self.ranges.kept_ends(span, &mut cut);
        Ok(Removed::new(self.ranges.commit_taking(&mut plan, span, None, taken, ends, cut)))
    }

    /// As [`replace_range`](Self::replace_range), with `cut` to compute the value of each part of an entry that is cut,
    /// as for [`take_range_with`](Self::take_range_with).
    ///
    /// Cost: as for [`replace_range`](Self::replace_range).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut extents = RangeMap::from([(0..100, 5000u64)]);
    /// let freed = extents.replace_range_with(50..60, 9000, |whole, part, disk| disk + part.first() - whole.first())?;
    /// assert_eq!(freed.map(|(_, disk)| disk).collect::<Vec<_>>(), [5050]);
    /// assert_eq!(extents.values().copied().collect::<Vec<_>>(), [5000, 9000, 5060]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`replace_range`](Self::replace_range).
    pub fn replace_range_with(
        &mut self,
        bounds: impl RangeBounds<K>,
        value: V,
        cut: impl FnMut(K::Span, K::Span, &V) -> V,
    ) -> Result<Removed<V, K>, Rejected<V, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        let taken = or_reject!(self.ranges.plan_taking(&mut plan, true), value);
        let mut cut = of_words::<K, V>(cut);
        let ends = self.ranges.kept_ends(span, &mut cut);
        Ok(Removed::new(self.ranges.commit_taking(&mut plan, span, Some(value), taken, ends, cut)))
    }
}

impl<V: Clone, K: Key> RangeMap<V, K> {
    /// Removes everything in a range, and returns it: each entry's part within the range. An entry that reaches beyond
    /// the range is cut: the part outside stays, and its value is cloned.
    ///
    /// Cost: as for [`remove_range`](Self::remove_range), and memory for what is returned.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut map = RangeMap::new();
    /// map.store(0..10, "a")?;
    /// map.store(20..30, "b")?;
    /// let freed: Vec<_> = map.take_range(5..25)?.map(|(span, value)| (span.to_string(), value)).collect();
    /// assert_eq!(freed, [("0x5..=0x9".into(), "a"), ("0x14..=0x18".into(), "b")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for the result, or for another node or value if an entry is cut. Nothing has changed then.
    #[doc(alias = "drain")]
    #[doc(alias = "remove")]
    pub fn take_range(&mut self, bounds: impl RangeBounds<K>) -> Result<Removed<V, K>, OutOfMemory> {
        let Some(span) = within(&bounds) else { return Ok(Removed::new(Vec::new())) };
        let mut plan = StorePlan::new(span);
        let taken = self.ranges.plan_taking(&mut plan, false)?;
        let ends = self.ranges.cloned_end(&plan);
        let cut = |_, _, value: &V| value.clone();
        Ok(Removed::new(self.ranges.commit_taking(&mut plan, span, None, taken, ends, cut)))
    }

    /// Stores a value over a range, and returns the old entries: each entry's part within the range.
    ///
    /// Cost: as for [`store`](Self::store), and memory for what is returned.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut blocks = RangeMap::new();
    /// blocks.store(0..100, "old")?;
    /// let freed = blocks.replace_range(90..120, "new")?;
    /// assert_eq!(freed.map(|(span, _)| span.size_bytes()).sum::<u128>(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `EmptyRange`, or as for [`take_range`](Self::take_range). The error returns the value.
    #[doc(alias = "insert_overwrite")]
    pub fn replace_range(
        &mut self,
        bounds: impl RangeBounds<K>,
        value: V,
    ) -> Result<Removed<V, K>, Rejected<V, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        let taken = or_reject!(self.ranges.plan_taking(&mut plan, true), value);
        let ends = self.ranges.cloned_end(&plan);
        let cut = |_, _, value: &V| value.clone();
        Ok(Removed::new(self.ranges.commit_taking(&mut plan, span, Some(value), taken, ends, cut)))
    }

    /// Splits off everything from an index on, as a new map. An entry that contains the index, but does not start
    /// there, is cut: each map gets a part, and the value is cloned.
    ///
    /// Cost: O(log n + m) for m entries above: the upper part is rebuilt, entry by entry.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut low = RangeMap::new();
    /// low.store(0..100, "a")?;
    /// let high = low.split_at(40)?;
    /// assert_eq!((low.get(39), low.get(40)), (Some(&"a"), None));
    /// assert_eq!((high.get(39), high.get(40)), (None, Some(&"a")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is not enough memory for the nodes and the values of the upper part. Nothing has changed then.
    #[doc(alias = "split_off")]
    pub fn split_at(&mut self, index: K) -> Result<Self, OutOfMemory> {
        Ok(Self::of_ranges(self.ranges.split_at(index.to_word())?))
    }

    /// A map with the same entries, each value cloned.
    ///
    /// Cost: O(n) for n entries.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let numbers = self.ranges.numbers.try_clone()?;
        Ok(Self::of_ranges(Numbered { numbers, values: self.ranges.values.try_clone()? }))
    }
}

impl<V> Numbered<V> {
    /// Plans a store or a removal. Reserves what it takes, and capacity for what it returns.
    #[inline]
    fn plan_taking(&mut self, plan: &mut StorePlan, entry: bool) -> Result<Vec<(Span, V)>, OutOfMemory> {
        let taken = self.numbers.room_for_entries(plan.span)?;
        self.prepare(plan, entry)?;
        Ok(taken)
    }

    /// Makes a prepared store over `span`, and returns what it removes. `ends` are the new values of remaining parts.
    /// `cut` computes those of removed parts of entries that are cut.
    #[inline]
    fn commit_taking(
        &mut self,
        plan: &mut StorePlan,
        span: Span,
        value: Option<V>,
        mut taken: Vec<(Span, V)>,
        ends: [CutEnd<V>; 2],
        mut cut: impl FnMut(Span, Span, &V) -> V,
    ) -> Vec<(Span, V)> {
        let [low, mut high] = ends;
        let second = self.take_second(plan, &mut high);
        let Self { numbers, values } = self;
        // `cut` may panic, so it is called for both ends before anything changes.
        let parts = numbers.range(span).filter(|&(whole, _)| !span.covers(whole));
        let parts = parts.map(|(whole, number)| cut(whole, overlap(whole, span), values.get(number)));
        let mut parts = parts.collect::<ArrayVec<V, 2>>().into_iter();
        for (whole, number) in numbers.range(span) {
            let value = if span.covers(whole) {
                values.take(number)
            } else {
                parts.next().expect("M1: entries at the ends of a range are cut, and no others")
            };
            taken.push((overlap(whole, span), value));
        }
        let [entry, second] = put_both(values, value, second);
        let second = |_| second.expect("M8: a cut entry has a second value");
        numbers.commit_words(plan, entry, second, None::<fn(Word)>);
        drop(self.set_ends([low, high]));
        taken
    }

    /// The value of the upper part of an entry that is cut in two. No other remaining part gets a new value.
    fn cloned_end(&self, plan: &StorePlan) -> [CutEnd<V>; 2]
    where
        V: Clone,
    {
        [None, self.cut_in_two(plan).map(|number| (number, self.values.get(number).clone()))]
    }

    /// Splits off everything from an index on.
    fn split_at(&mut self, index: u64) -> Result<Self, OutOfMemory>
    where
        V: Clone,
    {
        let mut values = ValueArena::new();
        values.reserve(self.numbers.range(index..).count())?;
        let cut = self.numbers.entry_at(index).filter(|(span, _)| span.first() < index);
        let mut second = cut.map(|(_, number)| self.values.get(number).clone());
        let mut numbers = self.numbers.split_at(index)?;
        // If an entry is cut, it is the first one of the upper part.
        numbers.tree.replace_words(|word| {
            let value = second.take().unwrap_or_else(|| self.values.take(number_of(word)));
            values.put(value).into_word()
        });
        Ok(Self { numbers, values })
    }
}

/// As [`try_clone`](RangeMap::try_clone), but if memory is exhausted it ends the process, like the standard library's
/// collections.
impl<V: Clone, K: Key> Clone for RangeMap<V, K> {
    fn clone(&self) -> Self {
        crate::map::or_abort(self.try_clone())
    }
}
