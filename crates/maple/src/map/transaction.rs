//! Several stores that are committed together, or not at all.

use super::WordMap;
use crate::OutOfMemory;
use crate::drop_all::drop_all;
use crate::entry::{StoredValue, Word};
use crate::error::{InsertError, StoreError, or_reject};
use crate::key::to_store;
use crate::tree::{MOST_WORDS, StorePlan, Subtrees, Tree, Words};
use alloc::vec::Vec;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// Stores that are committed together, or undone together. For example, an `munmap` in the middle of three regions is
/// one transaction.
///
/// - It is a private version of the tree: the nodes that its stores change are copied first. So a removal takes memory,
///   too.
/// - Each store takes the memory that it needs. [`commit`](Self::commit) takes none and cannot fail.
/// - Dropping it without a commit undoes it, which cannot fail either. Replaced values are kept until then.
/// - If it is forgotten (`mem::forget`), the next change of the map commits it. It then leaks the values that it took
///   out of the map, and its own lists of words.
///
/// ```
/// use freehold_maple::WordMap;
/// use freehold_units::Span;
///
/// let mut map = WordMap::new();
/// map.store(Span::new(0, 99).unwrap(), 1u32)?;
/// let mut both = map.transaction();
/// both.store(Span::new(10, 19).unwrap(), 2)?;
/// both.store(Span::new(50, 59).unwrap(), 3)?;
/// drop(both);
/// assert_eq!(map.get(15), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a transaction that is not committed changes nothing"]
pub struct Transaction<'a, E: StoredValue> {
    pub(super) map: &'a mut WordMap<E>,
    pub(super) changes: Changes,
    pub(super) committed: bool,
}

/// The words that a version of a tree gained and lost.
pub(crate) struct Changes {
    /// Words put into the tree since it began.
    inserted: Vec<Word>,
    /// Words that left the tree.
    removed: Vec<Word>,
}

impl Changes {
    pub(crate) const fn new() -> Self {
        Self { inserted: Vec::new(), removed: Vec::new() }
    }

    /// Plans a store, and reserves all memory that it takes.
    pub(crate) fn plan(
        &mut self,
        tree: &mut Tree,
        plan: &mut StorePlan,
        entry: bool,
    ) -> Result<(), OutOfMemory> {
        // One for the new word, one for the second word of an entry that is cut in two.
        self.inserted.try_reserve(2)?;
        self.removed.try_reserve(MOST_WORDS)?;
        tree.plan_in_version(plan, entry)?;
        tree.reserve_removed()
    }

    /// Makes a planned store. `second` makes the second word of an entry that is cut in two, before anything changes.
    pub(crate) fn apply(
        &mut self,
        tree: &mut Tree,
        plan: &mut StorePlan,
        entry: Option<Word>,
        second: impl FnOnce(Word) -> Word,
    ) {
        let (mut words, mut below) = (Words::new(), Subtrees::new());
        // If `second` panics, the undo drops the value of `entry`.
        self.inserted.extend(entry);
        let inserted = &mut self.inserted;
        let second = |word| {
            let second = second(word);
            inserted.push(second);
            second
        };
        tree.store_in_version(plan, entry, second, &mut words, &mut below);
        self.removed.extend_from_slice(&words);
        tree.keep_removed(&below);
    }

    /// Ends the version, by a commit or an undo, and drops the values of the words that have left the tree then.
    pub(crate) fn end<T>(&mut self, tree: &mut Tree, commit: bool, value_of: impl FnMut(Word) -> T) {
        if !commit {
            tree.undo_version();
            return drop_all(self.inserted.drain(..).map(value_of));
        }
        tree.commit_version();
        let (mut words, mut subtrees) = (Words::new(), Subtrees::new());
        let taken_out = core::iter::from_fn(|| tree.next_kept(&mut words, &mut subtrees));
        drop_all(self.removed.drain(..).chain(taken_out).map(value_of));
    }
}

impl<E: StoredValue> WordMap<E> {
    /// Begins stores that are committed together.
    ///
    /// Cost: constant.
    pub fn transaction(&mut self) -> Transaction<'_, E> {
        self.end_forgotten();
        Transaction { map: self, changes: Changes::new(), committed: false }
    }

    /// Commits a forgotten transaction. No other can be open, as the caller borrows the map itself.
    #[inline]
    pub(super) fn end_forgotten(&mut self) {
        self.tree.end_forgotten_version();
    }
}

impl<E: StoredValue> Transaction<'_, E> {
    /// The map with the stores so far.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn map(&self) -> &WordMap<E> {
        self.map
    }

    /// Stores a value over a range, whatever is there.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for
    /// each node if the map has grown since the last one: amortized O(log n).
    ///
    /// # Errors
    /// `EmptyRange`, or `OutOfMemory`. The stores before stay, and can be committed or dropped.
    pub fn store(&mut self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        or_reject!(self.changes.plan(&mut self.map.tree, &mut plan, true), value);
        self.apply(&mut plan, Some(value));
        Ok(())
    }

    /// Stores a value over a free range.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// ```
    /// # use freehold_maple::{InsertError, WordMap};
    /// let mut map = WordMap::from_iter([((0..=9).try_into()?, 1u32)]);
    /// let mut both = map.transaction();
    /// let refused = both.insert(8..12, 2).unwrap_err();
    /// assert_eq!((refused.value, refused.cause), (2, InsertError::Occupied { entry: (0..=9).try_into()? }));
    /// both.insert(10..12, 2)?;
    /// both.commit();
    /// assert_eq!([9, 10, 12].map(|at| map.get(at)), [Some(1), Some(2), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`WordMap::insert`]. The stores before stay, and can be committed or dropped.
    pub fn insert(
        &mut self,
        bounds: impl RangeBounds<u64>,
        value: E,
    ) -> Result<(), Rejected<E, InsertError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        or_reject!(self.changes.plan(&mut self.map.tree, &mut plan, true), value);
        or_reject!(self.map.tree.check_free(&plan), value);
        self.apply(&mut plan, Some(value));
        Ok(())
    }

    /// Removes everything in a range. An empty range removes nothing.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for
    /// each node if the map has grown since the last one: amortized O(log n).
    ///
    /// # Errors
    /// There is not enough memory. The stores before stay, and can be committed or dropped.
    pub fn remove_range(&mut self, bounds: impl RangeBounds<u64>) -> Result<(), OutOfMemory> {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        self.changes.plan(&mut self.map.tree, &mut plan, false)?;
        self.apply(&mut plan, None);
        Ok(())
    }

    /// Commits the stores.
    ///
    /// Cost: O(m) for m nodes and entries that its stores took and removed.
    pub fn commit(mut self) {
        self.committed = true;
    }
}
