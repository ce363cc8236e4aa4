//! Paths from the root to a leaf, and from a leaf to its neighbours.

use super::{FANOUT, Inner, Key, LeafNode, Tree};
use freehold_units::pool::{NO_NODE, NodeId};

/// One more than the height that [`Tree::reserve`] allows. With nine children for each node, ten levels hold 3 × 10⁹
/// leaves.
pub(crate) const MAX_HEIGHT: usize = 11;

/// A node on a path and the slot of the child below it, packed in one number because paths are copied often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step(u32);

/// Limit on the number of inner nodes; a tree always has fewer.
pub(super) const MAX_INNERS: usize = (u32::MAX as usize + 1) / FANOUT;

impl Step {
    /// A placeholder for a step that is not set.
    pub(crate) const NONE: Self = Self(0);

    #[inline]
    pub(crate) fn new(inner: NodeId, slot: usize) -> Self {
        debug_assert!((inner as usize) < MAX_INNERS && slot < FANOUT, "K8: a step holds its node and slot");
        Self(inner * FANOUT as u32 + slot as u32)
    }

    #[inline]
    pub(crate) fn inner(self) -> NodeId {
        self.0 / FANOUT as u32
    }

    #[inline]
    pub(crate) fn slot(self) -> usize {
        self.0 as usize % FANOUT
    }
}

/// A leaf and the nodes above it. Valid until the tree's shape changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafPath {
    pub(crate) leaf: NodeId,
    /// From the leaf's parent to the root.
    pub(crate) steps: [Step; MAX_HEIGHT],
}

impl LeafPath {
    /// A path that leads to no leaf.
    pub(crate) const NOWHERE: Self = Self { leaf: NO_NODE, steps: [Step::NONE; MAX_HEIGHT] };
}

impl<L: LeafNode, K: Key> Tree<L, K> {
    /// The path to the leaf that `key` belongs to.
    #[inline]
    pub(crate) fn path_to(&self, key: K) -> LeafPath {
        let mut path = LeafPath::NOWHERE;
        self.go_to(key, &mut path);
        path
    }

    /// The leaf that `key` belongs to, and its position in its parent: the part of a path that a look-up needs. `None` in
    /// an empty tree.
    #[inline(always)] // see `AddressSpace::region_at`
    pub(crate) fn leaf_for(&self, key: K) -> Option<(NodeId, Step)> {
        if self.root == NO_NODE {
            return None;
        }
        let (mut at, mut parent) = (self.root, Step::NONE);
        for _ in 0..self.height {
            let inner = &self.inners[at];
            let slot = inner.child_for(key);
            parent = Step::new(at, slot);
            at = inner.child(slot);
        }
        Some((at, parent))
    }

    #[inline]
    pub(crate) fn go_to(&self, key: K, path: &mut LeafPath) {
        self.descend(path, self.height, self.root, |inner| inner.child_for(key));
    }

    #[inline]
    fn descend(&self, path: &mut LeafPath, height: usize, top: NodeId, child: impl Fn(&Inner<K>) -> usize) {
        let mut at = top;
        for step in path.steps[..height].iter_mut().rev() {
            let inner = &self.inners[at];
            let slot = child(inner);
            *step = Step::new(at, slot);
            at = inner.child(slot);
        }
        path.leaf = at;
    }

    /// Moves to the next leaf. At the last one, returns `false` and does not change the path.
    pub(crate) fn next(&self, path: &mut LeafPath) -> bool {
        self.turn(path, 1, |_| 0)
    }

    /// Moves to the previous leaf. At the first one, returns `false` and does not change the path.
    pub(crate) fn previous(&self, path: &mut LeafPath) -> bool {
        self.turn(path, -1, |inner| inner.len() - 1)
    }

    fn turn(&self, path: &mut LeafPath, by: isize, down: impl Fn(&Inner<K>) -> usize) -> bool {
        for level in 0..self.height {
            let step = &mut path.steps[level];
            let slot = step.slot().wrapping_add_signed(by);
            let inner = &self.inners[step.inner()];
            if slot < inner.len() {
                *step = Step::new(step.inner(), slot);
                self.descend(path, level, inner.child(slot), down);
                return true;
            }
        }
        false
    }
}
