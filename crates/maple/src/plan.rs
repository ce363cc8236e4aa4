//! Planning a store: its nodes are reserved beforehand, so that the store itself cannot fail.
//!
//! A plan holds exactly the nodes that its store takes: the walk down finds how many.

use crate::entry::StoredValue;
use crate::error::StoreError;
use crate::map::WordMap;
use crate::tree::StorePlan;
use core::ops::RangeBounds;
use freehold_units::Span;

/// A store that cannot fail any more: its nodes are reserved.
///
/// ```
/// use freehold_maple::WordMap;
///
/// let mut map = WordMap::new();
/// let plan = map.plan_store(0x1000..0x2000)?;
/// assert_eq!(plan.nodes(), 1);
/// plan.commit(7u32);
/// assert_eq!(map.get(0x1000), Some(7));
/// # Ok::<(), freehold_maple::StoreError>(())
/// ```
#[must_use = "a plan that is not committed stores nothing"]
pub struct Plan<'a, E: StoredValue> {
    pub(crate) map: &'a mut WordMap<E>,
    pub(crate) plan: StorePlan,
}

/// A removal that cannot fail any more: its nodes are reserved.
#[must_use = "a plan that is not committed removes nothing"]
pub struct RemovalPlan<'a, E: StoredValue>(pub(crate) Plan<'a, E>);

impl<E: StoredValue> WordMap<E> {
    /// Plans a store over a range, whatever is there.
    ///
    /// Cost: O(log n) for n entries.
    ///
    /// # Errors
    /// `EmptyRange`, or `OutOfMemory` if there is no memory for the nodes that it takes. Nothing has changed then.
    #[doc(alias = "mas_preallocate")]
    pub fn plan_store(&mut self, bounds: impl RangeBounds<u64>) -> Result<Plan<'_, E>, StoreError> {
        self.plan(Span::from_bounds(&bounds), true)
    }

    /// Plans the removal of everything in a range.
    ///
    /// Cost: O(log n) for n entries.
    ///
    /// # Errors
    /// As for [`plan_store`](Self::plan_store).
    pub fn plan_removal(&mut self, bounds: impl RangeBounds<u64>) -> Result<RemovalPlan<'_, E>, StoreError> {
        self.plan(Span::from_bounds(&bounds), false).map(RemovalPlan)
    }

    fn plan(&mut self, span: Option<Span>, entry: bool) -> Result<Plan<'_, E>, StoreError> {
        let mut plan = StorePlan::new(span.ok_or(StoreError::EmptyRange)?);
        self.tree_mut().plan_and_reserve(&mut plan, entry)?;
        Ok(Plan { map: self, plan })
    }
}

impl<E: StoredValue> Plan<'_, E> {
    /// The number of nodes that the store takes.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn nodes(&self) -> u64 {
        self.plan.need.nodes() as u64
    }

    /// Stores the value.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k; amortized O(log n), as an entry is removed once.
    #[doc(alias = "mas_store_prealloc")]
    pub fn commit(mut self, value: E) {
        self.map.commit(&mut self.plan, Some(value));
    }
}

impl<E: StoredValue> RemovalPlan<'_, E> {
    /// The number of nodes that the removal takes.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn nodes(&self) -> u64 {
        self.0.nodes()
    }

    /// The whole gap that the removal leaves: the range, and the gaps on either side of it.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn gap(&self) -> Span {
        if self.0.plan.is_rootless() { Span::ALL } else { self.0.plan.span }
    }

    /// Removes everything in the range.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k; amortized O(log n), as an entry is removed once.
    pub fn commit(mut self) {
        self.0.map.commit(&mut self.0.plan, None);
    }
}
