//! Moving the edge between two leaves: what is removed beside a gap of the other leaf becomes part of that gap.
//!
//! ```text
//!   before   ... | entry | entry ||  gap  | entry | ...       the left leaf gives way
//!   after    ... | entry ||      gap      | entry | ...
//!
//!   before   ... | entry |  gap  || entry | entry | ...       the right leaf does
//!   after    ... | entry |      gap      || entry | ...
//! ```
//!
//! A slot at the end of a leaf starts or ends where the leaf does, which its ancestors know: the gap needs no change, and
//! there is nothing to take a node for.

use super::removed::Words;
use super::spanning::fork;
use super::{Path, Tree, indexes};
use crate::node::Leaf;
use freehold_units::Span;

/// How an entry grows into the next leaf's first slot, a gap that it leaves some of.
struct Growth {
    /// To the next leaf.
    next: Path,
    /// The last index of its gap.
    end: u64,
}

/// Which of two leaves gives way; it keeps a slot or more.
#[derive(Clone, Copy)]
enum GivesWay {
    Left,
    Right,
}

impl Tree {
    /// Whether [`move_edge`](Self::move_edge) will do what is asked of it.
    pub(super) fn can_move_edge(&self, path: &Path, gap: Span) -> bool {
        self.giving_way(path, gap).is_some()
    }

    /// Makes a gap of the range, which begins in the path's leaf and ends in the next, if one of the two has all of it that
    /// is beyond the other as a gap already. False if that is not so; nothing has changed then.
    pub(super) fn move_edge(&mut self, path: &Path, gap: Span, words: &mut Words) -> bool {
        let Some((gives_way, next)) = self.giving_way(path, gap) else { return false };
        let known = words.len();
        let (edge, shrunk, index) = match gives_way {
            GivesWay::Left => {
                let leaf = self.leaf_of(path);
                let slot = path.leaf().slot as usize;
                let kept = slot + usize::from(leaf.span(slot, path.whole).0 < gap.first());
                let gone = leaf.rank(kept)..leaf.entries();
                words.extend(gone.map(|rank| leaf.ranked(rank)));
                self.leaf_mut(path.leaf().id).keep_to(kept - 1);
                (gap.first() - 1, path.leaf().id, path.whole.first())
            }
            GivesWay::Right => {
                let leaf = self.leaf_of(&next);
                let slot = leaf.slot_of(gap.last());
                let kept = slot + usize::from(leaf.span(slot, next.whole).1 == gap.last());
                words.extend((0..leaf.rank(kept)).map(|rank| leaf.ranked(rank)));
                self.leaf_mut(next.leaf().id).keep_from(kept);
                (gap.last(), next.leaf().id, next.whole.last())
            }
        };
        self.len -= (words.len() - known) as u64;
        self.set_edge(path, &next, edge);
        if self.leaf(shrunk).used() < self.limits.leaf_min {
            self.fix_underfull_path(index);
        }
        true
    }

    /// Prepares the store of an entry that begins in the path's leaf and ends within the next leaf's first slot, a gap. What is
    /// left of that gap comes into the path's leaf, so that the entry grows further without leaving it; the store is then one
    /// in this leaf. False if the leaf has no room for that, or the store ends elsewhere; nothing has changed then.
    pub(super) fn grow_into_gap(&mut self, path: &mut Path, span: Span, removed: &mut Words) -> bool {
        let Some(Growth { next, end }) = self.growth(path, span) else { return false };
        let (slot, id) = (path.leaf().slot as usize, path.leaf().id);
        let leaf = self.leaf(id);
        let known = removed.len();
        removed.extend((leaf.rank(slot + 1)..leaf.entries()).map(|rank| leaf.ranked(rank)));
        self.len -= (removed.len() - known) as u64;
        let leaf = self.leaf_mut(id);
        leaf.keep_to(slot);
        leaf.push(span.last(), None);
        self.leaf_mut(next.leaf().id).keep_from(1);
        self.set_edge(path, &next, end);
        path.whole = indexes(path.whole.first(), end);
        true
    }

    fn growth(&self, path: &Path, span: Span) -> Option<Growth> {
        let (leaf, slot) = (self.leaf_of(path), path.leaf().slot as usize);
        // What the leaf has afterwards at most: the slots up to this one, the new one, the gap; an entry for each that
        // has one now, and the new one.
        if slot + 2 + leaf.rank(slot + 1) + 1 > self.limits.leaf_words {
            return None;
        }
        // The next leaf nearly always has the same parent, and nearly always this is not the case: no walk for that.
        let ends_in_gap =
            |right: &Leaf| !right.has_entry(0) && right.len() > 1 && span.last() < right.pivot(0);
        let step = path.above().last()?;
        let (parent, behind) = (self.inner(step.id), step.slot as usize + 1);
        if behind < parent.len() && !ends_in_gap(self.leaf(parent.child(behind))) {
            return None;
        }
        let mut next = Path::new();
        let right = self.walk(path.whole.last().checked_add(1)?, &mut next);
        ends_in_gap(right).then(|| Growth { end: right.pivot(0), next })
    }

    /// The path's leaf ends at `edge` from now on, and the next begins behind it; what is known of both is put right.
    fn set_edge(&mut self, path: &Path, next: &Path, edge: u64) {
        let fork = path.steps()[fork(path, next)];
        self.inner_mut(fork.id).set_pivot(fork.slot as usize, edge);
        let both = path.whole.hull(next.whole);
        let left = indexes(both.first(), edge);
        let right = indexes(edge + 1, both.last());
        for (path, whole) in [(path, left), (next, right)] {
            let longest = self.leaf_of(path).largest_gap(whole);
            self.set_gap_above(path, path.above().len(), longest);
        }
    }

    /// Which of the path's leaf and the next gives way to the gap, and the way to the next.
    fn giving_way(&self, path: &Path, gap: Span) -> Option<(GivesWay, Path)> {
        let behind = path.whole.last().checked_add(1)?;
        let mut next = Path::new();
        let right = self.walk(behind, &mut next);
        if path.whole.first() < gap.first()
            && !right.has_entry(0)
            && right.span(0, next.whole).1 == gap.last()
        {
            return Some((GivesWay::Left, next));
        }
        let (left, slot) = (self.leaf_of(path), path.leaf().slot as usize);
        let right_gives_way = gap.last() < next.whole.last()
            && slot + 1 == left.len()
            && !left.has_entry(slot)
            && left.span(slot, path.whole).0 == gap.first();
        right_gives_way.then_some((GivesWay::Right, next))
    }
}
