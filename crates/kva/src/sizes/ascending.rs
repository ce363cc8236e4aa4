//! A walk over the blocks that can serve a request, smallest first.
//!
//! The walk descends into the first child whose bound is large enough, as a search by address does. When it leaves a
//! leaf, it makes the leaf's bound exact. So each fruitless visit is amortized against the change that left the bound
//! too high.

use super::Sizes;
use super::keys::{block, smallest_of, usable_gap_of};
use crate::bplus::{LeafPath, Step};
use freehold_units::pool::NO_NODE;
use freehold_units::{Probe, Span, Work};

/// The blocks that have `size_bytes` at a multiple of an alignment, ordered by size, then by address.
pub(crate) struct Ascending<'a> {
    sizes: &'a Sizes,
    size_bytes: u64,
    /// The alignment minus one.
    mask: u64,
    /// The class whose bounds select children.
    class: usize,
    /// The path to the current leaf, which is [`NO_NODE`] after the last one.
    path: LeafPath,
    /// Number of keys of the leaf that the walk has passed.
    passed: usize,
}

impl Sizes {
    /// Starts a walk. Cost of the walk: O(log n) amortized to the first block, if the alignment has a class, and O(log
    /// n) for each further block.
    pub(crate) fn ascending(&self, size_bytes: u64, mask: u64, probe: &mut impl Probe) -> Ascending<'_> {
        let class = self.tree.classes.class_for(mask);
        let path = LeafPath { leaf: self.tree.root, ..LeafPath::NOWHERE };
        let mut walk = Ascending { sizes: self, size_bytes, mask, class, path, passed: 0 };
        if let Some(top) = self.tree.height.checked_sub(1) {
            walk.path.steps[top] = Step::new(self.tree.root, 0);
            walk.seek(top, self.tree.inners[self.tree.root].begin(None, walk.smallest()), probe);
        }
        walk
    }
}

impl Ascending<'_> {
    /// The next block.
    pub(crate) fn next(&mut self, probe: &mut impl Probe) -> Option<Span> {
        while self.path.leaf != NO_NODE {
            probe.count(Work::NodeVisited, 1);
            let keys = self.sizes.tree.leaves[self.path.leaf].keys();
            self.passed = self.passed.max(keys.partition_point(|&key| key < self.smallest()));
            let mut rest = keys[self.passed..].iter().map(|&key| block(key));
            if let Some(at) = rest.position(|block| usable_gap_of(block, self.mask) >= self.size_bytes) {
                self.passed += at + 1;
                return Some(block(keys[self.passed - 1]));
            }
            self.leave_leaf(probe);
        }
        None
    }

    /// The lowest key of blocks that are large enough.
    fn smallest(&self) -> u128 {
        smallest_of(self.size_bytes - 1)
    }

    fn leave_leaf(&mut self, probe: &mut impl Probe) {
        let tree = &self.sizes.tree;
        if tree.height == 0 {
            self.path.leaf = NO_NODE;
            return;
        }
        let parent = self.path.steps[0];
        let usable = tree.most_below(parent, 0, self.class);
        tree.inners[parent.inner()].row(self.class).set(parent.slot(), usable);
        self.seek(0, parent.slot() + 1, probe);
    }

    /// Moves to the first leaf with a large enough bound: below the children from `from` on of the node at `level`, or
    /// after that node.
    fn seek(&mut self, mut level: usize, mut from: usize, probe: &mut impl Probe) {
        let tree = &self.sizes.tree;
        loop {
            probe.count(Work::NodeVisited, 1);
            let id = self.path.steps[level].inner();
            let inner = &tree.inners[id];
            if let Some(slot) = inner.first_with_shared(self.class, self.size_bytes, from) {
                self.path.steps[level] = Step::new(id, slot);
                let child = inner.child(slot);
                let Some(below) = level.checked_sub(1) else {
                    (self.path.leaf, self.passed) = (child, 0);
                    return;
                };
                (level, from) = (below, tree.inners[child].begin(None, self.smallest()));
                self.path.steps[level] = Step::new(child, 0);
            } else {
                level += 1;
                if level == tree.height {
                    self.path.leaf = NO_NODE;
                    return;
                }
                let above = self.path.steps[level];
                let usable = tree.most_below(above, level, self.class);
                tree.inners[above.inner()].row(self.class).set(above.slot(), usable);
                from = above.slot() + 1;
            }
        }
    }
}
