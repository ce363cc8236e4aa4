//! A space of addresses with one owner: what is free, what is taken and by whom.

mod alloc;
mod blocks;
mod carved;
mod congruent;
mod fixed;
mod free;
mod identity;
mod layout;
mod moves;
mod rearrange;
mod region;
#[cfg(feature = "serde")]
mod serde;
pub mod snapshot;
mod sub_space;
#[cfg(test)]
mod tests;
mod validate;

use crate::regions::{EntryHandle, RegionAttrs, RegionTree};
use crate::sizes::Sizes;
use crate::{OutOfMemory, Placement};
use carved::Carved;
use core::fmt;
use freehold_units::{Align, Probe, Span};
use identity::Identity;
use moves::Moves;

pub use moves::PendingMove;
#[cfg(feature = "std")]
pub(crate) use moves::beyond;
pub use region::{IntoRegions, Region, Regions, Stats};

/// Hands out ranges of a space and knows which region any address belongs to.
///
/// `V` is what the caller keeps with each region: its device, its owner.
///
/// # Invariants
/// K4: a byte of the layout is in exactly one free block, region or guard. K5: the byte counts say so.
/// K6: every block and region is made of whole granules. K12, K13: a region stays as it is while a sub-space hands
/// out its addresses. K16: a region that is moving keeps both its places until the move ends.
///
/// # Copies
/// A clone has regions, values and free blocks of its own. Sub-spaces are not cloned with it: its carved regions
/// await theirs, which [`adopt`](Self::adopt) gives them. Its regions that are moving have moves of its own, whose
/// tokens [`pending_moves`](Self::pending_moves) gives out.
///
/// # Cost
/// Every operation is O(log n) in the number of regions, but for what a placement says of alignments.
///
/// # Values
/// Values move within the index as regions come and go: put wide ones into a `Box` or an `Arc`. A value whose
/// `Drop` panics is gone and the space is as it should be; a `Clone` that panics leaves the original untouched.
pub struct AddressSpace<V> {
    /// What is taken, by address, and what is free between.
    regions: RegionTree<V>,
    /// The free blocks by size, once a request asked for best fit.
    sizes: Option<Sizes>,
    /// The regions that sub-spaces hand out.
    carved: Carved,
    /// What makes a sub-space known to its parent; none in a space that was not carved.
    origin: Option<Identity>,
    /// The regions that are moving, and where to.
    moves: Moves,
    /// From the lowest to the highest address of the layout; what lies between may have holes.
    hull: Span,
    granule: Align,
    placement: Placement,
    /// Bytes of the layout.
    total_bytes: u128,
    free_bytes: u128,
}

impl<V> AddressSpace<V> {
    /// From the lowest to the highest address that was given to the space. Cost: constant.
    #[must_use]
    pub fn span(&self) -> Span {
        self.hull
    }

    /// What every size and address is a multiple of. Cost: constant.
    #[must_use]
    pub fn granule(&self) -> Align {
        self.granule
    }

    /// How addresses are chosen. Cost: constant.
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// Makes sure that so many regions can be added without asking for memory, and all pending moves end (K16).
    #[inline]
    fn reserve(&mut self, regions: usize) -> Result<(), OutOfMemory> {
        self.regions.reserve(regions + self.moves.len())?;
        self.reserve_blocks(regions)
    }

    /// Makes sure that so many free blocks can be added, and all pending moves end.
    #[inline]
    fn reserve_blocks(&mut self, blocks: usize) -> Result<(), OutOfMemory> {
        match &mut self.sizes {
            Some(sizes) => sizes.reserve(blocks + self.moves.len()),
            None => Ok(()),
        }
    }

    /// Takes `taken` out of the free block behind an entry, which covers it, for a region, or without value a hold; a region was reserved.
    #[inline]
    fn occupy(
        &mut self,
        before: EntryHandle,
        taken: Span,
        terms: RegionAttrs,
        value: Option<V>,
        probe: &mut impl Probe,
    ) {
        self.cut(before, taken, probe);
        self.regions.insert(before, taken, terms, value);
        self.free_bytes -= taken.size_bytes();
    }

    /// The entry that the free block lies behind which covers `span`.
    fn block_over(&self, span: Span) -> Option<EntryHandle> {
        self.regions.block_over(span).map(|(entry, _)| entry)
    }

    /// The number of regions. Cost: constant.
    #[must_use]
    pub fn len(&self) -> usize {
        self.regions.len() - self.moves.len()
    }

    /// Whether nothing is allocated. Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<V: Clone> Clone for AddressSpace<V> {
    fn clone(&self) -> Self {
        Self {
            regions: self.regions.clone(),
            sizes: self.sizes.clone(),
            carved: self.carved.clone(),
            origin: None,
            moves: self.moves.clone(),
            ..*self
        }
    }
}

/// Spaces are equal if they have the same addresses and granule, and regions at the same places with equal values,
/// guards, alignments, sub-spaces and pending moves. How addresses are chosen does not count.
impl<V: PartialEq> PartialEq for AddressSpace<V> {
    fn eq(&self, other: &Self) -> bool {
        self.granule == other.granule
            && self.regions.pieces().eq(other.regions.pieces())
            && self.carved.same(&other.carved)
            && self.moves.same(&other.moves)
    }
}

impl<V: Eq> Eq for AddressSpace<V> {}

impl<V> fmt::Debug for AddressSpace<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AddressSpace");
        shown.field("span", &self.hull).field("granule", &self.granule).field("placement", &self.placement);
        shown.field("stats", &self.stats()).finish_non_exhaustive()
    }
}
