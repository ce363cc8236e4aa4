//! What a space is kept in: every region in a tree of regions, and an index that finds free places.
//!
//! Two small traits: one finds, the other follows what becomes free and what is taken. Changing an index by itself could
//! break what the space promises, and the tree of regions that both work on cannot be had outside this crate.

use crate::regions::{EntryHandle, RegionTree, Searched};
use core::fmt;
use freehold_units::{Align, Broken, OutOfMemory, Probe, Span};

/// A request that has been checked, as an index sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedRequest {
    /// Size with guard in bytes, at least a granule.
    pub size_bytes: u64,
    /// What the start must be a multiple of; at least the granule.
    pub align: Align,
    /// Where all of it must lie.
    pub window: Span,
}

/// The largest guard, in granules.
pub(crate) const MAX_GUARD_GRANULES: u32 = (1 << 31) - 1;

/// A guard that a region can have.
#[inline]
pub(crate) fn guard_granules(granules: u64) -> Option<u32> {
    u32::try_from(granules).ok().filter(|&granules| granules <= MAX_GUARD_GRANULES)
}

/// Finds free places: [`BTree`](crate::BTree), [`RbTree`](crate::RbTree), or one of them
/// [`BySize`](crate::BySize).
pub trait FreeIndex: FollowChanges + Clone + fmt::Debug {
    /// The placements that this index can answer; what it cannot is not a value of this type.
    type Placement: Copy + Default + fmt::Debug;

    /// The free block for a request and the span to take from it. If `regions` may be
    /// changed, bounds that were too high are lowered.
    #[doc(hidden)]
    fn find<V>(
        &self,
        regions: impl Searched<V>,
        placement: Self::Placement,
        request: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<(Self::Block, Span)>;
}

/// Follows what becomes free and what is taken. Free blocks never touch: neighbours are merged as they come (K1).
#[doc(hidden)]
pub trait FollowChanges: Sized {
    /// A free block where it was found; valid until the next change.
    type Block: Copy;

    /// Whether it searches by the bounds in the tree of regions, so that keeping them is its work.
    const USES_BOUNDS: bool;

    /// An index of no block.
    fn empty(granule: Align) -> Result<Self, OutOfMemory>;

    /// Makes sure that so many blocks can be added without asking for memory.
    fn reserve(&mut self, blocks: usize) -> Result<(), OutOfMemory>;

    /// The free block `block`, which lies behind `entry`.
    fn block_at(&self, entry: EntryHandle, block: Span) -> Self::Block;

    /// Takes `taken` out of `block`, which covers it; a block was reserved. Comes before the change of `regions`, and
    /// returns the entry there that the block lies behind.
    fn carve<V>(
        &mut self,
        regions: &RegionTree<V>,
        block: &Self::Block,
        taken: Span,
        probe: &mut impl Probe,
    ) -> EntryHandle;

    /// `span` is free from now on and a part of `block`: merged with the blocks that it touches. A block was reserved.
    /// Comes after the change of `regions`.
    fn release<V>(&mut self, regions: &RegionTree<V>, span: Span, block: Span, probe: &mut impl Probe);

    /// The highest free block of which `size_bytes` lie at or below `address`. An index that cannot search by size may give
    /// one above it that starts there, too.
    fn block_at_or_below<V>(&self, regions: &RegionTree<V>, address: u64, size_bytes: u64) -> Option<Span>;

    /// The size of the largest free block in bytes, 0 if there is none, `u64::MAX` for 2^64.
    fn largest_bytes<V>(&self, regions: &RegionTree<V>, probe: &mut impl Probe) -> u64;

    /// Bytes of memory held, spare nodes included.
    fn bytes(&self) -> usize;

    /// Checks every invariant of the index, and that its blocks are the gaps between `regions`. Cost: linear.
    fn validate<V>(&self, regions: &RegionTree<V>) -> Result<(), Broken>;
}
