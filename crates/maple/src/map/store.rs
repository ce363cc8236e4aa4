//! Storing and erasing.

use super::{RangeMap, words};
use crate::OutOfMemory;
use crate::entry::{StoredValue, Word};
use crate::error::{InsertError, Rejected};
use crate::tree::{Path, StorePlan, Subtrees, Words};
use freehold_units::{Probe, Span};

impl<E: StoredValue> RangeMap<E> {
    /// Stores a value over a range, whatever is there. What reaches beyond the range is cut, not removed.
    ///
    /// # Errors
    /// There is no memory for another node; nothing has changed then, and the value comes back.
    #[doc(alias = "mtree_store_range")]
    #[inline]
    pub fn store(&mut self, span: Span, value: E) -> Result<(), Rejected<E, OutOfMemory>> {
        self.store_probed(span, value, &mut ())
    }

    /// [`store`](Self::store), its work counted.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn store_probed(
        &mut self,
        span: Span,
        value: E,
        probe: &mut impl Probe,
    ) -> Result<(), Rejected<E, OutOfMemory>> {
        let mut plan = StorePlan::new(span);
        self.tree.plan(&mut plan, true, probe);
        self.store_at(&mut plan, value)
    }

    /// Does a store that was looked at.
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
        self.tree.plan(plan, true, &mut ());
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
        let leaf = self.tree.walk(index, &mut plan.path, &mut ());
        let slot = self.tree.slot(&plan.path);
        let word = slot.entry?;
        self.tree.plan_erase(&mut plan, leaf, slot.span);
        self.commit_then(&mut plan, None, Removed::Kept);
        Some((slot.span, words::take(word)))
    }

    /// Removes the entry of the path's slot, whole; its word is the caller's. `span` are its indexes.
    #[inline]
    pub(super) fn erase_at(&mut self, path: &Path, span: Span) {
        let mut plan = StorePlan::new(span);
        plan.path = path.clone();
        self.tree.plan_erase(&mut plan, self.tree.leaf_of(path), span);
        self.commit_then(&mut plan, None, Removed::Kept);
    }

    /// Removes everything in a range. What reaches beyond it is cut, not removed.
    ///
    /// # Errors
    /// An entry is cut, so that what is left of it and the gap take more than its node has room for, and there is no memory
    /// for another; nothing has changed then.
    pub fn remove_range(&mut self, span: Span) -> Result<(), OutOfMemory> {
        let mut plan = StorePlan::new(span);
        self.tree.plan(&mut plan, false, &mut ());
        self.tree.reserve(&plan)?;
        self.commit(&mut plan, None);
        Ok(())
    }

    /// Does a planned store whose nodes are reserved, and drops the values that it removes.
    #[inline]
    pub(crate) fn commit(&mut self, plan: &mut StorePlan, entry: Option<Word>) {
        self.commit_then(plan, entry, Removed::Dropped);
    }

    /// Does a planned store whose nodes are reserved.
    #[inline]
    pub(super) fn commit_then(&mut self, plan: &mut StorePlan, entry: Option<Word>, then: Removed) {
        self.end_leaked();
        if plan.spans() {
            return self.commit_spanning(plan, entry, then);
        }
        let mut removed = Words::new();
        self.tree.commit(plan, entry, words::split::<E>, &mut removed);
        if then == Removed::Dropped && core::mem::needs_drop::<E>() && !removed.is_empty() {
            words::drop_values::<E>(core::iter::from_fn(|| removed.pop()));
        }
    }

    #[inline(never)]
    fn commit_spanning(&mut self, plan: &mut StorePlan, entry: Option<Word>, then: Removed) {
        let (mut removed, mut subtrees) = (Words::new(), Subtrees::new());
        self.tree.commit_spanning(plan, entry, &mut removed, &mut subtrees);
        // Every word is taken out, even if it is kept: only then are all nodes given back.
        let all = core::iter::from_fn(|| self.tree.next_removed(&mut removed, &mut subtrees));
        match then {
            Removed::Dropped => words::drop_values::<E>(all),
            Removed::Kept => all.for_each(|_| ()),
        }
    }
}

/// What becomes of the words that a store removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// Their values are dropped.
    Dropped,
    /// They are the caller's.
    Kept,
}
