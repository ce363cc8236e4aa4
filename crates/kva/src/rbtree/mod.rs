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
//! above the one node that [`LazyFixups`] may leave pending; K15 what is known of the hot block.
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
mod policy;
mod propagate;
mod release;
mod search;
#[cfg(test)]
mod tests;
mod validate;
mod view;

use crate::OutOfMemory;
use crate::index::{CheckedRequest, FollowChanges, FreeIndex};
use crate::regions::{EntryHandle, RegionTree, Searched};
use core::iter::FusedIterator;
use core::marker::PhantomData;
use freehold_units::{Align, Broken, Probe, Span, check};
use hot::Hot;
use node::{Link, Node, Nodes};

pub use node::{Colour, NodeView};
pub use policy::{HotAndLazy, HotBlock, LazyFixups, Plain, Policy};

/// Which of the addresses that can serve a request is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

/// Free blocks in an augmented red-black tree. See the [module](self). `P` is which of the talk's wishes it has.
#[derive(Clone, Debug)]
pub struct RbTree<P = Plain> {
    nodes: Nodes,
    root: Link,
    /// What every block starts at a multiple of.
    granule: Align,
    /// Where the first address was ever free.
    lowest: u64,
    hot: Hot,
    /// The node whose shrinking its ancestors do not know of yet.
    pending: Link,
    policy: PhantomData<P>,
}

/// A node of the tree, valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    link: Link,
    /// A size that no block before it has, or [`Hot::UNKNOWN`].
    no_fit_below: u64,
}

impl<P: Policy> FreeIndex for RbTree<P> {
    type Placement = Placement;

    #[inline]
    fn find<V>(
        &self,
        _: impl Searched<V>,
        placement: Placement,
        request: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<(Block, Span)> {
        self.find_block(placement, request, probe)
    }
}

impl<P: Policy> FollowChanges for RbTree<P> {
    type Block = Block;
    const USES_BOUNDS: bool = false;

    fn empty(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self {
            nodes: Nodes::new()?,
            root: Link::NONE,
            granule,
            lowest: u64::MAX,
            hot: Hot::NONE,
            pending: Link::NONE,
            policy: PhantomData,
        })
    }

    #[inline]
    fn reserve(&mut self, blocks: usize) -> Result<(), OutOfMemory> {
        self.nodes.reserve(blocks)
    }

    fn block_at(&self, _: EntryHandle, block: Span) -> Block {
        self.floor(block.first()).expect("K4: every gap between regions is a block").0
    }

    #[inline]
    fn carve<V>(
        &mut self,
        regions: &RegionTree<V>,
        block: &Block,
        taken: Span,
        probe: &mut impl Probe,
    ) -> EntryHandle {
        self.carve_node(*block, taken, probe);
        regions.entry_before(taken.first()).expect("K4: every gap between regions lies behind an entry")
    }

    #[inline]
    fn release<V>(&mut self, _: &RegionTree<V>, span: Span, _: Span, probe: &mut impl Probe) {
        self.release_span(span, probe).expect("K4: regions and free blocks are apart");
    }

    fn block_at_or_below<V>(&self, _: &RegionTree<V>, address: u64, _: u64) -> Option<Span> {
        self.floor(address).map(|(_, block)| block)
    }

    fn largest_bytes<V>(&self, _: &RegionTree<V>, _: &mut impl Probe) -> u64 {
        self.largest_bytes()
    }

    fn bytes(&self) -> usize {
        self.nodes.bytes()
    }

    fn validate<V>(&self, regions: &RegionTree<V>) -> Result<(), Broken> {
        self.check_nodes()?;
        check(self.iter().eq(regions.blocks()), "K4", "the blocks are the gaps between regions", 0)
    }
}

impl<P: Policy> RbTree<P> {
    /// All blocks in address order.
    pub fn iter(&self) -> impl FusedIterator<Item = Span> {
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
}
