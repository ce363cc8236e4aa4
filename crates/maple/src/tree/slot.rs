//! One slot of one leaf: the commonest changes, an entry that comes into a gap and one that goes, by the shortest way.
//! What else may happen to the slots of a leaf is an [`Edit`](crate::node::Edit).

use super::{Path, Tree};
use crate::entry::Word;
use crate::node::{Leaf, Shape};
use freehold_units::Span;

impl<S: Shape> Tree<S> {
    /// Puts an entry into a gap of the path's leaf, which has room.
    #[inline(always)]
    pub(super) fn fill(&mut self, path: &Path, (start, end): (u64, u64), span: Span, word: Word) {
        let step = path.leaf();
        self.leaf_mut(step.id).fill(step.slot as usize, (start, end), span, word);
        self.len += 1;
        self.gap_shortened(path, end - start, || {
            let [below, above] = [span.first() - start, end - span.last()];
            below.max(above).checked_sub(1)
        });
    }

    /// Takes the entry of the path's slot out, whole; its word is the caller's. False if the slot begins or ends where its
    /// leaf does, so that the gap it becomes may be one with another leaf's; nothing has changed then.
    #[inline(always)]
    pub(crate) fn vacate(&mut self, path: &Path) -> bool {
        let (step, whole) = (path.leaf(), path.whole);
        let slot = step.slot as usize;
        let ends_below = slot == 0 && whole.first() > 0;
        let ends_above = slot + 1 == self.leaf(step.id).len() && whole.last() < u64::MAX;
        if ends_below || ends_above {
            return false;
        }
        let leaf = self.leaf_mut(step.id);
        let slot = leaf.vacate(slot);
        let (start, end) = leaf.span(slot, whole);
        let is_thin = leaf.used() < S::LEAF_MIN;
        self.len -= 1;
        self.gap_lengthened(path, end - start);
        if is_thin {
            self.thinned(path);
        }
        true
    }
}

/// The gap that an entry over a range comes to lie in, if that is in one and its leaf has room.
#[inline(always)]
pub(super) fn gap_with_room<S: Shape>(leaf: &Leaf, path: &Path, span: Span) -> Option<(u64, u64)> {
    let slot = path.leaf().slot as usize;
    if leaf.has_entry(slot) {
        return None;
    }
    let (start, end) = leaf.span(slot, path.whole);
    let more = 1 + usize::from(start < span.first()) + usize::from(span.last() < end);
    (span.last() <= end && leaf.used() + more <= S::LEAF_WORDS).then_some((start, end))
}
