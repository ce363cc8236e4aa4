//! Frees an object by its offset. The chunk's maps have its end.

use super::{Backing, ChunkSet};
use crate::config::Population;
use crate::geometry::BIT_BYTES;
use crate::placement::{Change, Placement};
use crate::{FreeError, Offset};
use freehold_units::Probe;

/// Balancing keeps this many empty pages for requests that cannot wait.
#[doc(alias = "PCPU_EMPTY_POP_PAGES_HIGH")]
pub(super) const EMPTY_PAGES_HIGH: u32 = 4;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Frees the object at `offset`. Returns the bytes that it took in each unit.
    ///
    /// Cost: constant: a step for every 256 bytes of the object, and at most two pages of the map around it.
    ///
    /// # Errors
    /// [`FreeError::UnknownChunk`], [`FreeError::NoObjectOffset`], [`FreeError::AlreadyFree`] or
    /// [`FreeError::Interior`]; nothing was changed.
    #[doc(alias = "free_percpu")]
    pub fn free(&mut self, offset: Offset) -> Result<u32, FreeError> {
        self.free_probed(offset, &mut ())
    }

    /// [`ChunkSet::free`], with the work counted. Cost: as [`ChunkSet::free`].
    ///
    /// # Errors
    /// As [`ChunkSet::free`].
    #[inline]
    pub fn free_probed(&mut self, offset: Offset, probe: &mut impl Probe) -> Result<u32, FreeError> {
        let chunk = self.chunks.find_mut(offset.chunk)?;
        let Some((object, emptied)) = chunk.mark_free(offset.offset_bytes) else {
            return Err(chunk.no_object(offset));
        };
        self.objects -= 1;
        self.chunks.empty_pages += if chunk.isolated { 0 } else { emptied };
        let bits = object.end - object.start;
        let freed = Change { chunk: offset.chunk.index, object, pages: emptied };
        P::update_hint_free(&mut self.chunks, &freed, probe);
        self.ask_for_balance(offset.chunk.index);
        Ok(bits * BIT_BYTES)
    }

    /// Frees the object at `offset`, which was allocated with `size_bytes`.
    ///
    /// Cost: as [`ChunkSet::taken_bytes`] and [`ChunkSet::free`].
    ///
    /// # Errors
    /// As [`ChunkSet::free`], and [`FreeError::WrongSize`]; nothing was changed.
    pub fn free_sized(&mut self, offset: Offset, size_bytes: u64) -> Result<(), FreeError> {
        let taken_bytes = self.taken_bytes(offset)?;
        if size_bytes.checked_next_multiple_of(u64::from(BIT_BYTES)) != Some(u64::from(taken_bytes)) {
            return Err(FreeError::WrongSize { offset, size_bytes, taken_bytes });
        }
        self.free(offset).map(|_| ())
    }

    /// Requests balancing after a free if memory can be released. This is so if this chunk and another one have no
    /// object, or if this chunk has many empty pages and there are enough elsewhere. In the latter case it sets the
    /// chunk aside.
    #[doc(alias = "pcpu_should_reclaim_chunk")]
    #[inline]
    fn ask_for_balance(&mut self, index: u32) {
        let chunk = self.chunks.at(index);
        let own = chunk.empty_pages;
        if chunk.objects == 0 && !chunk.isolated {
            let (lists, free) = (&self.chunks.lists, self.chunks.lists.free());
            self.balance_wanted |= lists.first(free) != lists.last(free);
        } else if (own >= self.config.blocks() / 4 && self.chunks.empty_pages > EMPTY_PAGES_HIGH + own
            || chunk.isolated && own > 0)
            && P::ISOLATES
            && self.config.population == Population::OnDemand
        {
            self.isolate(index);
            self.balance_wanted = true;
        }
    }
}
