//! Plans a store that absorbs what touches its range, in the descent that finds its place.
//!
//! The walk goes to the index before the range. The slot there is the neighbour below the range, or contains the start
//! of the range. In both cases it is the only one that may be absorbed on that side. So a second walk is needed only if
//! that slot is the last of its leaf, and the range begins in the next leaf.

use super::{Memory, StorePlan, Tree, indexes};
use crate::entry::Word;
use crate::node::Leaf;

impl<M: Memory> Tree<M> {
    /// Plans a store of an entry over the plan's range, widened over what is beside it where `same` is true of the
    /// word: over the remaining parts of the entries that the range cuts, or over the entries that it touches. The
    /// plan's range is the widened one afterwards. `same` is called for the lower side first, once if both sides are
    /// one entry.
    #[inline]
    pub(crate) fn plan_merging(&self, plan: &mut StorePlan, mut same: impl FnMut(Word) -> bool) {
        if self.height == 0 {
            return self.plan(plan, true);
        }
        let StorePlan { path, span, .. } = &mut *plan;
        let (mut first, mut last) = (span.first(), span.last());
        let mut leaf = self.walk(first.saturating_sub(1), path);
        let slot = path.leaf().slot as usize;
        let (start, end) = leaf.span(slot, path.whole);
        // Whether the slot has an index that the range has not.
        let is_beside = start < first || end > last;
        let absorbs = is_beside && leaf.entry(slot).is_some_and(&mut same);
        if absorbs {
            first = start;
        } else if end < first {
            if slot + 1 < leaf.len() {
                path.set_slot(slot + 1);
            } else {
                leaf = self.walk(first, path);
            }
        }
        let above = if end > last { absorbs.then_some(end) } else { self.end_above(plan, leaf, same) };
        last = above.unwrap_or(last);
        plan.span = indexes(first, last);
        self.plan_from(plan, leaf, true);
    }

    /// The last index of the entry that contains the index after the plan's range, if `same` is true of its word.
    /// `leaf` is the one to which the plan's path leads.
    #[inline]
    fn end_above(&self, plan: &StorePlan, leaf: &Leaf, same: impl FnOnce(Word) -> bool) -> Option<u64> {
        let behind = plan.span.last().checked_add(1)?;
        let whole = plan.path.whole;
        if behind > whole.last() {
            let slot = self.slot_of(behind);
            return slot.entry.is_some_and(same).then_some(slot.span.last());
        }
        // The slot is nearly always close to the first.
        let mut slot = plan.path.leaf().slot as usize;
        let mut end = leaf.span(slot, whole).1;
        while end < behind {
            slot += 1;
            end = leaf.span(slot, whole).1;
        }
        leaf.entry(slot).is_some_and(same).then_some(end)
    }
}
