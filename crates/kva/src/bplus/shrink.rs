//! Removes a leaf, merging underfull ancestors and freeing empty ones.

use super::inner::Inner;
use super::row::FANOUT;
use super::{Key, LeafNode, LeafPath, Step, Tree};
use freehold_units::pool::PoolNode;

/// A node with fewer children is merged with a neighbour, if the result is not full.
const FEW: usize = FANOUT / 4;
const JOINED: usize = FANOUT * 3 / 4;

impl<L: LeafNode, K: Key> Tree<L, K> {
    /// Removes the leaf at the end of `path`, which is not the only one, and makes it vacant. Invalidates paths.
    pub(crate) fn remove_leaf(&mut self, path: &LeafPath) {
        self.leaves.give_back(path.leaf);
        let mut level = 0;
        loop {
            debug_assert!(level < self.height, "K8: a tree has a leaf");
            let step = path.steps[level];
            self.inners[step.inner()].remove(step.slot());
            if self.inners[step.inner()].len() > 0 {
                if step.slot() == 0 {
                    self.raise_low(path, level + 1, self.inners[step.inner()].low(0));
                }
                break;
            }
            self.inners.give_back(step.inner());
            level += 1;
        }
        self.join_few(path, level);
        self.shrink_root();
    }

    /// Merges the leaf at the end of `path` with a sibling, if `join` can. `join` moves the entries of the right leaf
    /// to the left one, or changes nothing and returns `false`. Invalidates paths.
    pub(crate) fn join_leaf(&mut self, path: &LeafPath, mut join: impl FnMut(&mut L, &mut L) -> bool) {
        if self.height == 0 {
            return;
        }
        let (parent, slot) = (path.steps[0].inner(), path.steps[0].slot());
        for left in slot.saturating_sub(1)..(slot + 1).min(self.inners[parent].len() - 1) {
            let (left_id, right_id) = (self.inners[parent].child(left), self.inners[parent].child(left + 1));
            let mut right = core::mem::replace(&mut self.leaves[right_id], L::VACANT);
            if join(&mut self.leaves[left_id], &mut right) {
                self.measure(Step::new(parent, left), 0);
                let mut path = LeafPath { leaf: right_id, ..*path };
                path.steps[0] = Step::new(parent, left + 1);
                return self.remove_leaf(&path);
            }
            self.leaves[right_id] = right;
        }
    }

    /// Updates the separators after the first key of the leaf at the end of `path` has become `low`.
    pub(crate) fn set_low(&mut self, path: &LeafPath, low: K) {
        self.raise_low(path, 0, low);
    }

    /// Sets separators from `level` upwards, up to the first node in which the path does not take the first child.
    fn raise_low(&mut self, path: &LeafPath, level: usize, low: K) {
        for step in &path.steps[level.min(self.height)..self.height] {
            self.inners[step.inner()].set_low(step.slot(), low);
            if step.slot() > 0 {
                break;
            }
        }
    }

    /// Goes up from `level`, merges nodes that have few children with a neighbour, and updates the bounds of each.
    fn join_few(&mut self, path: &LeafPath, level: usize) {
        for level in level..self.height - 1 {
            let (below, parent) = (path.steps[level].inner(), path.steps[level + 1]);
            self.measure(parent, level + 1);
            if self.inners[below].len() < FEW {
                let left = parent.slot().saturating_sub(1);
                if !self.join_children(Step::new(parent.inner(), left), level + 1) {
                    self.join_children(parent, level + 1);
                }
            }
        }
    }

    /// Merges a child that lies `height` levels above the leaves with the next one, if there is one and the result is
    /// not too full.
    fn join_children(&mut self, at: Step, height: usize) -> bool {
        let (node, slot) = (&self.inners[at.inner()], at.slot());
        if slot + 1 >= node.len() {
            return false;
        }
        let (left, right) = (node.child(slot), node.child(slot + 1));
        if self.inners[left].len() + self.inners[right].len() > JOINED {
            return false;
        }
        let mut gone = core::mem::replace(&mut self.inners[right], Inner::VACANT);
        gone.move_tail(0, &mut self.inners[left]);
        self.inners[right] = gone;
        self.inners.give_back(right);
        self.measure(at, height);
        self.inners[at.inner()].remove(slot + 1);
        true
    }

    fn shrink_root(&mut self) {
        while self.height > 0 && self.inners[self.root].len() == 1 {
            let root = self.root;
            self.root = self.inners[root].child(0);
            self.inners.give_back(root);
            self.height -= 1;
        }
    }
}
