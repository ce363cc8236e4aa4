//! Moves the edge between two leaves, instead of a store that spans both.
//!
//! ```text
//!   before   ... | entry | entry ||  gap  | entry | ...       the left leaf gives way
//!   after    ... | entry ||      gap      | entry | ...
//!
//!   before   ... | entry |  gap  || entry | entry | ...       the right leaf does
//!   after    ... | entry |      gap      || entry | ...
//! ```
//!
//! Slots removed beside a gap of the other leaf become part of that gap. Only the ancestors hold the end of a leaf. So
//! the gap at the end of the other leaf grows without a change of that leaf, and no node is taken. Without this, an
//! erase at 100 ranges takes 1.5 times its instructions, of `bench maple --instructions`.
//!
//! An entry that ends in the next leaf moves the edge, too: the next leaf gives way, and the store is made in the first.
//! Without this, a replay of the address spaces of `chromium` by stores that merge takes 1.15 times its instructions.

use super::removed::Words;
use super::spanning::fork;
use super::{Memory, Path, Tree, indexes};
use crate::node::{Leaf, NodeId, SLOTS};
use core::ops::Range;
use freehold_units::Span;

/// The leaf that loses slots. It keeps at least one.
#[derive(Clone, Copy)]
enum GivesWay {
    Left,
    Right,
}

impl<M: Memory> Tree<M> {
    /// Whether [`move_edge`](Self::move_edge) can make this gap.
    pub(super) fn can_move_edge(&self, path: &Path, gap: Span) -> bool {
        self.giving_way(path, gap, &mut Path::new()).is_some()
    }

    /// Makes `gap`, which begins in the path's leaf and ends in the next one, a gap. That works if its part in one of
    /// the two leaves is a gap already: the other leaf hands its part over. Otherwise returns `false` and changes
    /// nothing.
    pub(super) fn move_edge(&mut self, path: &mut Path, gap: Span, words: &mut Words) -> bool {
        let mut next = Path::new();
        let Some(gives_way) = self.giving_way(path, gap, &mut next) else { return false };
        self.thaw(path);
        self.thaw(&mut next);
        let reach = gap.last() - gap.first();
        let (shrunk, index) = match gives_way {
            GivesWay::Left => {
                let leaf = self.leaf_of(path);
                let slot = path.leaf().slot as usize;
                let kept = slot + usize::from(leaf.span(slot, path.whole).0 < gap.first());
                let lost = self.take_slots(path, kept..SLOTS, words);
                self.leaf_mut(path.leaf().id).keep_to(kept - 1);
                self.set_edge(path, &mut next, gap.first() - 1);
                self.gap_replaced(path, lost, None);
                self.gap_replaced(&next, None, Some(reach));
                (path.leaf().id, path.whole.first())
            }
            GivesWay::Right => {
                let leaf = self.leaf_of(&next);
                let slot = leaf.slot_of(gap.last());
                let kept = slot + usize::from(leaf.span(slot, next.whole).1 == gap.last());
                let lost = self.take_slots(&next, 0..kept, words);
                self.leaf_mut(next.leaf().id).keep_from(kept);
                self.set_edge(path, &mut next, gap.last());
                self.gap_replaced(&next, lost, None);
                self.gap_replaced(path, None, Some(reach));
                (next.leaf().id, next.whole.first())
            }
        };
        if self.is_underfull(shrunk, 1) {
            self.fix_underfull_path(index);
        }
        true
    }

    /// Prepares the store of an entry that begins in the path's leaf and ends in the gap at the start of the next leaf.
    /// That gap moves to the path's leaf. So the store, and later ones that extend the entry, lie in this leaf alone.
    /// Returns the next leaf, or `None`, and has changed nothing, if the leaf has not enough free slots, or the store ends
    /// elsewhere.
    pub(super) fn grow_into_gap(
        &mut self,
        path: &mut Path,
        span: Span,
        removed: &mut Words,
    ) -> Option<NodeId> {
        let mut next = Path::new();
        if !self.ends_in_next_gap(path, span, &mut next) {
            return None;
        }
        self.thaw(path);
        self.thaw(&mut next);
        let slot = path.leaf().slot as usize;
        let lost = self.take_slots(path, slot + 1..SLOTS, removed);
        let leaf = self.leaf_mut(path.leaf().id);
        leaf.keep_to(slot);
        leaf.push(span.last(), None);
        let lost_of_next = self.take_slots(&next, 0..1, removed);
        let end = self.leaf_of(&next).pivot(0);
        self.leaf_mut(next.leaf().id).keep_from(1);
        self.set_edge(path, &mut next, end);
        // If the store begins in a gap, that gap is now longer than its parent's record, until the store removes it. So
        // the store looks at all gaps, unless it makes one as long.
        self.gap_replaced(path, lost, Some(end - span.last() - 1));
        self.gap_replaced(&next, lost_of_next, None);
        Some(next.leaf().id)
    }

    /// Prepares the store of an entry that begins in the path's leaf and ends in the next leaf, of which something
    /// stays: the path's slot is stretched to the end of the store, and the next leaf begins after it. Returns
    /// the next leaf, or `None`, and has changed nothing, if the store ends elsewhere.
    pub(super) fn stretch_over_edge(
        &mut self,
        path: &mut Path,
        span: Span,
        removed: &mut Words,
    ) -> Option<NodeId> {
        let mut next = Path::new();
        let right = self.walk(path.whole.last().checked_add(1)?, &mut next);
        if next.whole.last() <= span.last() {
            return None;
        }
        let slot = right.slot_of(span.last());
        let kept = slot + usize::from(right.span(slot, next.whole).1 == span.last());
        self.thaw(path);
        self.thaw(&mut next);
        let last = path.leaf().slot as usize;
        let lost = self.take_slots(path, last + 1..SLOTS, removed);
        self.leaf_mut(path.leaf().id).keep_to(last);
        // A gap that is cut gets shorter, too.
        let lost_of_next = self.leaf_of(&next).longest_gap_in(0..slot + 1, next.whole);
        self.take_words(next.leaf().id, 0..kept, removed);
        self.leaf_mut(next.leaf().id).keep_from(kept);
        self.set_edge(path, &mut next, span.last());
        // If the path's slot is a gap, the store itself removes it.
        self.gap_replaced(path, lost, None);
        self.gap_replaced(&next, lost_of_next, None);
        Some(next.leaf().id)
    }

    /// Whether the store of [`grow_into_gap`](Self::grow_into_gap) is possible, and the path to the next leaf.
    fn ends_in_next_gap(&self, path: &Path, span: Span, next: &mut Path) -> bool {
        let slot = path.leaf().slot as usize;
        // The most slots that the leaf has after the store: those up to this one, the new slot and the gap.
        if slot + 3 > self.limits.leaf_slots {
            return false;
        }
        // The next leaf nearly always has the same parent, and rarely begins with such a gap. So that is checked before
        // the walk to the leaf.
        let ends_in_gap =
            |right: &Leaf| !right.has_entry(0) && right.len() > 1 && span.last() < right.pivot(0);
        let Some(step) = path.above().last() else { return false };
        let (parent, behind) = (self.inner(step.id), step.slot as usize + 1);
        if behind < parent.len() && !ends_in_gap(self.leaf(parent.child(behind))) {
            return false;
        }
        path.whole.last().checked_add(1).is_some_and(|behind| ends_in_gap(self.walk(behind, next)))
    }

    /// Makes the path's leaf end at `edge`, and the next leaf begin after it.
    fn set_edge(&mut self, path: &mut Path, next: &mut Path, edge: u64) {
        let fork = path.steps()[fork(path, next)];
        self.inner_mut(fork.id).set_pivot(fork.slot as usize, edge);
        path.whole = indexes(path.whole.first(), edge);
        next.whole = indexes(edge + 1, next.whole.last());
    }

    /// Takes the words of slots that are about to be removed from the path's leaf. Returns the reach of the longest gap
    /// among the slots.
    fn take_slots(&mut self, path: &Path, slots: Range<usize>, words: &mut Words) -> Option<u64> {
        let lost = self.leaf_of(path).longest_gap_in(slots.clone(), path.whole);
        self.take_words(path.leaf().id, slots, words);
        lost
    }

    /// The leaf that loses slots to the gap, of the path's leaf and the next one. Sets `next` to the path of the next
    /// leaf.
    fn giving_way(&self, path: &Path, gap: Span, next: &mut Path) -> Option<GivesWay> {
        let right = self.walk(path.whole.last().checked_add(1)?, next);
        if path.whole.first() < gap.first()
            && !right.has_entry(0)
            && right.span(0, next.whole).1 == gap.last()
        {
            return Some(GivesWay::Left);
        }
        let (left, slot) = (self.leaf_of(path), path.leaf().slot as usize);
        let right_gives_way = gap.last() < next.whole.last()
            && slot + 1 == left.len()
            && !left.has_entry(slot)
            && left.span(slot, path.whole).0 == gap.first();
        right_gives_way.then_some(GivesWay::Right)
    }
}
