//! The free-space index of the 2019 talk: an augmented red-black tree of free blocks.
//!
//! Each node is a free block and stores the size of the largest block in its subtree, so a search never enters a
//! subtree that cannot serve it. From the talk, in pages (start+size/subtree maximum):
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
//! Invariants: K1 blocks are disjoint, ascending, and never touch; K2 red-black; K3 every `subtree_max_size` is exact,
//! except above the one node that [`LazyFixups`] may leave pending; K15 the bound of the hot block.
//!
//! Cost: find, carve and release visit O(log blocks) nodes; `Lowest` and `Highest` with an alignment may visit more, in
//! the worst case all. Memory: 40 bytes for each block at the peak number of blocks, and at most a sixteenth more.
//!
//! Source: U. Rezki, Linux Plumbers Conference 2019; balancing after Cormen et al., "Introduction to Algorithms".

mod areas;
mod carve;
mod erase;
mod error;
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

use core::iter::FusedIterator;
use core::marker::PhantomData;
use freehold_kva::{CheckedRequest, Fit, Merge};
use freehold_units::{Align, Broken, OutOfMemory, Probe, Span};
use hot::Hot;
use node::{Link, Node, Nodes};

pub use error::{AddError, RemoveError};
pub use node::{Colour, NodeView};
pub(in crate::kva) use policy::Areas;
pub use policy::{HotAndLazy, HotBlock, LazyFixups, Plain, Policy};

/// A placement policy: the choice between the addresses that can serve a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The lowest address that fits size, alignment and window. Exact. Alignments above the granule may cost O(blocks),
    /// a visit to every block that is large enough but misaligned.
    #[default]
    Lowest,
    /// The highest address that fits. Exact, at the same cost.
    Highest,
    /// The address that Linux 6.12 takes. For alignments up to a page or a granule, and for windows of exactly the
    /// request's size, it is the lowest one. Otherwise the search requires `size + align - 1` bytes below a node, so it
    /// passes over tight blocks unless it happens to visit them. So the answer depends on the tree's shape, may not be
    /// the lowest, and may be a failure although a block fits.
    #[doc(alias = "find_vmap_lowest_match")]
    Linux,
}

/// Free blocks in an augmented red-black tree. See the [module](self). `P` selects the improvements from the talk.
#[derive(Clone, Debug)]
pub struct RbTree<P = Plain> {
    nodes: Nodes,
    root: Link,
    /// Every block starts at a multiple of this.
    granule: Align,
    /// The lowest address that was ever free.
    lowest: u64,
    hot: Hot,
    /// The node that shrank without an update of its ancestors' maxima.
    pending: Link,
    policy: PhantomData<P>,
}

/// A node of the tree, valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub(in crate::kva) struct Block {
    link: Link,
    /// A size that no block before this one has, or [`Hot::UNKNOWN`].
    no_fit_below: u64,
}

impl<P: Policy> RbTree<P> {
    /// A tree without blocks, for blocks that consist of granules. Cost: constant.
    ///
    /// # Errors
    /// No memory.
    pub fn new(granule: Align) -> Result<Self, OutOfMemory> {
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

    /// Reserves memory for that many changes. Cost: amortized constant for each.
    ///
    /// # Errors
    /// There is no memory; nothing was changed except spare capacity.
    #[inline]
    pub fn reserve(&mut self, changes: usize) -> Result<(), OutOfMemory> {
        self.nodes.reserve(changes)
    }

    /// The place for a request.
    ///
    /// Cost: O(log n); with an alignment under the exact placements O(n) in the worst case, a visit to every block that
    /// is large enough but misaligned.
    #[doc(alias = "find_vmap_lowest_match")]
    pub fn find(
        &self,
        placement: Placement,
        request: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<Span> {
        self.find_block(placement, request, probe).map(|(_, place)| place)
    }

    /// Makes `span` free and merges it with the blocks that it touches. Returns which these were. Cost: O(log n).
    ///
    /// # Errors
    /// [`AddError`]; nothing was changed.
    #[doc(alias = "merge_or_add_vmap_area")]
    pub fn add(&mut self, span: Span, probe: &mut impl Probe) -> Result<Merge, AddError> {
        if !self.is_granular(span) {
            return Err(AddError::NotGranular { span });
        }
        self.reserve(1)?;
        self.release_span(span, probe).map_err(|block| AddError::Overlaps { block })
    }

    /// Cuts `span` out of the free block that covers it. Returns how it lay in the block. Cost: O(log n).
    ///
    /// # Errors
    /// [`RemoveError`]; nothing was changed.
    #[doc(alias = "va_clip")]
    pub fn remove(&mut self, span: Span, probe: &mut impl Probe) -> Result<Fit, RemoveError> {
        if !self.is_granular(span) {
            return Err(RemoveError::NotGranular { span });
        }
        self.reserve(1)?;
        let found = self.floor(span.first()).filter(|(_, block)| block.covers(span));
        let (block, _) = found.ok_or(RemoveError::NotFree { span })?;
        Ok(self.carve_node(block, span, probe))
    }

    pub(in crate::kva) fn is_granular(&self, span: Span) -> bool {
        self.granule.divides(span.first()) && self.granule.divides(span.last().wrapping_add(1))
    }

    /// Checks every invariant of the tree. Cost: linear.
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    pub fn validate(&self) -> Result<(), Broken> {
        self.check_nodes()
    }
}

impl<P: Policy> RbTree<P> {
    /// All blocks in address order. Cost: amortized constant for each.
    pub fn iter(&self) -> impl FusedIterator<Item = Span> {
        self.ascending()
    }

    /// The number of blocks. Cost: constant.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.in_use()
    }

    /// Whether there is no block. Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the largest block in bytes, 0 if there is none, `u64::MAX` for 2^64. Cost: constant, or O(log n)
    /// under [`LazyFixups`].
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        self.settled_max(self.root)
    }

    /// The bytes of memory that the index holds, including spare capacity. Cost: constant.
    #[must_use]
    pub fn metadata_bytes(&self) -> usize {
        self.nodes.bytes()
    }
}
