//! Allocating: check the request, find a place, put memory behind it, mark it.

use super::{Backing, ChunkSet};
use crate::chunk::Chunk;
use crate::geometry::BIT_BYTES;
use crate::placement::{Change, Location, Placement};
use crate::request::CheckedRequest;
use crate::{AllocError, OutOfMemory, Place, Request};
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
        let object = bit..bit + checked.bits;
        self.populate_under(chunk, &object)?;
        self.take(chunk, object, probe);
        Ok(Place { chunk: self.chunks.id(chunk), offset_bytes: bit * BIT_BYTES })
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

    /// Puts memory behind the pages of the place that have none.
    #[inline]
    fn populate_under(&mut self, chunk: u32, object: &Range<u32>) -> Result<(), OutOfMemory> {
        if self.chunks.at(chunk).pages.are_populated(object) {
            return Ok(());
        }
        self.populate(chunk, Chunk::<P::Hints>::pages_of(object), u32::MAX).map(|_| ())
    }

    #[inline]
    fn take(&mut self, index: u32, object: Range<u32>, probe: &mut impl Probe) {
        let chunk = self.chunks.at_mut(index);
        let begun = chunk.mark_taken(&object);
        let isolated = chunk.isolated;
        self.objects += 1;
        let taken = Change { chunk: index, object, pages: begun };
        P::update_hint_alloc(&mut self.chunks, &taken, probe);
        if isolated {
            self.reintegrate(index);
        } else {
            self.chunks.empty_pages -= begun;
        }
        self.balance_wanted |= self.chunks.empty_pages < EMPTY_PAGES_LOW;
    }
}
