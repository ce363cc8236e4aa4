//! Several stores that are committed together, or not at all.

use super::RangeMap;
use super::numbered::{CutEnd, Numbered, number_of, put_both};
use super::store::of_words;
use crate::OutOfMemory;
use crate::error::{InsertError, StoreError, or_reject};
use crate::key::{Key, to_store, within};
use crate::map::Changes;
use crate::tree::StorePlan;
use alloc::vec::Vec;
use core::mem;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// Stores that are committed together, or undone together.
///
/// - The nodes that its stores change are copied first. So a removal takes memory, too.
/// - Each store takes the memory that it needs. [`commit`](Self::commit) takes none and cannot fail.
/// - Dropping it without a commit undoes it, which cannot fail either. Replaced values are kept until then.
/// - If it is forgotten (`mem::forget`), the next change of the map commits it. The values that it took out of the map
///   are then dropped with the map or by [`clear`](RangeMap::clear), and its own lists leak.
///
/// ```
/// use freehold_maple::RangeMap;
///
/// let mut map = RangeMap::from([(0..100, String::from("a"))]);
/// let mut both = map.transaction();
/// both.store(10..20, String::from("b"))?;
/// both.remove_range(50..60)?;
/// assert_eq!(both.map().len(), 4);
/// drop(both);
/// assert_eq!((map.len(), map.get(15).map(String::as_str)), (1, Some("a")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a transaction that is not committed changes nothing"]
pub struct Transaction<'a, V, K = u64> {
    map: &'a mut RangeMap<V, K>,
    stores: Stores<V>,
    committed: bool,
}

/// What a transaction has changed, for its end.
struct Stores<V> {
    changes: Changes,
    /// Numbers whose values were changed in place, with the values before, in the order of the changes.
    replaced: Vec<(u32, V)>,
    /// Values without a range, of transactions that were forgotten before.
    forgotten: usize,
}

impl<V, K> RangeMap<V, K> {
    /// Begins stores that are committed together.
    ///
    /// Cost: constant; after a forgotten transaction O(m) for the m nodes and entries that it removed.
    pub fn transaction(&mut self) -> Transaction<'_, V, K> {
        self.ranges.numbers.tree.end_forgotten_version();
        let forgotten = self.ranges.values.forgotten();
        let stores = Stores { changes: Changes::new(), replaced: Vec::new(), forgotten };
        Transaction { map: self, stores, committed: false }
    }
}

impl<V, K: Key> Transaction<'_, V, K> {
    /// The map with the stores so far.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn map(&self) -> &RangeMap<V, K> {
        self.map
    }

    /// Stores a value over a range, whatever is there. An entry that reaches beyond the range is cut, as by
    /// [`RangeMap::store`].
    ///
    /// Cost: O(log n + k) for n entries of which it removes k, and O(n) where the table of values grows. The first
    /// store of a transaction also clears a bit for each node if the map has grown since the last one: amortized
    /// O(log n).
    ///
    /// # Errors
    /// As for [`RangeMap::store`]. The stores before stay, and can be committed or dropped. If a `clone` panics, this
    /// store is not made, and its value is dropped.
    pub fn store(&mut self, bounds: impl RangeBounds<K>, value: V) -> Result<(), Rejected<V, StoreError>>
    where
        V: Clone,
    {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        let ranges = &mut self.map.ranges;
        or_reject!(self.stores.plan(ranges, &mut plan, true), value);
        let second = ranges.cloned_second(&plan);
        self.stores.apply(ranges, &mut plan, Some(value), second);
        Ok(())
    }

    /// As [`store`](Self::store), and computes new values for the remaining parts of cut entries, as
    /// [`RangeMap::store_with`].
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// // Where the bytes of a file are on a disk: the place of the first.
    /// let mut extents = RangeMap::from([(0..100, 5000u64)]);
    /// let mut both = extents.transaction();
    /// both.store_with(40..50, 9000, |whole, kept, disk| disk + (kept.first() - whole.first()))?;
    /// both.insert(100..120, 7000)?;
    /// both.commit();
    /// assert_eq!([39, 45, 50, 110].map(|at| extents.get(at).copied()), [Some(5000), Some(9000), Some(5050), Some(7000)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`store`](Self::store). If `cut` panics, this store is not made, and its value is dropped.
    pub fn store_with(
        &mut self,
        bounds: impl RangeBounds<K>,
        value: V,
        cut: impl FnMut(K::Span, K::Span, &V) -> V,
    ) -> Result<(), Rejected<V, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        let ranges = &mut self.map.ranges;
        or_reject!(self.stores.plan(ranges, &mut plan, true), value);
        self.stores.apply_with(ranges, &mut plan, span, Some(value), of_words::<K, V>(cut));
        Ok(())
    }

    /// Stores a value over a free range.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`RangeMap::insert`]. The stores before stay, and can be committed or dropped.
    pub fn insert(&mut self, bounds: impl RangeBounds<K>, value: V) -> Result<(), Rejected<V, InsertError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        let ranges = &mut self.map.ranges;
        or_reject!(self.stores.plan_insert(ranges, &mut plan), value);
        self.stores.apply(ranges, &mut plan, Some(value), None);
        Ok(())
    }

    /// Removes everything in a range. An entry that reaches beyond it is cut, as by [`RangeMap::remove_range`]. An
    /// empty range removes nothing.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// There is not enough memory. The stores before stay, and can be committed or dropped.
    pub fn remove_range(&mut self, bounds: impl RangeBounds<K>) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        let Some(span) = within(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        let ranges = &mut self.map.ranges;
        self.stores.plan(ranges, &mut plan, false)?;
        let second = ranges.cloned_second(&plan);
        self.stores.apply(ranges, &mut plan, None, second);
        Ok(())
    }

    /// As [`remove_range`](Self::remove_range), with `cut` to compute the values of the remaining parts, as for
    /// [`RangeMap::store_with`].
    ///
    /// Cost: as for [`store`](Self::store).
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
        let ranges = &mut self.map.ranges;
        self.stores.plan(ranges, &mut plan, false)?;
        self.stores.apply_with(ranges, &mut plan, span, None, of_words::<K, V>(cut));
        Ok(())
    }

    /// Commits the stores, and drops the values that they replaced.
    ///
    /// Cost: O(m) for m nodes and entries that its stores took and removed.
    pub fn commit(mut self) {
        self.committed = true;
    }
}

impl<V> Stores<V> {
    /// Plans a store, and reserves all memory that it takes.
    fn plan(
        &mut self,
        ranges: &mut Numbered<V>,
        plan: &mut StorePlan,
        entry: bool,
    ) -> Result<(), OutOfMemory> {
        ranges.values.reserve(2)?;
        self.replaced.try_reserve(2)?;
        self.changes.plan(&mut ranges.numbers.tree, plan, entry)
    }

    /// As [`plan`](Self::plan), for a range that must be free.
    fn plan_insert(&mut self, ranges: &mut Numbered<V>, plan: &mut StorePlan) -> Result<(), InsertError> {
        self.plan(ranges, plan, true)?;
        ranges.numbers.tree.check_free(plan)
    }

    /// Makes a planned store. `second` is the value of the upper part of an entry that is cut in two.
    fn apply(&mut self, ranges: &mut Numbered<V>, plan: &mut StorePlan, value: Option<V>, second: Option<V>) {
        let Numbered { numbers, values } = ranges;
        let [entry, second] = put_both(values, value, second);
        let second = |_| second.expect("M8: a cut entry has a second value");
        self.changes.apply(&mut numbers.tree, plan, entry, second);
        // As many values are kept for an undo as there are more of them than entries.
        values.set_forgotten(numbers.len());
    }

    /// Makes a planned store over `span`. `cut` computes the values of the remaining parts of the entries at either
    /// end. The values before are kept for an undo.
    fn apply_with(
        &mut self,
        ranges: &mut Numbered<V>,
        plan: &mut StorePlan,
        span: Span,
        value: Option<V>,
        mut cut: impl FnMut(Span, Span, &V) -> V,
    ) {
        let [low, mut high]: [CutEnd<V>; 2] = ranges.kept_ends(span, &mut cut);
        let second = ranges.take_second(plan, &mut high);
        self.apply(ranges, plan, value, second);
        for (number, value) in [low, high].into_iter().flatten() {
            self.replaced.push((number, mem::replace(ranges.values.get_mut(number), value)));
        }
    }
}

impl<V, K> Drop for Transaction<'_, V, K> {
    fn drop(&mut self) {
        let Numbered { numbers, values } = &mut self.map.ranges;
        let Stores { changes, replaced, forgotten } = &mut self.stores;
        values.keep_forgotten(*forgotten);
        if !self.committed {
            // The last change of a value is undone first. What an undo drops may panic, so all are put back before.
            for (number, before) in replaced.iter_mut().rev() {
                mem::swap(values.get_mut(*number), before);
            }
        }
        changes.end(&mut numbers.tree, self.committed, |word| values.take(number_of(word)));
    }
}
