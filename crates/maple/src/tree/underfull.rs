//! Underfull nodes are merged with a neighbour, or take slots or children from it. This takes no node.
//!
//! Rebalances top-down: each node on the path is refilled before descending, so it can afford to lose a child.

use super::path::Step;
use super::{Memory, Tree, indexes};
use crate::node::{Child, Extent, Inner, NONE, NodeId};
use arrayvec::ArrayVec;
use freehold_units::Span;

impl<M: Memory> Tree<M> {
    /// Refills or merges every underfull node on the path to an index.
    pub(super) fn fix_underfull_path(&mut self, index: u64) {
        self.lower_root();
        let (mut id, mut whole) = (self.root, Span::ALL);
        for height in (1..self.height).rev() {
            let mut slot = self.inner(id).slot_of(index);
            while self.inner(id).len() > 1 && self.is_underfull(self.inner(id).child(slot), height) {
                let left = slot.min(self.inner(id).len() - 2);
                if height == 1 {
                    self.join_leaves(id, left, whole);
                } else {
                    self.join_inners(id, left, height);
                }
                slot = self.inner(id).slot_of(index);
            }
            whole = child_span(self.inner(id), slot, whole);
            id = self.inner(id).child(slot);
        }
        self.lower_root();
    }

    /// Replaces a root with one child by that child, and removes a root leaf that is one gap.
    fn lower_root(&mut self) {
        while self.height > 1 && self.inner(self.root).len() == 1 {
            let root = self.root;
            self.set_root(self.inner(root).child(0), self.height - 1);
            self.free_inner(root);
        }
        if self.height == 1 && self.len == 0 {
            self.free_leaf(self.root);
            self.set_root(NONE, 0);
        }
    }

    pub(super) fn set_root(&mut self, root: NodeId, height: usize) {
        self.root = root;
        self.height = height;
    }

    pub(super) fn is_underfull(&self, id: NodeId, height: usize) -> bool {
        if height == 1 {
            self.leaf(id).len() < self.limits.leaf_min
        } else {
            self.inner(id).len() <= self.limits.inner_min
        }
    }

    /// Merges the leaves `slot` and `slot + 1` of a parent, or, if they do not fit one leaf, makes them of equal size.
    fn join_leaves(&mut self, parent: NodeId, slot: usize, whole: Span) {
        let inner = self.inner(parent);
        let (left, right) = (inner.child(slot), inner.child(slot + 1));
        let (left_span, right_span) = (child_span(inner, slot, whole), child_span(inner, slot + 1, whole));
        let (left_leaf, right_leaf) = (self.leaf(left), self.leaf(right));
        if left_leaf.len() + right_leaf.len() <= self.limits.leaf_slots {
            // No gap becomes longer: gaps never follow each other from one leaf to the next (M2).
            let gap = inner.gap(slot).max(inner.gap(slot + 1));
            let right_leaf = right_leaf.clone();
            let left = self.thaw_child(at(parent, slot), 1);
            self.leaf_mut(left).append(left_span.last(), &right_leaf);
            self.remove_joined(parent, slot);
            self.inner_mut(parent).set_gap(slot, gap);
            self.free_leaf(right);
            return;
        }
        let (mut low, mut high) = (left_leaf.clone(), right_leaf.clone());
        let half = usize::midpoint(low.len(), high.len());
        let last = low.share(left_span.last(), &mut high, half);
        let low_span = indexes(left_span.first(), last);
        let high_span = indexes(last + 1, right_span.last());
        let gaps = (low.largest_gap(low_span), high.largest_gap(high_span));
        let [left, right] = [slot, slot + 1].map(|slot| self.thaw_child(at(parent, slot), 1));
        *self.leaf_mut(left) = low;
        *self.leaf_mut(right) = high;
        self.set_parted(parent, slot, last, gaps);
    }

    /// Merges the inner nodes `slot` and `slot + 1` of a parent, or, if they do not fit one node, makes them of equal
    /// size. `height` is their number of levels.
    fn join_inners(&mut self, parent: NodeId, slot: usize, height: usize) {
        let inner = self.inner(parent);
        let (left, right) = (inner.child(slot), inner.child(slot + 1));
        let children: ArrayVec<Child, 32> = self
            .inner(left)
            .to_children(inner.pivot(slot))
            .chain(self.inner(right).to_children(u64::MAX))
            .collect();
        if children.len() <= self.limits.fanout {
            let merged = Inner::from_children(&children);
            let gap = merged.largest_gap();
            let left = self.thaw_child(at(parent, slot), height);
            *self.inner_mut(left) = merged;
            self.remove_joined(parent, slot);
            self.inner_mut(parent).set_gap(slot, gap);
            self.free_inner(right);
            return;
        }
        let (low, high) = children.split_at(children.len() / 2);
        let last = low[low.len() - 1].last;
        let (low, high) = (Inner::from_children(low), Inner::from_children(high));
        let gaps = (low.largest_gap(), high.largest_gap());
        let [left, right] = [slot, slot + 1].map(|slot| self.thaw_child(at(parent, slot), height));
        *self.inner_mut(left) = low;
        *self.inner_mut(right) = high;
        self.set_parted(parent, slot, last, gaps);
    }

    /// Makes child `slot` end at `last` and child `slot + 1` begin after it, and records the longest gap of each.
    fn set_parted(&mut self, parent: NodeId, slot: usize, last: u64, gaps: (Extent, Extent)) {
        let inner = self.inner_mut(parent);
        inner.set_pivot(slot, last);
        inner.set_gap(slot, gaps.0);
        inner.set_gap(slot + 1, gaps.1);
    }

    /// Removes child `slot + 1`, whose content is in child `slot` now.
    fn remove_joined(&mut self, parent: NodeId, slot: usize) {
        let inner = self.inner_mut(parent);
        let last = inner.pivot(slot + 1);
        inner.remove(slot + 1, slot + 2);
        inner.set_pivot(slot, last);
    }
}

/// The step from a node to its child `slot`.
fn at(id: NodeId, slot: usize) -> Option<Step> {
    Some(Step { id, slot: slot as u32 })
}

/// The index range of child `slot`; `whole` is the node's.
fn child_span(inner: &Inner, slot: usize, whole: Span) -> Span {
    let first = if slot == 0 { whole.first() } else { inner.pivot(slot - 1) + 1 };
    indexes(first, inner.pivot(slot).min(whole.last()))
}
