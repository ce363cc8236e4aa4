//! A space of addresses with one owner: what is free, what is taken and by whom.

mod alloc;
mod carved;
mod congruent;
mod fixed;
mod free;
mod layout;
mod region;
pub mod snapshot;
mod sub_space;
#[cfg(test)]
mod tests;
mod validate;

use crate::rbtree::Policy;
use crate::regions::{RegionTree, Terms};
use crate::{BTree, FreeIndex, OutOfMemory, RbTree};
use carved::{Carved, Origin};
use core::fmt;
use freehold_units::{Align, Probe, Span};

pub use region::{Region, Stats};

/// Hands out ranges of a space and knows which region any address belongs to.
///
/// `V` is what the caller keeps with each region: its device, its owner. `I` is how
/// free places are found.
///
/// # Invariants
/// K4: a byte of the layout is in exactly one free block, region or guard. K5: the byte counts say so.
/// K6: every block and region is made of whole granules. K12, K13: a region stays as it is while a sub-space hands
/// out its addresses.
///
/// # Copies
/// A clone has regions, values and free blocks of its own. Sub-spaces are not cloned with it: its carved regions
/// await theirs, which [`adopt`](Self::adopt) gives them.
///
/// # Cost
/// Every operation is O(log n) in the number of regions, but for what a placement says of alignments.
///
/// # Values
/// Values move within the index as regions come and go: put wide ones into a `Box` or an `Arc`. A value whose
/// `Drop` panics is gone and the space is as it should be; a `Clone` that panics leaves the original untouched.
pub struct AddressSpace<V, I: FreeIndex = BTree> {
    /// What is taken, by address, and what is free between.
    regions: RegionTree<V>,
    /// Where there is room.
    index: I,
    /// The regions that sub-spaces hand out.
    carved: Carved,
    /// What makes a sub-space known to its parent.
    origin: Origin,
    /// From the lowest to the highest address of the layout; what lies between may have holes.
    hull: Span,
    granule: Align,
    placement: I::Placement,
    /// Bytes of the layout.
    total_bytes: u128,
    free_bytes: u128,
}

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// From the lowest to the highest address that was given to the space.
    #[must_use]
    pub fn span(&self) -> Span {
        self.hull
    }

    /// What every size and address is a multiple of.
    #[must_use]
    pub fn granule(&self) -> Align {
        self.granule
    }

    /// How addresses are chosen.
    #[must_use]
    pub fn placement(&self) -> I::Placement {
        self.placement
    }

    /// Makes sure that so many regions can be added without asking for memory.
    #[inline]
    fn reserve(&mut self, regions: usize) -> Result<(), OutOfMemory> {
        self.regions.reserve(regions)?;
        self.index.reserve(regions)
    }

    /// Takes `taken` out of the free block that covers it, for a region; a region was reserved.
    #[inline]
    fn occupy(&mut self, block: &I::Block, taken: Span, terms: Terms, value: V, probe: &mut impl Probe) {
        let before = self.index.carve(&self.regions, block, taken, probe);
        self.regions.insert(before, taken, terms, value);
        self.free_bytes -= taken.size_bytes();
    }

    /// The free block that covers `span`.
    fn block_over(&self, span: Span) -> Option<I::Block> {
        let (entry, block) = self.regions.block_over(span)?;
        Some(self.index.block_at(entry, block))
    }

    /// The number of regions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.regions.len()
    }

    /// Whether nothing is allocated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<V, P: Policy> AddressSpace<V, RbTree<P>> {
    /// The red-black tree of free blocks, to look at.
    #[must_use]
    pub fn free_index(&self) -> &RbTree<P> {
        &self.index
    }
}

impl<V: Clone, I: FreeIndex> Clone for AddressSpace<V, I> {
    fn clone(&self) -> Self {
        Self {
            regions: self.regions.clone(),
            index: self.index.clone(),
            carved: self.carved.clone(),
            origin: self.origin.clone(),
            ..*self
        }
    }
}

impl<V, I: FreeIndex> fmt::Debug for AddressSpace<V, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AddressSpace");
        shown.field("span", &self.hull).field("granule", &self.granule).field("placement", &self.placement);
        shown.field("stats", &self.stats()).finish_non_exhaustive()
    }
}
