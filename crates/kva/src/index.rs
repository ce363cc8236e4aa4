//! Free-space indexes: what anyone may ask of one, and what the space alone may do to it.
//!
//! Changing an index by itself could break what the space promises, so [`Blocks`], the half that changes it,
//! cannot be named outside this crate.

use crate::{Broken, Fit, Merge, OutOfMemory};
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

/// An ordered set of free blocks: the part of a space that finds room. Implemented by
/// [`RbTree`](crate::RbTree) and [`BTree`](crate::BTree).
///
/// Blocks are disjoint and never touch: neighbours are merged as they come (invariant K1).
pub trait FreeIndex: Blocks<Choice = <Self as FreeIndex>::Placement> {
    /// The placements that this index can answer; what it cannot is not a value of this type.
    type Placement: Copy + Default + fmt::Debug;

    /// All blocks in address order.
    fn iter(&self) -> impl Iterator<Item = Span>;

    /// The number of blocks.
    fn len(&self) -> usize;

    /// Whether there is no block.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the largest block in bytes, 0 if there is none, `u64::MAX` for 2^64.
    fn largest_bytes(&self) -> u64;

    /// The bytes of memory that the index holds, its spare room included.
    fn metadata_bytes(&self) -> usize;

    /// Checks every invariant from scratch. Cost: linear.
    ///
    /// # Errors
    /// The first invariant that fails.
    fn validate(&self) -> Result<(), Broken>;
}

/// What a space does to its index.
pub trait Blocks: Sized {
    /// How addresses are chosen.
    type Choice: Copy;
    /// A block in its place, valid until the index changes.
    type Block: Copy;
    /// The way to where an address is or would be, valid until the index changes.
    type Way: Copy;

    /// An empty index of blocks that are made of granules.
    fn new(granule: Align) -> Result<Self, OutOfMemory>;

    /// Makes sure that `blocks` more blocks can be created without asking for memory.
    fn reserve(&mut self, blocks: usize) -> Result<(), OutOfMemory>;

    /// Makes ready for one request: room for one more block, and whatever the index keeps only if asked.
    #[inline]
    fn prepare(&mut self, want: &Want, probe: &mut impl Probe) -> Result<(), OutOfMemory> {
        let _ = (want, probe);
        self.reserve(1)
    }

    /// The block for a request, and the span to cut from it. Changes nothing.
    fn find(&self, choice: Self::Choice, want: &Want, probe: &mut impl Probe) -> Option<(Self::Block, Span)>;

    /// Takes `span` out of `block`, which covers it. May create one block, which was reserved.
    fn carve(&mut self, block: Self::Block, span: Span, probe: &mut impl Probe) -> Fit;

    /// The way to `address`. Asks for the memory at its end, so that it arrives while the caller does something else.
    fn way_to(&self, address: u64) -> Self::Way;

    /// Adds `span`, to whose start `way` leads, merged with the blocks it touches. May create one block, which was
    /// reserved. Where it overlaps a free block that block is the error, and nothing was changed.
    fn release(&mut self, way: Self::Way, span: Span, probe: &mut impl Probe) -> Result<Merge, Span>;

    /// The highest block that starts at or below `address`.
    fn at_or_below(&self, address: u64) -> Option<(Self::Block, Span)>;

    /// The block before `block` in address order.
    fn before(&self, block: Self::Block) -> Option<(Self::Block, Span)>;
}
