//! Inserts a leaf after an existing one, splitting full ancestors.

use super::inner::{Child, Inner};
use super::row::FANOUT;
use super::{Key, LeafNode, LeafPath, Step, Tree};
use freehold_units::pool::{NodeId, PoolNode};

impl<L: LeafNode, K: Key> Tree<L, K> {
    /// Takes a reserved leaf from the pool.
    pub(crate) fn take_leaf(&mut self) -> NodeId {
        let id = self.leaves.take();
        self.leaves[id] = L::VACANT;
        id
    }

    /// Inserts `leaf`, whose keys start at `low`, after the leaf at the end of `path`, and computes the bounds of both.
    /// The caller has reserved the nodes. Invalidates paths.
    pub(crate) fn insert_leaf(&mut self, path: &LeafPath, low: K, leaf: NodeId) {
        let mut new = Child { low, id: leaf };
        for level in 0..self.height {
            let (at, behind) = (path.steps[level], path.steps[level].slot() + 1);
            self.measure(at, level);
            let inner = &mut self.inners[at.inner()];
            if inner.len() < FANOUT {
                inner.insert(behind, new);
                self.measure(Step::new(at.inner(), behind), level);
                return self.sum_up(path, level);
            }
            new = self.split_inner(at.inner(), behind, new, level);
        }
        self.raise_root(path, new);
    }

    /// Splits a full node to insert a new child at `slot`. Returns the new node on its right.
    fn split_inner(&mut self, id: NodeId, slot: usize, new: Child<K>, level: usize) -> Child<K> {
        let right_id = self.inners.take();
        let mut right = core::mem::replace(&mut self.inners[right_id], Inner::VACANT);
        let left = &mut self.inners[id];
        // Appending leaves in key order leaves full nodes behind.
        let keep = if slot == FANOUT { FANOUT - 1 } else { FANOUT / 2 };
        left.move_tail(keep, &mut right);
        let at = if slot <= keep {
            left.insert(slot, new);
            Step::new(id, slot)
        } else {
            right.insert(slot - keep, new);
            Step::new(right_id, slot - keep)
        };
        let child = Child { low: right.low(0), id: right_id };
        self.inners[right_id] = right;
        self.measure(at, level);
        child
    }

    /// Adds a root above the old one and its new neighbour.
    fn raise_root(&mut self, path: &LeafPath, new: Child<K>) {
        // Keys below all separators belong to the first child, so its separator is never read.
        let low = match self.height.checked_sub(1) {
            Some(top) => self.inners[path.steps[top].inner()].low(0),
            None => new.low,
        };
        let left = Child { low, id: self.root };
        self.root = self.inners.take();
        self.inners[self.root].push(left);
        self.inners[self.root].push(new);
        (0..2).for_each(|slot| self.measure(Step::new(self.root, slot), self.height));
        self.height += 1;
    }

    /// Updates the bounds of the nodes above `level`.
    pub(super) fn sum_up(&mut self, path: &LeafPath, level: usize) {
        for level in level + 1..self.height {
            self.measure(path.steps[level], level);
        }
    }

    /// Recomputes the bounds of a child that lies `height` levels above the leaves.
    pub(crate) fn measure(&mut self, at: Step, height: usize) {
        for class in 0..self.classes.masks().len() {
            let most = self.most_below(at, height, class);
            self.inners[at.inner()].row(class).set(at.slot(), most);
        }
    }

    /// The upper bound for a child in a class, computed from the child itself.
    pub(crate) fn most_below(&self, at: Step, height: usize, class: usize) -> u64 {
        let child = self.inners[at.inner()].child(at.slot());
        match height {
            0 => self.leaves[child].largest_usable_gap(self.classes.masks()[class]),
            _ => self.inners[child].most(class),
        }
    }
}
