//! What a space is made of, in address order: free blocks and regions, between them nothing but holes.

use super::AddressSpace;
use crate::FreeIndex;
use crate::index::{Entry, Map};
use freehold_units::Span;

/// A part of a space.
pub(super) enum Piece<'a, V> {
    Free(Span),
    /// A region and its guard.
    Busy(Entry<'a, V>),
}

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// Every free block and every region. Cost: linear.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece<'_, V>> {
        let (mut blocks, mut regions) = (self.map.blocks().peekable(), self.map.regions().peekable());
        core::iter::from_fn(move || {
            let region_first = regions.peek().map(|region| region.span.first());
            let is_below = |block: &Span| region_first.is_none_or(|first| block.first() < first);
            match blocks.next_if(is_below) {
                Some(block) => Some(Piece::Free(block)),
                None => regions.next().map(Piece::Busy),
            }
        })
    }
}

impl<V> Piece<'_, V> {
    /// All its addresses.
    pub(super) fn extent(&self) -> Span {
        match self {
            Piece::Free(block) => *block,
            Piece::Busy(entry) => entry.taken,
        }
    }
}
