//! Rebuilds a space from an image.

use super::RestoreError;
use super::read::{Part, Runs};
use crate::{AddressSpace, OutOfMemory, Placement};
use alloc::vec::Vec;
use freehold_units::Span;

impl<V> AddressSpace<V> {
    /// Restores the space from its [bytes](Self::to_bytes), with any placement. `decode` makes a value from
    /// its bytes. Carved regions await their sub-spaces ([`AddressSpace::adopt`]), and pending moves are restored
    /// ([`AddressSpace::pending_moves`]).
    ///
    /// Free blocks and regions are exactly the original ones.
    ///
    /// # Errors
    /// [`RestoreError`]: the bytes are invalid, a value could not be decoded, or there is no memory.
    ///
    /// # Cost
    /// O(n log n) in the number of runs. Memory in proportion to the number of `bytes`, whatever they contain, plus
    /// that of `decode`.
    pub fn from_bytes<E>(
        bytes: &[u8],
        placement: Placement,
        mut decode: impl FnMut(&[u8]) -> Result<V, E>,
    ) -> Result<Self, RestoreError<E>> {
        let mut runs = Runs::open(bytes)?;
        let mut space = Self::bare(Span::ALL, runs.granule(), placement)?;
        let mut hull: Option<Span> = None;
        let mut moves = Vec::new();
        while let Some(part) = runs.next()? {
            if let Some(extent) = space.rebuild(part, &mut moves, &mut decode)? {
                space.total_bytes += extent.size_bytes();
                hull = Some(hull.map_or(extent, |hull| hull.hull(extent)));
            }
        }
        space.hull = hull.ok_or(RestoreError::Empty)?;
        // A region may come after the placeholder that it moves to.
        match space.restore_moves(&moves)? {
            None => Ok(space),
            Some(address) => Err(RestoreError::Move { address }),
        }
    }

    /// Adds the contents of a run above all existing addresses, and a move to `moves`. Returns the run's addresses,
    /// guard included.
    fn rebuild<E>(
        &mut self,
        part: Part<'_>,
        moves: &mut Vec<(u64, u64, u64)>,
        decode: &mut impl FnMut(&[u8]) -> Result<V, E>,
    ) -> Result<Option<Span>, RestoreError<E>> {
        match part {
            Part::Hole => Ok(None),
            Part::Free(block) => {
                self.rebuild_block(block)?;
                Ok(Some(block))
            }
            Part::Region { span, terms, guard, is_carved, value } => {
                let value = decode(value).map_err(|error| RestoreError::Value { region: span, error })?;
                let taken = guard.map_or(span, |guard| span.hull(guard));
                // Adds a free block first, and then takes the region from it.
                self.rebuild_block(taken)?;
                self.reserve_regions(1)?;
                if is_carved {
                    self.carved.reserve()?;
                    self.carved.set(span.first(), None);
                }
                let block = self.block_over(taken).expect("K4: what was added is free");
                self.occupy(block, taken, terms, Some(value), &mut ());
                Ok(Some(taken))
            }
            Part::Placeholder { span, from, to } => {
                self.rebuild_block(span)?;
                moves.try_reserve(1).map_err(OutOfMemory::from)?;
                moves.push((from, to, span.first()));
                self.reserve_regions(1)?;
                let block = self.block_over(span).expect("K4: what was added is free");
                self.occupy(block, span, self.unaligned(), None, &mut ());
                Ok(Some(span))
            }
        }
    }

    fn rebuild_block<E>(&mut self, block: Span) -> Result<(), RestoreError<E>> {
        self.reserve_regions(1)?;
        self.release_new(block, &mut ()).expect("K4: a run starts where the one before it ended");
        Ok(())
    }
}
