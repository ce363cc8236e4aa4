//! What a space is made of, in address order: free blocks and regions, between them nothing but holes.

use super::AddressSpace;
use crate::FreeIndex;
use crate::busy::Entry;
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
        let (mut blocks, mut regions) = (self.free.iter().peekable(), self.busy.iter().peekable());
        core::iter::from_fn(move || {
            let region_first = regions.peek().map(|region| region.span.first());
            let is_below = |block: &Span| region_first.is_none_or(|first| block.first() < first);
            match blocks.next_if(is_below) {
                Some(block) => Some(Piece::Free(block)),
                None => regions.next().map(Piece::Busy),
            }
        })
    }

    /// All addresses of a piece.
    pub(super) fn extent(&self, piece: &Piece<'_, V>) -> Span {
        match piece {
            Piece::Free(block) => *block,
            Piece::Busy(entry) => self.taken(entry),
        }
    }
}
