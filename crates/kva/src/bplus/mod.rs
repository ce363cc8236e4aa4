//! The shape of a B+tree: leaves of any kind below inner nodes that separate them by key.
//!
//! ```text
//!   inner   lows     |   0 | 200 | 580 |          child i holds the keys in lows[i]..lows[i + 1]
//!           bounds   |   7 |  90 |  12 |          no leaf below a child has more; a row for each class
//!                       |     |     +---------+
//!                       |     +------+        |
//!   leaves            [...]        [...]    [...]
//! ```
//!
//! A leaf says what its entries are, and moves them; this module keeps the nodes above it, and in them bounds of what
//! is below for each class of alignments ([`Classes`]). Nodes know neither parent
//! nor neighbours: whoever changes the tree holds a [`LeafPath`].
//!
//! Invariants: K7 a node of a pool is in the tree once, or vacant; K8 separators ascend, no node but a
//! root leaf is empty, all leaves are at one height.
//! Cost: O(log n) for each operation. Memory is requested in [`Tree::reserve`], and for an alignment that is new.

mod classes;
mod grow;
mod inner;
mod path;
mod row;
mod shrink;
mod validate;

use freehold_units::OutOfMemory;
use freehold_units::pool::{NO_NODE, NodeId, NoneInline, Pool, PoolNode};

pub(crate) use classes::{Classes, room};
pub(crate) use inner::{Inner, Key};
use path::MAX_INNERS;
pub(crate) use path::{LeafPath, MAX_HEIGHT, Step};
pub(crate) use row::FANOUT;

/// What a tree's leaves are.
pub(crate) trait LeafNode: PoolNode {
    /// The largest part of a gap in the leaf that starts at a multiple of an alignment, which is given less one.
    fn largest_room(&self, mask: u64) -> u64;
}

/// A B+tree of leaves `L` that are ordered by `K`, with bounds of their rooms. With `height` 0 the root is a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Tree<L, K> {
    pub(crate) leaves: Pool<L>,
    pub(crate) inners: Pool<Inner<K>>,
    /// The alignments that there are bounds for.
    pub(crate) classes: Classes,
    pub(crate) root: NodeId,
    /// Levels of inner nodes.
    pub(crate) height: usize,
}

impl<L: LeafNode, K: Key> Tree<L, K> {
    /// A tree without leaf.
    pub(crate) fn empty() -> Result<Self, OutOfMemory> {
        let (leaves, inners) = (Pool::new(NoneInline), Pool::new(NoneInline));
        Ok(Self { leaves, inners, classes: Classes::new()?, root: NO_NODE, height: 0 })
    }

    /// Makes sure that `leaves` more leaves can be inserted without asking for memory.
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
        // Of many leaves, the first can split each node there is, and once more what is left of it; then a node takes a good
        // many children before it is full again.
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

    /// Bytes held, spare nodes included.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.inners.made() * (self.classes.masks().len() - 1);
        self.leaves.bytes() + self.inners.bytes() + rows * size_of::<row::Row>()
    }
}
