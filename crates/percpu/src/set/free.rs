//! Freeing by place: the object's end is in the map of boundaries.

use super::{Backing, ChunkSet};
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
        self.objects -= 1;
        match P::gave(chunk, &object, probe) {
            Gave::Done => {}
            Gave::Moves => self.relocate(place.chunk.index),
            Gave::Unsettled => self.chunks.unsettled.push(place.chunk.index),
        }
        if emptied > 0 || P::ASIDE_BY_EACH_FREE {
            self.note_empty_pages(place.chunk.index, emptied);
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

    /// Counts the pages of a chunk that have become empty. Asks for balancing if the chunk is to go: it is free as
    /// another one is, or has many empty pages to spare.
    #[inline]
    fn note_empty_pages(&mut self, index: u32, emptied: u32) {
        let chunk = self.chunks.at_mut(index);
        chunk.empty_pages += emptied;
        let (own, objects, isolated) = (chunk.empty_pages, chunk.objects, chunk.isolated);
        self.chunks.empty_pages += if isolated { 0 } else { emptied };
        if objects == 0 && !isolated {
            let (slots, free) = (&self.chunks.slots, self.chunks.slots.free());
            self.balance_wanted |= slots.first(free) != slots.last(free);
        } else if own > 0 && self.should_empty(own, isolated) {
            self.isolate(index);
            self.balance_wanted = true;
        }
    }

    #[doc(alias = "pcpu_should_reclaim_chunk")]
    #[inline]
    fn should_empty(&self, own: u32, isolated: bool) -> bool {
        let to_spare = || self.chunks.empty_pages > EMPTY_PAGES_HIGH + own && own >= self.config.blocks() / 4;
        P::ISOLATES && self.config.population == Population::OnDemand && (isolated || to_spare())
    }
}
