//! An address space with one owner: its free blocks, and its regions with their values.

mod alloc;
mod allocated;
mod blocks;
mod carved;
mod congruent;
mod fixed;
mod free;
mod free_range;
mod freed;
mod identity;
pub mod image;
mod layout;
mod merge;
mod moves;
mod rearrange;
mod region;
mod reserve;
mod retain;
#[cfg(feature = "serde")]
mod serde;
pub(crate) mod split;
mod stats;
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

pub use freed::FreedRegions;
pub use moves::PendingMove;
#[cfg(feature = "std")]
pub(crate) use moves::beyond;
pub use region::{IntoRegions, Region, Regions};
pub use reserve::Pending;
pub use stats::Stats;

/// Hands out ranges of a space and finds the region of any address.
///
/// `V` is the value that the caller stores with each region: its device, its owner.
///
/// # Invariants
/// - K4: a byte of the layout is in exactly one free block, region or guard.
/// - K5: the byte counts equal the sums over blocks, regions and guards.
/// - K6: every block and region consists of whole granules.
/// - K12, K13: a region does not change while a sub-space hands out its addresses.
/// - K16: a region that is moving keeps both its places until the move ends.
///
/// # Copies
/// A clone has its own regions, values and free blocks. Sub-spaces are not cloned: the clone's carved regions await
/// theirs, which [`adopt`](Self::adopt) sets. Pending moves are cloned, and [`pending_moves`](Self::pending_moves)
/// returns the clone's own tokens.
///
/// # Cost
/// Every operation is O(log n) in the number of regions, except where a [`Placement`] or [`alloc`](Self::alloc) says
/// otherwise.
///
/// # Values
/// Values move within the index as regions come and go: put large ones into a `Box` or an `Arc`. If a value's `Drop`
/// panics, the value is gone and the space stays consistent. A `Clone` that panics leaves the original unchanged.
pub struct AddressSpace<V> {
    /// The regions by address, and the gaps between them.
    regions: RegionTree<V>,
    /// The free blocks by size, from the first request for best fit on.
    sizes: Option<Sizes>,
    /// The regions that sub-spaces hand out.
    carved: Carved,
    /// The identity by which its parent recognizes a sub-space; `None` in a space without a parent.
    origin: Option<Identity>,
    /// The pending moves.
    moves: Moves,
    /// From the lowest to the highest address of the layout, including holes.
    hull: Span,
    granule: Align,
    placement: Placement,
    /// Bytes of the layout.
    total_bytes: u128,
    free_bytes: u128,
}

impl<V> AddressSpace<V> {
    /// From the lowest to the highest address of the space, including holes. Cost: constant.
    #[must_use]
    pub fn span(&self) -> Span {
        self.hull
    }

    /// The unit: every size and address is a multiple of it. Cost: constant.
    #[must_use]
    pub fn granule(&self) -> Align {
        self.granule
    }

    /// The placement policy. Cost: constant.
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// Reserves memory for `regions` more regions, and for the end of all pending moves (K16).
    #[inline]
    fn reserve_regions(&mut self, regions: usize) -> Result<(), OutOfMemory> {
        self.regions.reserve(regions + self.moves.len())?;
        self.reserve_blocks(regions)
    }

    /// Reserves memory for that many more free blocks, and for the end of all pending moves.
    #[inline]
    fn reserve_blocks(&mut self, blocks: usize) -> Result<(), OutOfMemory> {
        match &mut self.sizes {
            Some(sizes) => sizes.reserve(blocks + self.moves.len()),
            None => Ok(()),
        }
    }

    /// Cuts `taken` out of the free block after an entry, which covers it, for a region, or for a placeholder if there
    /// is no value. The caller has reserved a region.
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

    /// The entry before the free block that covers `span`.
    fn block_over(&self, span: Span) -> Option<EntryHandle> {
        self.regions.block_over(span).map(|(entry, _)| entry)
    }

    /// The number of regions. Cost: constant.
    #[must_use]
    pub fn len(&self) -> usize {
        self.regions.len() - self.moves.len()
    }

    /// Whether the space has no regions. Cost: constant.
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
/// guards, alignments, sub-spaces and pending moves. The placement policy is not compared.
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
