//! Freeing by place: the object's end is in the map of boundaries.

use super::{Backing, ChunkSet};
use crate::geometry::{BIT_BYTES, Population};
use crate::placement::{Gave, Placement};
use crate::{FreeError, Place};
use freehold_units::Probe;

/// As many empty pages are always left for requests that cannot wait.
#[doc(alias = "PCPU_EMPTY_POP_PAGES_HIGH")]
pub(super) const EMPTY_PAGES_HIGH: u32 = 4;

/// What a free leaves in a chunk.
#[derive(Clone, Copy)]
struct Left {
    objects: u32,
    empty_pages: u32,
    isolated: bool,
}

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
        let left = Left { objects: chunk.objects, empty_pages: chunk.empty_pages, isolated: chunk.isolated };
        let gave = P::gave(chunk, &object, probe);
        self.chunks.empty_pages += if left.isolated { 0 } else { emptied };
        self.objects -= 1;
        match gave {
            Gave::Done => {}
            Gave::Moves => self.relocate(place.chunk.index),
            Gave::Unsettled => self.chunks.unsettled.push(place.chunk.index),
        }
        if left.empty_pages > 0 {
            self.consider_emptying(place.chunk.index, left);
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
    fn consider_emptying(&mut self, index: u32, left: Left) {
        if left.objects == 0 && !left.isolated {
            let (slots, free) = (&self.chunks.slots, self.chunks.slots.free());
            self.balance_wanted |= slots.first(free) != slots.last(free);
        } else if self.should_empty(left) {
            self.isolate(index);
            self.balance_wanted = true;
        }
    }

    #[doc(alias = "pcpu_should_reclaim_chunk")]
    #[inline]
    fn should_empty(&self, left: Left) -> bool {
        let own = left.empty_pages;
        let to_spare = || self.chunks.empty_pages > EMPTY_PAGES_HIGH + own && own >= self.config.blocks() / 4;
        P::ISOLATES && self.config.population == Population::OnDemand && (left.isolated || to_spare())
    }
}
