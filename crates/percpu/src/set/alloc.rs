//! Allocating: check the request, find a place, put memory behind it, mark it.

use super::{Backing, ChunkSet};
use crate::chunk::Chunk;
use crate::geometry::BIT_BYTES;
use crate::placement::{Change, Location, Placement};
use crate::request::CheckedRequest;
use crate::{AllocError, ChunkId, OutOfMemory, Place, Request};
use core::ops::Range;
use freehold_units::Probe;

/// Fewer empty pages than this, and balancing is asked for, so that requests that cannot wait find some.
#[doc(alias = "PCPU_EMPTY_POP_PAGES_LOW")]
const EMPTY_PAGES_LOW: u32 = 2;

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Places an object. Its pages have memory in every unit; what that memory holds is as the last owner left it,
    /// or zero if there was none.
    ///
    /// # Errors
    /// See [`AllocError`]. No object was placed; a request that cannot wait and fails asks for balancing.
    #[doc(alias = "pcpu_alloc")]
    pub fn alloc(&mut self, request: &Request) -> Result<Place, AllocError> {
        self.alloc_probed(request, &mut ())
    }

    /// [`ChunkSet::alloc`], with the work counted.
    ///
    /// # Errors
    /// As [`ChunkSet::alloc`].
    #[inline]
    pub fn alloc_probed(&mut self, request: &Request, probe: &mut impl Probe) -> Result<Place, AllocError> {
        let checked = request.check()?;
        let Location { chunk, bit } = match P::find(&mut self.chunks, &checked, probe) {
            Some(location) => location,
            None => self.find_in_new_chunk(&checked, request, probe)?,
        };
        let id = self.take(chunk, bit..bit + checked.bits, probe)?;
        Ok(Place { chunk: id, offset_bytes: bit * BIT_BYTES })
    }

    /// A place in a chunk made for the request, if it may wait for one.
    #[cold]
    fn find_in_new_chunk(
        &mut self,
        checked: &CheckedRequest,
        request: &Request,
        probe: &mut impl Probe,
    ) -> Result<Location, AllocError> {
        if checked.atomic {
            self.atomic_failed = true;
            self.balance_wanted = true;
            return Err(AllocError::NoPopulatedRoom { size_bytes: request.size_bytes });
        }
        self.create_chunk()?;
        // A chunk without objects holds whatever may be asked for.
        P::find(&mut self.chunks, checked, probe).ok_or(AllocError::OutOfMemory)
    }

    /// Marks the object in its chunk, after memory was put behind the pages that have none. Returns the chunk's name.
    #[inline]
    fn take(
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

    /// Puts memory behind the object's pages that have none, and marks it. Returns how many pages it begins.
    #[cold]
    #[allow(clippy::expect_used, reason = "only a broken invariant stops it, and is named")]
    fn populate_and_mark(&mut self, index: u32, object: &Range<u32>) -> Result<u32, OutOfMemory> {
        self.populate(index, Chunk::<P::Hints>::pages_of(object), u32::MAX)?;
        Ok(self.chunks.at_mut(index).mark_taken(object).expect("P5: all pages of the object have memory now"))
    }
}
