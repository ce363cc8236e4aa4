//! Several stores that are committed together, or not at all.

use super::RangeMap;
use super::store::number_of;
use crate::OutOfMemory;
use crate::error::StoreError;
use crate::map::Changes;
use crate::tree::StorePlan;
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
pub struct Transaction<'a, V> {
    map: &'a mut RangeMap<V>,
    changes: Changes,
    /// Values without a range, of transactions that were forgotten before.
    forgotten: usize,
    committed: bool,
}

impl<V> RangeMap<V> {
    /// Begins stores that are committed together.
    ///
    /// Cost: constant; after a forgotten transaction O(m) for the m nodes and entries that it removed.
    pub fn transaction(&mut self) -> Transaction<'_, V> {
        self.numbers.tree.end_forgotten_version();
        let forgotten = self.values.forgotten();
        Transaction { map: self, changes: Changes::new(), forgotten, committed: false }
    }
}

impl<V> Transaction<'_, V> {
    /// The map with the stores so far.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn map(&self) -> &RangeMap<V> {
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
    /// `EmptyRange`, or `OutOfMemory`. The stores before stay, and can be committed or dropped. If a `clone` panics,
    /// this store is not made, and its value is dropped.
    pub fn store(&mut self, bounds: impl RangeBounds<u64>, value: V) -> Result<(), Rejected<V, StoreError>>
    where
        V: Clone,
    {
        let Some(span) = Span::from_bounds(&bounds) else {
            return Err(Rejected { value, cause: StoreError::EmptyRange });
        };
        let mut plan = StorePlan::new(span);
        match self.plan(&mut plan, true) {
            Ok(()) => {
                self.apply(&mut plan, Some(value));
                Ok(())
            }
            Err(cause) => Err(Rejected { value, cause: cause.into() }),
        }
    }

    /// Removes everything in a range. An entry that reaches beyond it is cut, as by [`RangeMap::remove_range`]. An
    /// empty range removes nothing.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// There is not enough memory. The stores before stay, and can be committed or dropped.
    pub fn remove_range(&mut self, bounds: impl RangeBounds<u64>) -> Result<(), OutOfMemory>
    where
        V: Clone,
    {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        self.plan(&mut plan, false)?;
        self.apply(&mut plan, None);
        Ok(())
    }

    /// Commits the stores, and drops the values that they replaced.
    ///
    /// Cost: O(m) for m nodes and entries that its stores took and removed.
    pub fn commit(mut self) {
        self.committed = true;
    }

    fn plan(&mut self, plan: &mut StorePlan, entry: bool) -> Result<(), OutOfMemory> {
        self.map.values.reserve(2)?;
        self.changes.plan(&mut self.map.numbers.tree, plan, entry)
    }

    fn apply(&mut self, plan: &mut StorePlan, value: Option<V>)
    where
        V: Clone,
    {
        let second = self.map.cut_in_two(plan).map(|number| self.map.values.get(number).clone());
        let RangeMap { numbers, values } = &mut *self.map;
        let [entry, second] = super::store::put_both(values, value, second);
        let second = |_| second.expect("M8: a cut entry has a second value");
        self.changes.apply(&mut numbers.tree, plan, entry, second);
        // As many values are kept for an undo as there are more of them than entries.
        values.set_forgotten(numbers.len());
    }
}

impl<V> Drop for Transaction<'_, V> {
    fn drop(&mut self) {
        let RangeMap { numbers, values } = &mut *self.map;
        values.keep_forgotten(self.forgotten);
        self.changes.end(&mut numbers.tree, self.committed, |word| values.take(number_of(word)));
    }
}
