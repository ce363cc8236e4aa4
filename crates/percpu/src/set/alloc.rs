//! Allocation: checks the request, finds a place, populates its pages, marks the object.

use super::{Backing, ChunkSet};
use crate::geometry::BIT_BYTES;
use crate::placement::Chunk;
use crate::placement::{Change, Location, Placement};
use crate::request::BitRequest;
use crate::{AllocError, ChunkId, Offset, OutOfMemory, Request};
use core::ops::Range;
use freehold_units::Probe;

/// With fewer empty pages than this, the set wants balancing: requests that cannot wait need empty pages.
#[doc(alias = "PCPU_EMPTY_POP_PAGES_LOW")]
const EMPTY_PAGES_LOW: u32 = 2;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Places an object in pages that have memory in every unit. The memory has the contents of the last object there,
    /// or zeros if there was none since the page was populated.
    ///
    /// Cost: that of the placement: [`first_fit`](crate::first_fit) takes amortized O(log chunks) and visits a constant
    /// number of pages, or, for an object of more than a page or with an alignment of more than 4 bytes, up to all of a
    /// chunk; in the worst case it visits every chunk. If a page without objects, a chunk or memory is needed, also a step for each page of a unit;
    /// for the latter two, a call of the [`Backing`].
    ///
    /// # Errors
    /// See [`AllocError`]. After [`AllocError::NoPopulatedRoom`] the set wants balancing.
    #[doc(alias = "pcpu_alloc")]
    pub fn alloc(&mut self, request: &Request) -> Result<Offset, AllocError> {
        self.alloc_probed(request, &mut ())
    }

    /// [`ChunkSet::alloc`], with the work counted. Cost: as [`ChunkSet::alloc`].
    ///
    /// # Errors
    /// As [`ChunkSet::alloc`].
    #[inline]
    pub fn alloc_probed(&mut self, request: &Request, probe: &mut impl Probe) -> Result<Offset, AllocError> {
        let checked = request.check()?;
        let Location { chunk, bit } = match P::find(&mut self.chunks, &checked, probe) {
            Some(location) => location,
            None => self.find_in_new_chunk(&checked, request, probe)?,
        };
        let id = self.take(chunk, bit..bit + checked.bits, probe)?;
        Ok(Offset { chunk: id, offset_bytes: bit * BIT_BYTES })
    }

    /// A place in a new chunk, if the request may wait for one.
    #[cold]
    #[allow(clippy::expect_used, reason = "only a broken invariant stops it, and is named")]
    fn find_in_new_chunk(
        &mut self,
        checked: &BitRequest,
        request: &Request,
        probe: &mut impl Probe,
    ) -> Result<Location, AllocError> {
        if checked.atomic {
            self.atomic_failed = true;
            self.balance_wanted = true;
            return Err(AllocError::NoPopulatedRoom { size_bytes: request.size_bytes });
        }
        if !self.create_chunk()? {
            let (chunks, unit_bytes) = (self.backing.most_chunks(), self.config.unit_bytes);
            return Err(AllocError::AtCapacity { capacity_bytes: u64::from(chunks) * u64::from(unit_bytes) });
        }
        let location = P::find(&mut self.chunks, checked, probe);
        Ok(location.expect("P9: a chunk without objects has a place for every request"))
    }

    /// Marks an object in its chunk, after populating its pages if they have no memory. Returns the chunk's name.
    #[inline]
    pub(super) fn take(
        &mut self,
        index: u32,
        object: Range<u32>,
        probe: &mut impl Probe,
    ) -> Result<ChunkId, OutOfMemory> {
        let begun = match self.chunks.at_mut(index).mark_taken(&object) {
            Some(begun) => begun,
            None => self.populate_and_mark(index, &object)?,
        };
        let chunk = self.chunks.at(index);
        let (id, isolated) = (ChunkId { index, generation: chunk.generation }, chunk.isolated);
        self.objects += 1;
        let taken = Change { chunk: index, object, pages: begun };
        P::update_hint_alloc(&mut self.chunks, &taken, probe);
        if isolated {
            self.reintegrate(index);
        } else {
            self.chunks.empty_pages -= begun;
        }
        self.balance_wanted |= self.chunks.empty_pages < EMPTY_PAGES_LOW;
        Ok(id)
    }

    /// Populates an object's pages, then marks it. Returns how many of the pages had no object.
    #[cold]
    #[allow(clippy::expect_used, reason = "only a broken invariant stops it, and is named")]
    fn populate_and_mark(&mut self, index: u32, object: &Range<u32>) -> Result<u32, OutOfMemory> {
        self.populate(index, Chunk::<P::Hints>::pages_of(object), u32::MAX)?;
        Ok(self.chunks.at_mut(index).mark_taken(object).expect("P5: all pages of the object have memory now"))
    }
}
