//! The free-space index of the 2019 talk: an augmented red-black tree of free blocks.
//!
//! Each node is a free block and knows the largest block of its subtree, so a search never enters a subtree
//! that cannot serve it. From the talk, in pages (start+size/subtree maximum):
//!
//! ```text
//!                     30+4/12
//!                    /       \          4 pages? 12 to the left: go left; 2 to the left, too few;
//!              6+3/12         40+11/11  3 here, too few; 12 to the right: go right; 12 fit.
//!             /      \
//!         2+2/2      14+12/12           Then 14+12 becomes 18+8, and 8, 8, 11 go up the path.
//! ```
//!
//! Neighbours for merging come from the descent that a free makes anyway: the last turn right leads past the
//! previous block, the last turn left past the next one.
//!
//! Invariants: K1 blocks disjoint, ascending, never touching; K2 red-black; K3 every `subtree_max_size` exact, but
//! above the one node that [`Shortcuts::lazy_fixups`] may leave pending; K16 what is known of the hot block.
//! Cost: find, carve and release visit O(log blocks) nodes; `Lowest` and `Highest`
//! with an alignment may visit more, in the worst case all.
//! Memory: 40 bytes per block at the most there were, and at most a sixteenth more.
//!
//! Source: U. Rezki, Linux Plumbers Conference 2019; balancing after Cormen et al., "Introduction to Algorithms".

mod carve;
mod erase;
mod hot;
mod insert;
mod lazy;
mod node;
mod propagate;
mod release;
mod search;
#[cfg(test)]
mod tests;
mod validate;
mod view;

use crate::arena::{Arena, Link};
use crate::two_trees::TwoTrees;
use crate::{Fit, FreeIndex, OutOfMemory, Shortcuts};
use freehold_units::{Align, Probe, Span};
use hot::Hot;
use node::Node;

pub use node::{Colour, NodeView};

/// Which of the addresses that can serve a request is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The lowest address that fits size, alignment and window. Exact. Alignments above the granule may cost
    /// O(blocks): every block that is large enough but badly placed is looked at.
    #[default]
    Lowest,
    /// The highest address that fits. Exact, at the same cost.
    Highest,
    /// The address that Linux 6.12 takes. For alignments up to a page or a granule, and for windows of exactly
    /// the request's size, it is the lowest one. Otherwise the search asks for `size + align - 1` bytes below a
    /// node, so it passes over tight blocks unless it happens to step on them: the answer depends on the tree's
    /// shape, may be higher than need be, and may be a failure though something fits.
    #[doc(alias = "find_vmap_lowest_match")]
    Linux,
}

/// Free blocks in an augmented red-black tree. See the [module](self).
#[derive(Clone, Debug)]
pub struct RbTree {
    nodes: Arena<Node>,
    root: Link,
    /// What every block starts at a multiple of.
    granule: Align,
    /// Where the first address was ever free.
    lowest: u64,
    shortcuts: Shortcuts,
    hot: Hot,
    /// The node whose shrinking its ancestors do not know of yet.
    pending: Link,
}

/// A node of the tree, valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    link: Link,
    /// A size that no block before it has, or [`Hot::UNKNOWN`].
    none_below: u64,
}

impl FreeIndex for RbTree {
    type Placement = Placement;
    type Map<V> = TwoTrees<V>;
}

impl RbTree {
    pub(crate) fn new(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self {
            nodes: Arena::new(Node::SENTINEL)?,
            root: Link::NONE,
            granule,
            lowest: u64::MAX,
            shortcuts: Shortcuts::NONE,
            hot: Hot::NONE,
            pending: Link::NONE,
        })
    }

    pub(crate) fn set_shortcuts(&mut self, shortcuts: Shortcuts, probe: &mut impl Probe) {
        self.settle(probe);
        self.hot = Hot::NONE;
        self.shortcuts = shortcuts;
    }

    /// Makes sure that `blocks` more blocks can be created without asking for memory.
    #[inline]
    pub(crate) fn reserve(&mut self, blocks: usize) -> Result<(), OutOfMemory> {
        self.nodes.reserve(blocks, || Node::SENTINEL)
    }

    /// All blocks in address order.
    pub fn iter(&self) -> impl Iterator<Item = Span> {
        self.ascending()
    }

    /// The number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.in_use()
    }

    /// Whether there is no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the largest block in bytes, 0 if there is none, `u64::MAX` for 2^64.
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        self.settled_max(self.root)
    }

    /// The bytes of memory that the index holds, its spare room included.
    #[must_use]
    pub fn metadata_bytes(&self) -> usize {
        self.nodes.bytes()
    }

    /// Takes `span` out of `block`, which covers it. May create one block, which was reserved.
    #[inline]
    pub(crate) fn carve(&mut self, block: Block, span: Span, probe: &mut impl Probe) -> Fit {
        self.carve_node(block, span, probe)
    }

    /// The block before `block` in address order.
    pub(crate) fn before(&self, block: Block) -> Option<(Block, Span)> {
        self.predecessor(block.link)
    }
}
