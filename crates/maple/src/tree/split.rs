//! Splits an overflowing leaf, and its full ancestors.

use super::{Memory, Path, Tree, indexes};
use crate::entry::Word;
use crate::node::{Child, Extent, Inner, Replace};
use arrayvec::ArrayVec;
use freehold_units::Span;

impl<M: Memory> Tree<M> {
    /// Makes an edit for which the path's leaf has no room: the leaf's upper slots move to a new leaf first.
    pub(super) fn split(&mut self, path: &Path, edit: &Replace, entry: Option<Word>, second: Option<Word>) {
        let id = path.leaf().id;
        let at = edit.split_point(&self.limits);
        let full = self.leaf(id).clone();
        let last = full.pivot(at - 1);
        self.leaf_mut(id).keep_to(at - 1);
        let upper = self.new_leaf(|leaf| {
            leaf.clone_from(&full);
            leaf.keep_from(at);
        });
        let (below, above) = part(path.whole, last);
        let (half, half_whole) = if edit.is_above(at) { (upper, above) } else { (id, below) };
        let half = &mut self.leaves[half];
        let edit = edit.in_half(half, half_whole, at);
        edit.apply(half, entry, second);
        let (gap, gap_above) = (self.leaf(id).largest_gap(below), self.leaf(upper).largest_gap(above));
        self.insert_child(path, gap, Child { id: upper, gap: gap_above, last }, id);
    }

    /// Inserts a new child after the one that a path leads to, its predecessor. `child.last` is the predecessor's new
    /// last index, `gap_left` its longest gap. `first` is the predecessor itself, which a new root needs.
    fn insert_child(&mut self, path: &Path, mut gap_left: Extent, mut child: Child, mut first: u32) {
        let fanout = self.limits.fanout;
        for (depth, step) in path.above().iter().enumerate().rev() {
            let slot = step.slot as usize;
            let inner = self.inner_mut(step.id);
            inner.set_gap(slot, gap_left);
            if inner.len() < fanout {
                inner.insert_after(slot, child.last, child.id, child.gap);
                if depth > 0 {
                    let longest = inner.largest_gap();
                    self.set_gap_above(path, depth, longest);
                }
                return;
            }
            let (left, right, last) = halves(inner, slot, child);
            *inner = left;
            gap_left = inner.largest_gap();
            first = step.id;
            let gap = right.largest_gap();
            child = Child { id: self.new_inner(right), gap, last };
        }
        let old_root = Child { id: first, gap: gap_left, last: child.last };
        let root = self.new_inner(Inner::from_children(&[old_root, child]));
        self.set_root(root, self.height + 1);
    }
}

/// Splits a full node with one more child after child `slot`. Returns both halves, and the last index of the first.
/// More children are likely to follow at an end where one was added, so the half away from that end stays nearly full.
fn halves(inner: &Inner, slot: usize, child: Child) -> (Inner, Inner, u64) {
    let mut children: ArrayVec<Child, 17> = inner.to_children(u64::MAX).collect();
    let behind = children[slot].last;
    children[slot].last = child.last;
    children.insert(slot + 1, Child { last: behind, ..child });
    let len = children.len();
    let at = match slot + 1 {
        place if place + 1 == len => len - 2,
        1 => 2,
        _ => len / 2,
    };
    (Inner::from_children(&children[..at]), Inner::from_children(&children[at..]), children[at - 1].last)
}

/// A leaf's index range, split after `last`.
fn part(whole: Span, last: u64) -> (Span, Span) {
    let below = indexes(whole.first(), last);
    (below, indexes(last + 1, whole.last()))
}
