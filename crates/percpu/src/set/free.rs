//! Freeing by place: the object's end is in the map of boundaries.

use super::{Backing, ChunkSet};
use crate::chunk::Chunk;
use crate::geometry::{BIT_BYTES, Population};
use crate::placement::{Gave, Placement};
use crate::{FreeError, Place};
use freehold_units::Probe;

/// As many empty pages are always left for requests that cannot wait.
#[doc(alias = "PCPU_EMPTY_POP_PAGES_HIGH")]
pub(super) const EMPTY_PAGES_HIGH: u32 = 4;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Frees the object at `place`. Returns the bytes that it took in each unit.
    ///
    /// # Errors
    /// [`FreeError::UnknownChunk`], [`FreeError::NoObjectOffset`], [`FreeError::AlreadyFree`] or
    /// [`FreeError::Interior`]; nothing was changed.
    #[doc(alias = "free_percpu")]
    pub fn free(&mut self, place: Place) -> Result<u32, FreeError> {
        self.free_probed(place, &mut ())
    }

    /// [`ChunkSet::free`], with the work counted.
    ///
    /// # Errors
    /// As [`ChunkSet::free`].
    #[inline]
    pub fn free_probed(&mut self, place: Place, probe: &mut impl Probe) -> Result<u32, FreeError> {
        P::pause(&mut self.chunks, probe);
        let chunk = self.chunks.find_mut(place.chunk)?;
        let (object, emptied) = chunk.mark_free(place)?;
        // Each page of the last object is empty now, so that a chunk without objects has such.
        let (isolated, some_empty) = (chunk.isolated, chunk.empty_pages > 0);
        let gave = P::gave(chunk, &object, probe);
        self.chunks.empty_pages += if isolated { 0 } else { emptied };
        self.objects -= 1;
        match gave {
            Gave::Done => {}
            Gave::Moves => self.relocate(place.chunk.index),
            Gave::Unsettled => self.chunks.unsettled.push(place.chunk.index),
        }
        if some_empty {
            self.consider_emptying(place.chunk.index);
        }
        Ok((object.end - object.start) * BIT_BYTES)
    }

    /// Frees the object at `place`, which was allocated with `size_bytes`.
    ///
    /// # Errors
    /// As [`ChunkSet::free`], and [`FreeError::WrongSize`]; nothing was changed.
    pub fn free_sized(&mut self, place: Place, size_bytes: u64) -> Result<(), FreeError> {
        let taken_bytes = self.taken_bytes(place)?;
        if size_bytes.checked_next_multiple_of(u64::from(BIT_BYTES)) != Some(u64::from(taken_bytes)) {
            return Err(FreeError::WrongSize { place, size_bytes, taken_bytes });
        }
        self.free(place).map(|_| ())
    }

    /// Asks for balancing if a chunk with empty pages is to go: it is free as another one is, or has many of them to
    /// spare.
    #[inline]
    fn consider_emptying(&mut self, index: u32) {
        let chunk = self.chunks.at(index);
        if chunk.objects == 0 && !chunk.isolated {
            let (slots, free) = (&self.chunks.slots, self.chunks.slots.free());
            self.balance_wanted |= slots.first(free) != slots.last(free);
        } else if self.should_empty(chunk) {
            self.isolate(index);
            self.balance_wanted = true;
        }
    }

    #[doc(alias = "pcpu_should_reclaim_chunk")]
    fn should_empty(&self, chunk: &Chunk<P::Hints>) -> bool {
        let own = chunk.empty_pages;
        let to_spare = self.chunks.empty_pages > EMPTY_PAGES_HIGH + own && own >= self.config.blocks() / 4;
        P::ISOLATES && self.config.population == Population::OnDemand && (chunk.isolated || to_spare)
    }
}
