//! The shape of a B+tree: leaves of any kind below inner nodes that separate them by key.
//!
//! ```text
//!   inner   lows     |   0 | 200 | 580 |          child i holds the keys in lows[i]..lows[i + 1]
//!           bounds   |   7 |  90 |  12 |          no leaf below a child has more; a row for each measure
//!                       |     |     +---------+
//!                       |     +------+        |
//!   leaves            [...]        [...]    [...]
//! ```
//!
//! A leaf says what its entries are, and moves them; this module keeps the nodes above it, and in them bounds of what
//! is below, by [`Measures`] that may grow in number. Nodes know neither parent
//! nor neighbours: whoever changes the tree holds a [`LeafPath`].
//!
//! Invariants: K7 a node of a pool is in the tree once, or vacant; K8 separators ascend, no node but a
//! root leaf is empty, all leaves are at one height.
//! Cost: O(log n) for each operation. Memory is requested in [`Tree::reserve`] and [`Tree::add_measure`] alone.

mod grow;
mod inner;
mod path;
mod row;
mod shrink;
mod validate;

use freehold_units::OutOfMemory;
use freehold_units::pool::{NO_NODE, NodeId, NoneInline, Pool, PoolNode};

pub(crate) use inner::{FANOUT, Inner, Key};
use path::MAX_INNERS;
pub(crate) use path::{LeafPath, MAX_HEIGHT, Step};

/// What inner nodes keep bounds of.
pub(crate) trait Measures<L> {
    /// How many there are.
    fn count(&self) -> usize;
    /// What a leaf has in one of them.
    fn of(&self, leaf: &L, measure: usize) -> u64;
}

/// No bounds.
impl<L> Measures<L> for () {
    fn count(&self) -> usize {
        0
    }

    fn of(&self, _: &L, _: usize) -> u64 {
        0
    }
}

/// A B+tree of leaves `L` that are ordered by `K`, with bounds by `M`. With `height` 0 the root is a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Tree<L, K, M> {
    pub(crate) leaves: Pool<L>,
    pub(crate) inners: Pool<Inner<K>>,
    pub(crate) measures: M,
    pub(crate) root: NodeId,
    /// Levels of inner nodes.
    pub(crate) height: usize,
}

impl<L: PoolNode, K: Key, M: Measures<L>> Tree<L, K, M> {
    /// A tree without leaf.
    pub(crate) fn empty(measures: M) -> Self {
        let (leaves, inners) = (Pool::new(NoneInline), Pool::new(NoneInline));
        Self { leaves, inners, measures, root: NO_NODE, height: 0 }
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
        let measures = self.measures.count();
        self.inners.reserve_with(inners, |inner| {
            inner.reserve_rows(measures)?;
            inner.make_rows(measures);
            Ok(())
        })
    }

    /// Adds a measure that no leaf has more of than of the one before it: its bounds start as that one's. `add` tells
    /// the measures. Nothing is changed if there is no memory. Cost: every inner node.
    #[cold]
    pub(crate) fn add_measure(
        &mut self,
        measure: usize,
        add: impl FnOnce(&mut M),
    ) -> Result<(), OutOfMemory> {
        let measures = self.measures.count() + 1;
        self.inners.iter_mut().try_for_each(|inner| inner.reserve_rows(measures))?;
        self.inners.iter_mut().for_each(|inner| inner.add_row(measure));
        add(&mut self.measures);
        Ok(())
    }

    /// Bytes held, spare nodes included.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.inners.made() * self.measures.count().saturating_sub(1);
        self.leaves.bytes() + self.inners.bytes() + rows * size_of::<row::Row>()
    }
}
