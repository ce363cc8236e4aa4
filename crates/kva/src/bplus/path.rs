//! The way from the root to a leaf, and from a leaf to its neighbours.

use super::{LeafNode, Tree};
use freehold_units::pool::{NO_NODE, NodeId};

/// More levels than a tree can have: two neighbours that are joined only when they are few still have nine children
/// each on average, so twelve levels are more than 2^32 leaves need. [`Tree::reserve`] refuses a higher tree.
pub(crate) const MAX_HEIGHT: usize = 12;

/// A node on a path, and which of its children comes next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) inner: NodeId,
    pub(crate) slot: u32,
}

impl Step {
    #[inline]
    pub(crate) fn slot(self) -> usize {
        self.slot as usize
    }
}

/// A leaf, and the nodes above it. Valid until the tree's shape changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafPath {
    pub(crate) leaf: NodeId,
    /// From the leaf's parent to the root.
    pub(crate) steps: [Step; MAX_HEIGHT],
}

impl LeafPath {
    /// No leaf yet.
    pub(crate) const NOWHERE: Self =
        Self { leaf: NO_NODE, steps: [Step { inner: NO_NODE, slot: 0 }; MAX_HEIGHT] };
}

/// Which child to go down to.
#[derive(Clone, Copy)]
enum Turn<K> {
    For(K),
    First,
    Last,
}

impl<L: LeafNode> Tree<L> {
    /// The path to the leaf that `key` belongs to.
    #[inline]
    pub(crate) fn path_to(&self, key: L::Key) -> LeafPath {
        self.path(Turn::For(key))
    }

    pub(crate) fn first_path(&self) -> LeafPath {
        self.path(Turn::First)
    }

    #[inline]
    fn path(&self, turn: Turn<L::Key>) -> LeafPath {
        let mut path = LeafPath::NOWHERE;
        self.descend(&mut path, self.height, self.root, turn);
        path
    }

    #[inline]
    fn descend(&self, path: &mut LeafPath, height: usize, top: NodeId, turn: Turn<L::Key>) {
        let mut at = top;
        for step in path.steps[..height].iter_mut().rev() {
            let inner = &self.inners[at];
            let slot = match turn {
                Turn::For(key) => inner.child_for(key),
                Turn::First => 0,
                Turn::Last => inner.len() - 1,
            };
            *step = Step { inner: at, slot: slot as u32 };
            at = inner.child(slot);
        }
        path.leaf = at;
    }

    /// Goes on to the next leaf. `false` at the last one: then the path has not changed.
    pub(crate) fn next(&self, path: &mut LeafPath) -> bool {
        self.turn(path, 1, Turn::First)
    }

    /// Goes back to the leaf before. `false` at the first one: then the path has not changed.
    pub(crate) fn previous(&self, path: &mut LeafPath) -> bool {
        self.turn(path, -1, Turn::Last)
    }

    fn turn(&self, path: &mut LeafPath, by: isize, down: Turn<L::Key>) -> bool {
        for level in 0..self.height {
            let step = &mut path.steps[level];
            let slot = step.slot().wrapping_add_signed(by);
            let inner = &self.inners[step.inner];
            if slot < inner.len() {
                step.slot = slot as u32;
                self.descend(path, level, inner.child(slot), down);
                return true;
            }
        }
        false
    }
}
