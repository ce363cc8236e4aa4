//! The inner structure of a B+tree: inner nodes separate leaves of any type by key.
//!
//! ```text
//!   inner   lows     |   0 | 200 | 580 |          child i holds the keys in lows[i]..lows[i + 1]
//!           bounds   |   7 |  90 |  12 |          no leaf below a child has more; a row for each class
//!                       |     |     +---------+
//!                       |     +------+        |
//!   leaves            [...]        [...]    [...]
//! ```
//!
//! The leaf type defines and moves its entries. This module keeps the nodes above the leaves, with upper bounds for
//! each child and each class of alignments ([`Classes`]). Nodes have no links to parents or neighbours: an operation
//! that changes the tree holds a [`LeafPath`].
//!
//! Invariants: K7 a node of a pool is in the tree once, or vacant; K8 separators ascend, no node except a root leaf is
//! empty, all leaves are at one height.
//!
//! Cost: O(log n) for each operation. Only [`Tree::reserve`] and a new alignment allocate memory.

mod classes;
mod grow;
mod inner;
mod path;
mod row;
mod shrink;
mod validate;

use freehold_units::OutOfMemory;
use freehold_units::pool::{NO_NODE, NodeId, NoneInline, Pool, PoolNode};

pub(crate) use classes::{Classes, usable_gap};
pub(crate) use inner::{Inner, Key};
use path::MAX_INNERS;
pub(crate) use path::{LeafPath, MAX_HEIGHT, Step};
pub(crate) use row::FANOUT;

/// A leaf of a tree.
pub(crate) trait LeafNode: PoolNode {
    /// The largest usable gap in the leaf: the part that starts at a multiple of the alignment `mask + 1`.
    fn largest_usable_gap(&self, mask: u64) -> u64;
}

/// A B+tree of leaves `L` that are ordered by `K`, with bounds of their usable gaps. With `height` 0 the root is a
/// leaf.
#[derive(Clone, Debug)]
pub(crate) struct Tree<L, K> {
    pub(crate) leaves: Pool<L>,
    pub(crate) inners: Pool<Inner<K>>,
    /// The alignments that inner nodes keep bounds for.
    pub(crate) classes: Classes,
    pub(crate) root: NodeId,
    /// Levels of inner nodes.
    pub(crate) height: usize,
}

impl<L: LeafNode, K: Key> Tree<L, K> {
    /// A tree without leaves.
    pub(crate) fn empty() -> Result<Self, OutOfMemory> {
        let (leaves, inners) = (Pool::new(NoneInline), Pool::new(NoneInline));
        Ok(Self { leaves, inners, classes: Classes::new()?, root: NO_NODE, height: 0 })
    }

    /// Reserves memory for `leaves` more leaves and the inner nodes that they may need.
    #[inline]
    pub(crate) fn reserve(&mut self, leaves: usize) -> Result<(), OutOfMemory> {
        // Each new leaf can split every level and add one.
        let inners = leaves.saturating_mul(self.height + 1);
        if self.leaves.vacant_len() >= leaves && self.inners.vacant_len() >= inners {
            return Ok(());
        }
        self.reserve_cold(leaves, inners)
    }

    #[cold]
    fn reserve_cold(&mut self, leaves: usize, inners: usize) -> Result<(), OutOfMemory> {
        // Many leaves need fewer: each existing node can split at most twice, and after that a node takes many children
        // before it is full again.
        let many = (2 * self.inners.in_use() + self.height + 1).saturating_add(leaves / (FANOUT / 4));
        let inners = inners.min(many);
        if self.height + 1 >= MAX_HEIGHT || self.inners.made().saturating_add(inners) > MAX_INNERS {
            return Err(OutOfMemory);
        }
        self.leaves.reserve(leaves)?;
        let classes = self.classes.masks().len();
        self.inners.reserve_with(inners, |inner| {
            inner.reserve_rows(classes)?;
            inner.make_rows(classes);
            Ok(())
        })
    }

    /// Bytes of memory held, including spare nodes.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.inners.made() * (self.classes.masks().len() - 1);
        self.leaves.bytes() + self.inners.bytes() + rows * size_of::<row::Row>()
    }
}
