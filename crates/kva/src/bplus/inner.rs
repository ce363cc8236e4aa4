//! An inner node: separators, children, and rows of what is known of the children.

use super::LeafNode;
use core::fmt;
use core::ops::Range;
use freehold_units::pool::{NO_NODE, NodeId, PoolNode};

/// Children of an inner node. Inner nodes are few and stay in the cache, so they are wide.
pub(crate) const FANOUT: usize = 64;

/// What inner nodes know of their children, an array for each fact.
pub(crate) trait Rows: Clone + fmt::Debug {
    /// What is known of one child.
    type Summary: Copy + PartialEq + fmt::Debug;
    /// Nothing known.
    const VACANT: Self;
    /// Sets what is known of a child.
    fn set(&mut self, slot: usize, summary: Self::Summary);
    /// What is known of all children together.
    fn total(&self, len: usize) -> Self::Summary;
    /// Copies what is known of some children to other slots.
    fn copy_within(&mut self, from: Range<usize>, to: usize);
    /// Copies what another node knows of some children.
    fn copy_from(&mut self, other: &Self, from: Range<usize>, to: usize);
}

/// No rows: the separators say all.
impl Rows for () {
    type Summary = ();
    const VACANT: Self = ();
    fn set(&mut self, _: usize, (): ()) {}
    fn total(&self, _: usize) {}
    fn copy_within(&mut self, _: Range<usize>, _: usize) {}
    fn copy_from(&mut self, (): &Self, _: Range<usize>, _: usize) {}
}

/// A child as its parent knows it.
#[derive(Clone, Copy)]
pub(crate) struct Child<L: LeafNode> {
    pub(crate) low: L::Key,
    pub(crate) id: NodeId,
    pub(crate) summary: <L::Rows as Rows>::Summary,
}

/// Up to [`FANOUT`] children in the order of their keys.
pub(crate) struct Inner<L: LeafNode> {
    len: usize,
    /// The first key of each child, or of its leftmost leaf: exact, but for the tree's first leaf (K8).
    pub(super) lows: [L::Key; FANOUT],
    children: [NodeId; FANOUT],
    pub(crate) rows: L::Rows,
}

impl<L: LeafNode> Clone for Inner<L> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), ..*self }
    }
}

impl<L: LeafNode> fmt::Debug for Inner<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("children", &&self.children[..self.len]).finish_non_exhaustive()
    }
}

impl<L: LeafNode> PoolNode for Inner<L> {
    const VACANT: Self =
        Self { len: 0, lows: L::NO_LOWS, children: [NO_NODE; FANOUT], rows: L::Rows::VACANT };

    fn link(&self) -> NodeId {
        self.children[0]
    }

    fn set_link(&mut self, next: NodeId) {
        self.len = 0;
        self.children[0] = next;
    }
}

impl<L: LeafNode> Inner<L> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn child(&self, slot: usize) -> NodeId {
        self.children[slot]
    }

    #[inline]
    pub(crate) fn low(&self, slot: usize) -> L::Key {
        self.lows[slot]
    }

    pub(super) fn set_low(&mut self, slot: usize, low: L::Key) {
        self.lows[slot] = low;
    }

    /// The child whose keys `key` lies among. What is below all keys belongs to the first.
    #[inline]
    pub(crate) fn child_for(&self, key: L::Key) -> usize {
        self.lows[1..self.len].partition_point(|&low| low <= key)
    }

    pub(super) fn push(&mut self, child: Child<L>) {
        self.insert(self.len, child);
    }

    /// Puts a child before the one at `slot`.
    pub(super) fn insert(&mut self, slot: usize, child: Child<L>) {
        self.lows.copy_within(slot..self.len, slot + 1);
        self.children.copy_within(slot..self.len, slot + 1);
        self.rows.copy_within(slot..self.len, slot + 1);
        self.lows[slot] = child.low;
        self.children[slot] = child.id;
        self.rows.set(slot, child.summary);
        self.len += 1;
    }

    pub(super) fn remove(&mut self, slot: usize) {
        self.lows.copy_within(slot + 1..self.len, slot);
        self.children.copy_within(slot + 1..self.len, slot);
        self.rows.copy_within(slot + 1..self.len, slot);
        self.len -= 1;
    }

    /// Moves the children from `keep` on to the end of `right`.
    pub(super) fn move_tail(&mut self, keep: usize, right: &mut Self) {
        let moved = keep..self.len;
        right.lows[right.len..][..moved.len()].copy_from_slice(&self.lows[moved.clone()]);
        right.children[right.len..][..moved.len()].copy_from_slice(&self.children[moved.clone()]);
        right.rows.copy_from(&self.rows, moved.clone(), right.len);
        right.len += moved.len();
        self.len = keep;
    }
}
