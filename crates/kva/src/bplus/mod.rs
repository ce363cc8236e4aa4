//! The shape of a B+tree: leaves of any kind below inner nodes that separate them by key.
//!
//! ```text
//!   inner   lows     |   0 | 200 | 580 |          child i holds the keys in lows[i]..lows[i + 1]
//!           rows     |   7 |  90 |  12 |          what a search must know of a child without entering it
//!                       |     |     +---------+
//!                       |     +------+        |
//!   leaves            [...]        [...]    [...]
//! ```
//!
//! A leaf says what its entries are, and moves them; this module keeps the nodes above it. Nodes know neither parent
//! nor neighbours: whoever changes the tree holds a [`LeafPath`].
//!
//! Invariants: K7 a node of a pool is in the tree once, or vacant; K8 separators ascend and are exact, no node but a
//! root leaf is empty, all leaves are at one height.
//! Cost: O(log n) for each operation. Memory is requested in [`Tree::reserve`] alone.

mod grow;
mod inner;
mod path;
mod shrink;
mod validate;

use freehold_units::OutOfMemory;
use freehold_units::pool::{NodeId, Pool, PoolNode};

pub(crate) use inner::{FANOUT, Inner, Rows};
use path::MAX_INNERS;
pub(crate) use path::{LeafPath, MAX_HEIGHT, Step};

/// What a tree needs of its leaves.
pub(crate) trait LeafNode: PoolNode {
    /// What leaves are ordered by.
    type Key: Copy + Ord;
    /// What inner nodes know of their children.
    type Rows: Rows;
    /// Separators of a vacant inner node.
    const NO_LOWS: [Self::Key; FANOUT];
}

/// A B+tree. With `height` 0 the root is a leaf.
#[derive(Debug)]
pub(crate) struct Tree<L: LeafNode> {
    pub(crate) leaves: Pool<L>,
    pub(crate) inners: Pool<Inner<L>>,
    pub(crate) root: NodeId,
    /// Levels of inner nodes.
    pub(crate) height: usize,
}

impl<L: LeafNode + Clone> Clone for Tree<L> {
    fn clone(&self) -> Self {
        Self { leaves: self.leaves.clone(), inners: self.inners.clone(), ..*self }
    }
}

impl<L: LeafNode> Tree<L> {
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
        if self.height + 1 >= MAX_HEIGHT || self.inners.made().saturating_add(inners) > MAX_INNERS {
            return Err(OutOfMemory);
        }
        self.leaves.reserve(leaves)?;
        self.inners.reserve(inners)
    }

    /// Bytes held, spare nodes included.
    pub(crate) fn bytes(&self) -> usize {
        self.leaves.bytes().saturating_add(self.inners.bytes())
    }
}
