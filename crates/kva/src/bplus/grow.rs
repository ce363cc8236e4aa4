//! Inserts a leaf after an existing one, splitting full ancestors.

use super::inner::{Child, FANOUT, Inner};
use super::{Key, LeafPath, Tree};
use freehold_units::pool::{NodeId, PoolNode};

impl<L: PoolNode, K: Key, const ROWS: usize> Tree<L, K, ROWS> {
    /// A vacant leaf, which was reserved.
    pub(crate) fn take_leaf(&mut self) -> NodeId {
        let id = self.leaves.take();
        self.leaves[id] = L::VACANT;
        id
    }

    /// Puts `leaf`, whose keys start at `low`, behind the leaf at the end of `path`, of which `left` is known now.
    /// Nodes were reserved. Paths are void after it.
    pub(crate) fn insert_leaf(
        &mut self,
        path: &LeafPath,
        left: [i32; ROWS],
        low: K,
        leaf: NodeId,
        bounds: [i32; ROWS],
    ) {
        let (mut left, mut new) = (left, Child { low, id: leaf, bounds });
        for level in 0..self.height {
            let (id, slot) = (path.steps[level].inner(), path.steps[level].slot());
            let inner = &mut self.inners[id];
            inner.set_bounds(slot, left);
            if inner.len() < FANOUT {
                inner.insert(slot + 1, new);
                return self.sum_up(path, level);
            }
            new = self.split_inner(id, slot + 1, new);
            left = self.inners[id].total();
        }
        self.raise_root(path, left, new);
    }

    /// Splits a full node that is to have a new child at `slot`. The node to the right of it.
    fn split_inner(&mut self, id: NodeId, slot: usize, new: Child<K, ROWS>) -> Child<K, ROWS> {
        let right_id = self.inners.take();
        let mut right = Inner::VACANT;
        let left = &mut self.inners[id];
        // Leaves that are appended one after the other leave full nodes behind.
        let keep = if slot == FANOUT { FANOUT - 1 } else { FANOUT / 2 };
        left.move_tail(keep, &mut right);
        if slot <= keep {
            left.insert(slot, new);
        } else {
            right.insert(slot - keep, new);
        }
        let child = Child { low: right.low(0), id: right_id, bounds: right.total() };
        self.inners[right_id] = right;
        child
    }

    /// A root above the old one and its new neighbour.
    fn raise_root(&mut self, path: &LeafPath, left: [i32; ROWS], new: Child<K, ROWS>) {
        let mut root = Inner::VACANT;
        // What lies below all keys belongs to the first child, so its separator is never asked for.
        let low = match self.height.checked_sub(1) {
            Some(top) => self.inners[path.steps[top].inner()].low(0),
            None => new.low,
        };
        root.push(Child { low, id: self.root, bounds: left });
        root.push(new);
        self.root = self.inners.take();
        self.inners[self.root] = root;
        self.height += 1;
    }

    /// Puts right what the nodes above `level` know of it.
    pub(super) fn sum_up(&mut self, path: &LeafPath, level: usize) {
        for level in level + 1..self.height {
            let total = self.inners[path.steps[level - 1].inner()].total();
            let step = path.steps[level];
            self.inners[step.inner()].set_bounds(step.slot(), total);
        }
    }
}
