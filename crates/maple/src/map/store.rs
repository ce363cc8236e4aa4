//! Stores and erases entries.

use super::WordMap;
use crate::OutOfMemory;
use crate::entry::StoredValue;
use crate::error::{InsertError, StoreError, or_reject};
use crate::key::to_store;
use crate::tree::{Path, StorePlan};
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

impl<E: StoredValue> WordMap<E> {
    /// Stores a value over a range, whatever is there. An entry that reaches beyond the range is cut, not removed.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k; amortized O(log n), as an entry is removed once.
    ///
    /// # Errors
    /// `EmptyRange`, or `OutOfMemory` if there is no memory for another node. Nothing has changed then, and the error
    /// returns the value.
    #[doc(alias = "mtree_store_range")]
    #[inline]
    pub fn store(&mut self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        self.store_over(span, value)
    }

    /// Stores a value over a span.
    #[inline]
    pub(super) fn store_over<C: From<OutOfMemory>>(
        &mut self,
        span: Span,
        value: E,
    ) -> Result<(), Rejected<E, C>> {
        let mut plan = StorePlan::new(span);
        self.tree.plan(&mut plan, true);
        self.store_at(&mut plan, value)
    }

    /// Reserves the nodes of a planned store, and makes it.
    #[inline]
    pub(super) fn store_at<C: From<OutOfMemory>>(
        &mut self,
        plan: &mut StorePlan,
        value: E,
    ) -> Result<(), Rejected<E, C>> {
        or_reject!(self.tree.reserve(plan), value);
        self.commit(plan, Some(value));
        Ok(())
    }

    /// Stores a value over a free range.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// # Errors
    /// `EmptyRange`, `Occupied` if the range overlaps an entry, or `OutOfMemory` if there is no memory for another
    /// node. Nothing has changed then, and the error returns the value.
    #[doc(alias = "mtree_insert_range")]
    #[inline]
    pub fn insert(
        &mut self,
        bounds: impl RangeBounds<u64>,
        value: E,
    ) -> Result<(), Rejected<E, InsertError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        self.tree.plan(&mut plan, true);
        or_reject!(self.tree.check_free(&plan), value);
        self.store_at(&mut plan, value)
    }

    /// Removes the whole entry that contains an index. Never takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "mtree_erase")]
    #[doc(alias = "mas_erase")]
    #[inline]
    pub fn erase(&mut self, index: u64) -> Option<(Span, E)> {
        let mut plan = StorePlan::new(Span::ALL);
        let span = self.tree.plan_erase_at(&mut plan, index)?;
        Some((span, self.commit_one(&mut plan, None)))
    }

    /// Removes the whole entry in the path's slot; returns its value. `span` is its range.
    pub(super) fn erase_at(&mut self, path: &Path, span: Span) -> E {
        let mut plan = StorePlan::new(span);
        plan.path = path.clone();
        self.tree.plan_erase(&mut plan, self.tree.leaf_of(path), span);
        self.commit_one(&mut plan, None)
    }

    /// Removes everything in a range. An entry that reaches beyond it is cut, not removed. An empty range removes
    /// nothing.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k; amortized O(log n), as an entry is removed once.
    ///
    /// # Errors
    /// An entry is cut, its remainder and the gap do not fit its node, and there is no memory for another node. Nothing
    /// has changed then.
    pub fn remove_range(&mut self, bounds: impl RangeBounds<u64>) -> Result<(), OutOfMemory> {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        self.tree.plan(&mut plan, false);
        self.tree.reserve(&plan)?;
        self.commit(&mut plan, None);
        Ok(())
    }
}
