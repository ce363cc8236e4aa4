//! Indexes: what a user may ask of one, and what the space alone may do to it.
//!
//! Changing an index by itself could break what the space promises, so [`Map`], which changes it, cannot be named
//! outside this crate.

use crate::{Broken, OutOfMemory, Shortcuts};
use core::fmt;
use freehold_units::{Align, Probe, Span};

/// A checked request, as an index sees it: `size_bytes > 0`, guard included, alignment at least the granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// Size with guard, in bytes, at least 1.
    pub size_bytes: u64,
    /// What the start must be a multiple of.
    pub align: Align,
    /// Where it must lie.
    pub window: Span,
}

/// The largest guard, in granules. It takes a bit less than half a word: that bit tells what the rest is.
pub(crate) const MAX_GUARD_GRANULES: u32 = (1 << 31) - 1;

/// A guard that an index can keep.
#[inline]
pub(crate) fn guard_granules(granules: u64) -> Option<u32> {
    u32::try_from(granules).ok().filter(|&granules| granules <= MAX_GUARD_GRANULES)
}

/// What a space is kept in: [`RbTree`](crate::RbTree), [`BTree`](crate::BTree), or one of them
/// [`BySize`](crate::BySize).
pub trait FreeIndex {
    /// The placements that this index can answer; what it cannot is not a value of this type.
    type Placement: Copy + Default + fmt::Debug;

    /// Free blocks and regions with values of type `V`.
    #[doc(hidden)]
    type Map<V>: Map<V, Choice = Self::Placement>;
}

/// A region as an index knows it.
#[derive(Debug)]
pub struct Entry<'a, V> {
    /// The usable addresses.
    pub span: Span,
    /// These and the guard's.
    pub taken: Span,
    /// Granules of the guard.
    pub guard_granules: u32,
    /// What the caller stored.
    pub value: &'a V,
}

/// What a space does to its index. Blocks are disjoint and never touch: neighbours are merged as they come (K1).
/// Blocks and regions never overlap (K4).
pub trait Map<V>: Sized {
    /// How addresses are chosen.
    type Choice: Copy;
    /// A free block in its place, valid until the index changes.
    type Block: Copy;
    /// A region in its place, valid until the index changes.
    type Place: Copy;

    /// An empty index of what is made of granules.
    fn new(granule: Align) -> Result<Self, OutOfMemory>;

    /// Takes these shortcuts from now on, of those that the index has. Answers stay the same.
    fn set_shortcuts(&mut self, shortcuts: Shortcuts, probe: &mut impl Probe);

    /// A copy.
    fn duplicate(&self) -> Self
    where
        V: Clone;

    /// Makes sure that so many regions can be added or made shorter or longer, or spans be added, and that so many
    /// regions can be vacated, without asking for memory.
    fn reserve(&mut self, regions: usize, vacated: usize) -> Result<(), OutOfMemory>;

    /// Makes ready for one request: what [`Map::reserve`] does for a region, and whatever is kept only if asked.
    fn prepare(&mut self, want: &Want, probe: &mut impl Probe) -> Result<(), OutOfMemory>;

    /// The block for a request, and the span to take from it. Changes nothing.
    fn find(&self, choice: Self::Choice, want: &Want, probe: &mut impl Probe) -> Option<(Self::Block, Span)>;

    /// Takes `taken` out of `block`, which covers it, for a region; a region was reserved.
    fn occupy(
        &mut self,
        block: Self::Block,
        taken: Span,
        guard_granules: u32,
        value: V,
        probe: &mut impl Probe,
    );

    /// Gives back what the region at `place` has taken, merged with the blocks it touches; so much was reserved.
    /// `None` if there is no region: then nothing was changed.
    fn vacate(&mut self, place: Self::Place, taken: Span, probe: &mut impl Probe) -> Option<V>;

    /// Gives the region the start of `block`, which follows on its guard: region and guard move up.
    fn extend(&mut self, place: Self::Place, block: Self::Block, more: Span, probe: &mut impl Probe);

    /// Gives back `less`, the end of what the region has taken: its guard moves down; so much was reserved.
    fn shorten(&mut self, place: Self::Place, less: Span, probe: &mut impl Probe);

    /// Makes `span` free, which overlaps no region; so much was reserved. Where it overlaps a free block that
    /// block is the error, and nothing was changed.
    fn add(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Span>;

    /// The highest block that starts at or below `address`.
    fn block_at_or_below(&self, address: u64) -> Option<(Self::Block, Span)>;

    /// The block before `block` in address order.
    fn block_before(&self, block: Self::Block) -> Option<(Self::Block, Span)>;

    /// All blocks in address order.
    fn blocks(&self) -> impl Iterator<Item = Span>;

    /// The number of blocks.
    fn block_count(&self) -> usize;

    /// The size of the largest block in bytes, 0 if there is none, `u64::MAX` for 2^64.
    fn largest_bytes(&self) -> u64;

    /// The region that starts at `first`.
    fn region(&self, first: u64) -> Option<(Self::Place, Entry<'_, V>)>;

    /// The region that `address` belongs to, or its guard.
    fn region_at(&self, address: u64) -> Option<Entry<'_, V>>;

    /// The same, with the value to change: the last usable address and the value.
    fn value_at(&mut self, address: u64) -> Option<(u64, &mut V)>;

    /// The highest region that overlaps `span`, its guard included.
    fn region_over(&self, span: Span) -> Option<Entry<'_, V>>;

    /// All regions in address order.
    fn regions<'a>(&'a self) -> impl Iterator<Item = Entry<'a, V>>
    where
        V: 'a;

    /// The number of regions.
    fn region_count(&self) -> usize;

    /// Bytes of memory held for free blocks, and for regions; spare room included.
    fn bytes(&self) -> (usize, usize);

    /// Checks every invariant of the index from scratch. Cost: linear.
    fn validate(&self) -> Result<(), Broken>;
}
