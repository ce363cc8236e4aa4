//! Checks the whole space from scratch.

use super::AddressSpace;
use crate::regions::Piece;
use freehold_units::{Broken, Span, check};

impl<V> AddressSpace<V> {
    /// Checks every invariant of the space and of both indexes. Cost: linear.
    ///
    /// # Errors
    /// The first invariant that fails, by its number in `INVARIANTS.md`.
    pub fn validate(&self) -> Result<(), Broken> {
        self.regions.validate()?;
        if let Some(sizes) = &self.sizes {
            sizes.validate(self.regions.blocks())?;
        }
        self.carved
            .validate(|first| self.regions.region(first).is_some_and(|(_, entry)| entry.value.is_some()))?;
        let holds = self.regions.regions().filter(|entry| entry.value.is_none()).count();
        check(holds == self.moves.len(), "K16", "there are as many holds as pending moves", 0)?;
        self.check_moves()?;
        let (mut free_bytes, mut busy_bytes) = (0u128, 0u128);
        let mut previous: Option<Span> = None;
        for piece in self.regions.pieces() {
            let span = piece.extent();
            match piece {
                Piece::Free(_) => free_bytes += span.size_bytes(),
                Piece::Busy(_) => busy_bytes += span.size_bytes(),
            }
            self.check_piece(previous, span)?;
            previous = Some(span);
        }
        let largest = self.regions.blocks().map(Span::size_saturating).max().unwrap_or(0);
        check(
            largest == self.regions.largest_bytes(&mut ()),
            "K5",
            "largest_bytes is the largest block's",
            0,
        )?;
        check(free_bytes == self.free_bytes, "K5", "free_bytes is the sum of the free blocks", 0)?;
        let all = free_bytes + busy_bytes == self.total_bytes;
        check(all, "K4", "every byte of the layout is free or taken", 0)?;
        let whole = self.total_bytes == self.hull.size_bytes();
        check(whole || !self.is_sub_space(), "K13", "a sub-space has no holes", self.hull.first())
    }

    fn check_piece(&self, previous: Option<Span>, span: Span) -> Result<(), Broken> {
        let (first, end) = (span.first(), span.last().wrapping_add(1));
        let apart = previous.is_none_or(|previous| previous.last() < first);
        check(apart, "K4", "blocks and regions are disjoint", first)?;
        check(self.hull.covers(span), "K4", "blocks and regions lie in the space", first)?;
        let whole = self.granule.divides(first) && self.granule.divides(end);
        check(whole, "K6", "blocks and regions are made of granules", first)
    }
}
