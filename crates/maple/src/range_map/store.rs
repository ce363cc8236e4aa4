//! Stores and removes entries.

use super::RangeMap;
use super::numbered::Numbered;
use crate::OutOfMemory;
use crate::error::{InsertError, StoreError, or_reject};
use crate::key::{Key, SpanOf, to_store, with_keys, within};
use crate::tree::{EntryCursor, StorePlan};
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

impl<V, K: Key> RangeMap<V, K> {
    /// Stores a value over a range, whatever is there. An entry that reaches beyond the range is cut, not removed. An
    /// entry that reaches beyond both ends is cut in two, and its value cloned.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k, and O(n) where the table of values grows; amortized
    /// O(log n).
    ///
    /// # Errors
    /// `EmptyRange`, or `OutOfMemory` if there is no memory for another node or value. Nothing has changed then, and
    /// the error returns the value.
    #[doc(alias = "insert")]
    #[doc(alias = "insert_overwrite")]
    pub fn store(&mut self, bounds: impl RangeBounds<K>, value: V) -> Result<(), Rejected<V, StoreError>>
    where
        V: Clone,
    {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        or_reject!(self.ranges.prepare(&mut plan, true), value);
        let second = self.ranges.cloned_second(&plan);
        self.ranges.commit(&mut plan, Some(value), second);
        Ok(())
    }

    /// As [`store`](Self::store), and computes new values for the remaining parts of cut entries. `cut` gets the
    /// entry's whole range, the part that stays, and the old value, and returns the value of that part. For an extent
    /// on a disk, that is where the part begins. It is called for each part that stays, at most two, before anything
    /// changes.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k, and O(n) where the table of values grows; amortized
    /// O(log n).
    ///
    /// ```
    /// use freehold_maple::RangeMap;
    ///
    /// // Where the bytes of a file are on a disk: the place of the first.
    /// let mut extents = RangeMap::new();
    /// extents.store(0..100, 5000u64)?;
    /// extents.store_with(40..50, 9000, |whole, kept, disk| disk + (kept.first() - whole.first()))?;
    /// assert_eq!([extents.get(39), extents.get(45), extents.get(50)], [Some(&5000), Some(&9000), Some(&5050)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    pub fn store_with(
        &mut self,
        bounds: impl RangeBounds<K>,
        value: V,
        cut: impl FnMut(K::Span, K::Span, &V) -> V,
    ) -> Result<(), Rejected<V, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        or_reject!(self.ranges.prepare(&mut plan, true), value);
        self.ranges.commit_with(&mut plan, span, Some(value), of_words::<K, V>(cut));
        Ok(())
    }

    /// Stores a value over a free range.
    ///
    /// Cost: O(log n) for n entries, and O(n) where the table of values grows; amortized O(log n).
    ///
    /// ```
    /// use freehold_maple::{InsertError, RangeMap};
    ///
    /// let mut map = RangeMap::new();
    /// map.insert(0..10, "a")?;
    /// let refused = map.insert(5..15, "b").unwrap_err();
    /// assert_eq!((refused.value, refused.cause), ("b", InsertError::Occupied { entry: (0..10).try_into()? }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `EmptyRange`, `Occupied` if the range overlaps an entry, or `OutOfMemory` if there is no memory for another node
    /// or value. Nothing has changed then, and the error returns the value.
    #[doc(alias = "try_insert")]
    #[doc(alias = "insert_strict")]
    pub fn insert(&mut self, bounds: impl RangeBounds<K>, value: V) -> Result<(), Rejected<V, InsertError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        or_reject!(self.ranges.prepare_insert(&mut plan), value);
        // The range is free, so nothing is removed or cut.
        let number = self.ranges.values.put(value);
        self.ranges.numbers.commit(&mut plan, Some(number));
        Ok(())
    }

    /// Removes the whole entry that contains an index. Never takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// # use freehold_units::Span;
    /// let mut map = RangeMap::new();
    /// map.insert(0..10, "a")?;
    /// assert_eq!(map.erase(7), Some((Span::try_from(0..10)?, "a")));
    /// assert_eq!(map.erase(7), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "remove")]
    #[doc(alias = "remove_entry")]
    pub fn erase(&mut self, index: K) -> Option<(K::Span, V)> {
        self.ranges.erase(index.to_word()).map(with_keys::<K, V>)
    }

    /// Removes everything in a range. An entry that reaches beyond it is cut, not removed. An empty range removes
    /// nothing.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k, and O(n) where the table of values grows; amortized
    /// O(log n).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut map = RangeMap::from([(0..10, "a")]);
    /// map.remove_range(3..5)?;
    /// assert_eq!(map.spans().map(|span| span.to_string()).collect::<Vec<_>>(), ["0x0..=0x2", "0x5..=0x9"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An entry is cut, and there is no memory for another node or value. Nothing has changed then.
    #[doc(alias = "remove")]
    #[doc(alias = "cut")]
    pub fn remove_range(&mut self, bounds: impl RangeBounds<K>) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        let Some(span) = within(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        self.ranges.prepare(&mut plan, false)?;
        let second = self.ranges.cloned_second(&plan);
        self.ranges.commit(&mut plan, None, second);
        Ok(())
    }

    /// As [`remove_range`](Self::remove_range), with `cut` to compute the values of the remaining parts, as for
    /// [`store_with`](Self::store_with).
    ///
    /// Cost: O(log n + k) for n entries of which it removes k, and O(n) where the table of values grows; amortized
    /// O(log n).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut starts = RangeMap::from([(100..200, 0u64)]);
    /// starts.remove_range_with(120..130, |whole, kept, old| old + kept.first() - whole.first())?;
    /// assert_eq!((starts.get(110), starts.get(150)), (Some(&0), Some(&30)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`remove_range`](Self::remove_range).
    pub fn remove_range_with(
        &mut self,
        bounds: impl RangeBounds<K>,
        cut: impl FnMut(K::Span, K::Span, &V) -> V,
    ) -> Result<(), OutOfMemory> {
        let Some(span) = within(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        self.ranges.prepare(&mut plan, false)?;
        self.ranges.commit_with(&mut plan, span, None, of_words::<K, V>(cut));
        Ok(())
    }

    /// Erases every entry for which `keep` returns false, in ascending order. Never takes memory.
    ///
    /// If `keep` or a value's drop panics, the entries rejected so far are erased and the others stay.
    ///
    /// Cost: O(n) for n entries, and O(log n) for each that is erased.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// # use freehold_units::Span;
    /// let mut map: RangeMap<u32> = (0..9).map(|at| (Span::from_size(10 * at, 10).unwrap(), at as u32)).collect();
    /// map.retain(|_, value| *value % 3 == 0);
    /// assert_eq!(map.values().copied().collect::<Vec<_>>(), [0, 3, 6]);
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(K::Span, &mut V) -> bool) {
        let mut cursor = EntryCursor::at_start();
        while let Some((span, number)) = self.ranges.numbers.next_at(&mut cursor) {
            if !keep(K::Span::of_words(span), self.ranges.values.get_mut(number)) {
                drop(self.ranges.erase(span.first()));
                cursor = EntryCursor::behind(span);
            }
        }
    }

    /// Removes and returns the entry with the lowest indexes. Never takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut map = RangeMap::from([(0..5, 'a'), (5..9, 'b'), (9..12, 'c')]);
    /// let ends = (map.pop_first().unwrap().1, map.pop_last().unwrap().1);
    /// assert_eq!((ends, map.len()), (('a', 'c'), 1));
    /// ```
    pub fn pop_first(&mut self) -> Option<(K::Span, V)> {
        let (span, _) = self.ranges.numbers.first()?;
        self.ranges.erase(span.first()).map(with_keys::<K, V>)
    }

    /// Removes and returns the entry with the highest indexes. Never takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    pub fn pop_last(&mut self) -> Option<(K::Span, V)> {
        let (span, _) = self.ranges.numbers.last()?;
        self.ranges.erase(span.first()).map(with_keys::<K, V>)
    }
}

impl<V> Numbered<V> {
    #[inline]
    fn prepare_insert(&mut self, plan: &mut StorePlan) -> Result<(), InsertError> {
        let tree = &mut self.numbers.tree;
        tree.plan(plan, true);
        tree.check_free(plan)?;
        tree.reserve(plan)?;
        Ok(self.values.reserve(1)?)
    }

    /// Removes the whole entry that contains an index.
    #[inline]
    pub(super) fn erase(&mut self, index: u64) -> Option<(Span, V)> {
        let (span, number) = self.numbers.erase(index)?;
        Some((span, self.values.take(number)))
    }
}

/// What computes the values of the parts of a cut entry, given the ranges in words.
pub(super) fn of_words<K: Key, V>(
    mut cut: impl FnMut(K::Span, K::Span, &V) -> V,
) -> impl FnMut(Span, Span, &V) -> V {
    move |whole, part, value| cut(K::Span::of_words(whole), K::Span::of_words(part), value)
}
