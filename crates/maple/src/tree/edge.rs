//! Moving the edge between two leaves: what is erased beside a gap of the other leaf becomes part of that gap.
//!
//! ```text
//!   before   ... | entry | entry ||  gap  | entry | ...       a leaf, and the next
//!   after    ... | entry ||      gap      | entry | ...
//! ```
//!
//! A slot at the end of a leaf starts or ends where the leaf does, which its ancestors know: the gap needs no change.

use super::removed::Words;
use super::spanning::fork;
use super::{Path, Tree};
use crate::node::Shape;
use freehold_units::Span;

impl<S: Shape> Tree<S> {
    /// Makes a gap of the range, in which the path's leaf ends, if one of the two leaves there has the gap's other end as
    /// a gap of its own, and the other leaf keeps something. False if that is not so; nothing has changed then.
    pub(super) fn move_edge(&mut self, path: &Path, gap: Span, words: &mut Words) -> bool {
        let Some(behind) = path.whole.last().checked_add(1) else { return false };
        let mut next = Path::new();
        self.walk(behind, &mut next, &mut ());
        let (edge, shrunk) = if self.gives_way_above(path, &next, gap) {
            let left = self.leaf_of(path);
            let slot = path.leaf().slot as usize;
            let kept = slot + usize::from(left.span(slot, path.whole).0 < gap.first());
            let gone = left.rank(kept)..left.entries();
            words.extend(gone.clone().map(|rank| left.ranked(rank)));
            self.len -= gone.len() as u64;
            self.leaf_mut(path.leaf().id).keep_to(kept - 1);
            (gap.first() - 1, (path.leaf().id, path.whole.first()))
        } else if self.gives_way_below(path, &next, gap) {
            let right = self.leaf_of(&next);
            let slot = right.slot_of(gap.last());
            let kept = slot + usize::from(right.span(slot, next.whole).1 == gap.last());
            let gone = right.rank(kept);
            words.extend((0..gone).map(|rank| right.ranked(rank)));
            self.len -= gone as u64;
            self.leaf_mut(next.leaf().id).keep_from(kept);
            (gap.last(), (next.leaf().id, next.whole.last()))
        } else {
            return false;
        };
        let fork = path.steps()[fork(path, &next)];
        self.inner_mut(fork.id).set_pivot(fork.slot as usize, edge);
        for (path, first, last) in
            [(path, path.whole.first(), edge), (&next, edge.saturating_add(1), next.whole.last())]
        {
            let whole = Span::new(first, last).unwrap_or(path.whole);
            let longest = self.leaf_of(path).largest_gap(whole);
            self.set_gap_above(path, path.above().len(), longest);
        }
        let (leaf, index) = shrunk;
        if self.leaf(leaf).used() < S::LEAF_MIN {
            self.settle(index);
        }
        true
    }

    /// Whether the gap is the first slot of the next leaf but for what it has in the path's leaf, which keeps a slot.
    fn gives_way_above(&self, path: &Path, next: &Path, gap: Span) -> bool {
        let right = self.leaf_of(next);
        path.whole.first() < gap.first() && !right.has_entry(0) && right.span(0, next.whole).1 == gap.last()
    }

    /// Whether the gap is the last slot of the path's leaf but for what it has in the next leaf, which keeps a slot.
    fn gives_way_below(&self, path: &Path, next: &Path, gap: Span) -> bool {
        let (left, slot) = (self.leaf_of(path), path.leaf().slot as usize);
        gap.last() < next.whole.last()
            && slot + 1 == left.len()
            && !left.has_entry(slot)
            && left.span(slot, path.whole).0 == gap.first()
    }
}
