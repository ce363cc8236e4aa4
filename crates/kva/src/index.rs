//! The trait of free-space indexes: what a space asks of the structure that knows the free blocks.

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

/// An ordered set of free blocks that finds one for a request.
///
/// Blocks are disjoint and never touch: neighbours are merged as they come (invariant K1).
pub trait FreeIndex: Sized {
    /// The placements that this index can answer; what it cannot is not a value of this type.
    type Placement: Copy + Default + fmt::Debug;
    /// A block in its place, valid until the index changes.
    type Block: Copy;

    /// An empty index.
    ///
    /// # Errors
    /// No memory.
    fn new() -> Result<Self, OutOfMemory>;

    /// Makes sure that `blocks` more blocks can be created without asking for memory.
    ///
    /// # Errors
    /// No memory; the index still holds what it held.
    fn reserve(&mut self, blocks: usize) -> Result<(), OutOfMemory>;

    /// The block for a request, and the span to cut from it. Changes nothing.
    fn find(
        &self,
        placement: Self::Placement,
        want: &Want,
        probe: &mut impl Probe,
    ) -> Option<(Self::Block, Span)>;

    /// Takes `span` out of `block`, which covers it. May create one block.
    fn carve(&mut self, block: Self::Block, span: Span, probe: &mut impl Probe) -> Fit;

    /// Adds `span`, merged with the blocks it touches. May create one block.
    ///
    /// # Errors
    /// The free block that `span` overlaps; nothing was changed.
    fn release(&mut self, span: Span, probe: &mut impl Probe) -> Result<Merge, Span>;

    /// The highest block that starts at or below `address`.
    fn at_or_below(&self, address: u64) -> Option<(Self::Block, Span)>;

    /// The block before `block` in address order.
    fn before(&self, block: Self::Block) -> Option<(Self::Block, Span)>;

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
