//! Storing and erasing.

use super::{RangeMap, words};
use crate::OutOfMemory;
use crate::entry::{StoredValue, Word};
use crate::error::InsertError;
use crate::tree::{Path, StorePlan, Subtrees, Words, indexes};
use freehold_units::{Rejected, Span};

impl<E: StoredValue> RangeMap<E> {
    /// Stores a value over a range, whatever is there. What reaches beyond the range is cut, not removed.
    ///
    /// # Errors
    /// There is no memory for another node; nothing has changed then, and the value comes back.
    #[doc(alias = "mtree_store_range")]
    #[inline]
    pub fn store(&mut self, span: Span, value: E) -> Result<(), Rejected<E, OutOfMemory>> {
        let mut plan = StorePlan::new(span);
        self.tree.plan(&mut plan, true);
        self.store_at(&mut plan, value)
    }

    /// Reserves the nodes of a planned store, and does it.
    #[inline]
    pub(super) fn store_at(
        &mut self,
        plan: &mut StorePlan,
        value: E,
    ) -> Result<(), Rejected<E, OutOfMemory>> {
        match self.tree.reserve(plan) {
            Ok(()) => {
                self.commit(plan, Some(value.into_word()));
                Ok(())
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Stores a value over a range that is free.
    ///
    /// # Errors
    /// The range overlaps an entry, or there is no memory for another node; nothing has changed then, and the value
    /// comes back.
    #[doc(alias = "mtree_insert_range")]
    #[inline]
    pub fn insert(&mut self, span: Span, value: E) -> Result<(), Rejected<E, InsertError>> {
        let mut plan = StorePlan::new(span);
        match self.prepare_insert(&mut plan) {
            Ok(()) => {
                self.commit(&mut plan, Some(value.into_word()));
                Ok(())
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    #[inline]
    fn prepare_insert(&mut self, plan: &mut StorePlan) -> Result<(), InsertError> {
        self.tree.plan(plan, true);
        if !plan.is_free() {
            return Err(InsertError::Occupied(self.tree.first_entry(plan)));
        }
        Ok(self.tree.reserve(plan)?)
    }

    /// Removes the whole entry that an index is in. Never takes memory.
    #[doc(alias = "mtree_erase")]
    #[doc(alias = "mas_erase")]
    #[inline]
    pub fn erase(&mut self, index: u64) -> Option<(Span, E)> {
        if self.tree.height() == 0 {
            return None;
        }
        let mut plan = StorePlan::new(Span::ALL);
        let leaf = self.tree.walk(index, &mut plan.path);
        let slot = plan.path.leaf().slot as usize;
        if !leaf.has_entry(slot) {
            return None;
        }
        let (first, last) = leaf.span(slot, plan.path.whole);
        let span = indexes(first, last);
        self.tree.plan_erase(&mut plan, leaf, span);
        Some((span, words::take(self.commit_one(&mut plan, None))))
    }

    /// Removes the entry of the path's slot, whole; returns its word. `span` are its indexes.
    pub(super) fn erase_at(&mut self, path: &Path, span: Span) -> Word {
        let mut plan = StorePlan::new(span);
        plan.path = path.clone();
        self.tree.plan_erase(&mut plan, self.tree.leaf_of(path), span);
        self.commit_one(&mut plan, None)
    }

    /// Removes everything in a range. What reaches beyond it is cut, not removed.
    ///
    /// # Errors
    /// An entry is cut, so that what is left of it and the gap take more than its node has room for, and there is no memory
    /// for another; nothing has changed then.
    pub fn remove_range(&mut self, span: Span) -> Result<(), OutOfMemory> {
        let mut plan = StorePlan::new(span);
        self.tree.plan(&mut plan, false);
        self.tree.reserve(&plan)?;
        self.commit(&mut plan, None);
        Ok(())
    }

    /// Does a planned store whose nodes are reserved, and drops the values that it removes.
    #[inline]
    pub(crate) fn commit(&mut self, plan: &mut StorePlan, entry: Option<Word>) {
        self.end_leaked();
        if plan.spans() {
            return self.commit_spanning(plan, entry);
        }
        let mut removed = Words::new();
        self.tree.commit(plan, entry, words::split::<E>, &mut removed);
        if core::mem::needs_drop::<E>() && !removed.is_empty() {
            words::drop_values::<E>(core::iter::from_fn(|| removed.pop()));
        }
    }

    #[inline(never)]
    fn commit_spanning(&mut self, plan: &mut StorePlan, entry: Option<Word>) {
        let (mut removed, mut subtrees) = (Words::new(), Subtrees::new());
        self.tree.commit_spanning(plan, entry, &mut removed, &mut subtrees);
        self.drop_subtrees(&mut removed, &mut subtrees);
    }

    /// Does a planned store that removes one entry, whole; returns its word.
    #[inline]
    pub(super) fn commit_one(&mut self, plan: &mut StorePlan, entry: Option<Word>) -> Word {
        self.end_leaked();
        let mut removed = Words::new();
        if plan.spans() {
            debug_assert!(entry.is_none(), "M1: an entry that replaces one has its slot");
            self.commit_one_spanning(plan, &mut removed);
        } else {
            self.tree.commit(plan, entry, words::split::<E>, &mut removed);
        }
        removed.pop().expect("M7: the entry's word leaves the tree")
    }

    /// The same for a removal over an edge between leaves. The nodes that go have no entry but, at most, this one.
    #[inline(never)]
    fn commit_one_spanning(&mut self, plan: &mut StorePlan, removed: &mut Words) {
        let mut subtrees = Subtrees::new();
        self.tree.commit_spanning(plan, None, removed, &mut subtrees);
        let mut last = None;
        while let Some(word) = self.tree.next_removed(removed, &mut subtrees) {
            last = Some(word);
        }
        removed.extend(last);
    }
}
