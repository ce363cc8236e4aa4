//! Stores and removes entries.

use super::RangeMap;
use crate::OutOfMemory;
use crate::entry::{StoredValue, Word};
use crate::error::{InsertError, StoreError};
use crate::map::overlap;
use crate::tree::StorePlan;
use crate::value_arena::ValueArena;
use core::mem;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// The number in a word of the tree.
pub(super) fn number_of(word: Word) -> u32 {
    word.addr() as u32
}

/// The number of an entry that is cut, and its new value.
pub(super) type CutEnd<V> = Option<(u32, V)>;

impl<V> RangeMap<V> {
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
    pub fn store(&mut self, bounds: impl RangeBounds<u64>, value: V) -> Result<(), Rejected<V, StoreError>>
    where
        V: Clone,
    {
        let Some(span) = Span::from_bounds(&bounds) else {
            return Err(Rejected { value, cause: StoreError::EmptyRange });
        };
        let mut plan = StorePlan::new(span);
        if let Err(cause) = self.prepare(&mut plan, true) {
            return Err(Rejected { value, cause: cause.into() });
        }
        let second = self.cut_in_two(&plan).map(|number| self.values.get(number).clone());
        self.commit(&mut plan, Some(value), second);
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
        bounds: impl RangeBounds<u64>,
        value: V,
        cut: impl FnMut(Span, Span, &V) -> V,
    ) -> Result<(), Rejected<V, StoreError>> {
        let Some(span) = Span::from_bounds(&bounds) else {
            return Err(Rejected { value, cause: StoreError::EmptyRange });
        };
        let mut plan = StorePlan::new(span);
        match self.prepare(&mut plan, true) {
            Ok(()) => {
                self.commit_with(&mut plan, span, Some(value), cut);
                Ok(())
            }
            Err(cause) => Err(Rejected { value, cause: cause.into() }),
        }
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
    /// assert_eq!((refused.value, refused.cause), ("b", InsertError::Occupied((0..10).try_into()?)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `EmptyRange`, `Occupied` if the range overlaps an entry, or `OutOfMemory` if there is no memory for another node
    /// or value. Nothing has changed then, and the error returns the value.
    #[doc(alias = "try_insert")]
    #[doc(alias = "insert_strict")]
    pub fn insert(
        &mut self,
        bounds: impl RangeBounds<u64>,
        value: V,
    ) -> Result<(), Rejected<V, InsertError>> {
        let Some(span) = Span::from_bounds(&bounds) else {
            return Err(Rejected { value, cause: InsertError::EmptyRange });
        };
        let mut plan = StorePlan::new(span);
        match self.prepare_insert(&mut plan) {
            Ok(()) => {
                // The range is free, so nothing is removed or cut.
                let number = self.values.put(value);
                self.numbers.commit(&mut plan, Some(number));
                Ok(())
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    #[inline]
    fn prepare_insert(&mut self, plan: &mut StorePlan) -> Result<(), InsertError> {
        let tree = &mut self.numbers.tree;
        tree.plan(plan, true);
        if !plan.is_free() {
            return Err(InsertError::Occupied(tree.first_entry(plan)));
        }
        tree.reserve(plan)?;
        Ok(self.values.reserve(1)?)
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
    pub fn erase(&mut self, index: u64) -> Option<(Span, V)> {
        let (span, number) = self.numbers.erase(index)?;
        Some((span, self.values.take(number)))
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
    pub fn remove_range(&mut self, bounds: impl RangeBounds<u64>) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        self.prepare(&mut plan, false)?;
        let second = self.cut_in_two(&plan).map(|number| self.values.get(number).clone());
        self.commit(&mut plan, None, second);
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
        bounds: impl RangeBounds<u64>,
        cut: impl FnMut(Span, Span, &V) -> V,
    ) -> Result<(), OutOfMemory> {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        self.prepare(&mut plan, false)?;
        self.commit_with(&mut plan, span, None, cut);
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
    pub fn retain(&mut self, mut keep: impl FnMut(Span, &mut V) -> bool) {
        let mut cursor = self.numbers.cursor_mut(0);
        loop {
            if let (span, Some(number)) = cursor.slot()
                && !keep(span, self.values.get_mut(number))
            {
                cursor.erase();
                drop(self.values.take(number));
            }
            if !cursor.move_next() {
                return;
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
    pub fn pop_first(&mut self) -> Option<(Span, V)> {
        let (span, _) = self.numbers.first()?;
        self.erase(span.first())
    }

    /// Removes and returns the entry with the highest indexes. Never takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    pub fn pop_last(&mut self) -> Option<(Span, V)> {
        let (span, _) = self.numbers.last()?;
        self.erase(span.first())
    }

    /// Plans a store or a removal. Reserves its nodes, and places for a new value and a second one.
    #[inline]
    pub(super) fn prepare(&mut self, plan: &mut StorePlan, entry: bool) -> Result<(), OutOfMemory> {
        self.numbers.tree.plan(plan, entry);
        self.reserve(plan)
    }

    /// Reserves the nodes of a plan, and places for a new value and a second one.
    #[inline]
    pub(super) fn reserve(&mut self, plan: &StorePlan) -> Result<(), OutOfMemory> {
        self.numbers.tree.reserve(plan)?;
        self.values.reserve(2)
    }

    /// The number of the entry that a store cuts in two, if it cuts one.
    pub(super) fn cut_in_two(&self, plan: &StorePlan) -> Option<u32> {
        self.numbers.tree.cut_word(plan).map(number_of)
    }

    /// Makes a prepared store, and drops the values that it removes. `second` is the value of the upper part of an
    /// entry that is cut in two.
    pub(super) fn commit(&mut self, plan: &mut StorePlan, value: Option<V>, second: Option<V>) {
        let Self { numbers, values } = self;
        let [entry, second] = put_both(values, value, second);
        let take = |word| values.take(number_of(word));
        numbers.commit_words(
            plan,
            entry,
            |_| second.expect("M8: a cut entry has a second value"),
            Some(take),
        );
    }

    /// Makes a prepared store over `span`. `cut` computes the values of the remaining parts of the entries at either
    /// end.
    fn commit_with(
        &mut self,
        plan: &mut StorePlan,
        span: Span,
        value: Option<V>,
        mut cut: impl FnMut(Span, Span, &V) -> V,
    ) {
        let [low, mut high] = self.kept_ends(span, &mut cut);
        let second = self.take_second(plan, &mut high);
        self.commit(plan, value, second);
        self.set_ends([low, high]);
    }

    /// The values from `cut` for the remaining parts, below and above a range, of the entries at its ends.
    pub(super) fn kept_ends(&self, span: Span, cut: &mut impl FnMut(Span, Span, &V) -> V) -> [CutEnd<V>; 2] {
        let mut end = |index: u64, part: fn(Span, Span) -> Option<Span>| -> CutEnd<V> {
            let (whole, number) = self.numbers.entry_at(index)?;
            let kept = part(whole, overlap(whole, span))?;
            Some((number, cut(whole, kept, self.values.get(number))))
        };
        [end(span.first(), Span::below), end(span.last(), Span::above)]
    }

    /// The value of the upper end if the store cuts an entry in two: it is the value of that entry's upper part.
    pub(super) fn take_second(&self, plan: &StorePlan, high: &mut CutEnd<V>) -> Option<V> {
        let in_two = self.cut_in_two(plan);
        high.take_if(|(number, _)| in_two == Some(*number)).map(|(_, value)| value)
    }

    /// Sets the values of the remaining parts.
    pub(super) fn set_ends(&mut self, ends: [CutEnd<V>; 2]) {
        let replaced = ends.map(|end| {
            let (number, value) = end?;
            Some(mem::replace(self.values.get_mut(number), value))
        });
        drop(replaced);
    }
}

/// Stores a store's values in their places; returns their numbers as words.
pub(super) fn put_both<V>(
    values: &mut ValueArena<V>,
    value: Option<V>,
    second: Option<V>,
) -> [Option<Word>; 2] {
    let mut put = |value: V| values.put(value).into_word();
    [value.map(&mut put), second.map(&mut put)]
}
