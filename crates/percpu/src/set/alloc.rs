//! Allocating: check the request, find a place, put memory behind it, mark it.

use super::{Backing, ChunkSet};
use crate::bitmap::Bits as _;
use crate::chunk::Chunk;
use crate::geometry::BIT_BYTES;
use crate::placement::{Placement, Spot};
use crate::request::Want;
use crate::{AllocError, OutOfMemory, Place, Request};
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
        let want = request.check()?;
        let spot = match P::find(&mut self.chunks, &want, probe) {
            Some(spot) => spot,
            None => self.make_room(&want, request, probe)?,
        };
        self.populate_under(spot, &want)?;
        self.take(spot, &want, probe);
        Ok(Place { chunk: self.chunks.id(spot.chunk), offset_bytes: spot.bit * BIT_BYTES })
    }

    /// A place in a chunk made for the request, if it may wait for one.
    #[cold]
    fn make_room(
        &mut self,
        want: &Want,
        request: &Request,
        probe: &mut impl Probe,
    ) -> Result<Spot, AllocError> {
        if want.atomic {
            self.atomic_failed = true;
            self.balance_wanted = true;
            return Err(AllocError::NoPopulatedRoom { size_bytes: request.size_bytes });
        }
        self.create_chunk()?;
        // A chunk without objects holds whatever may be asked for.
        P::find(&mut self.chunks, want, probe).ok_or(AllocError::OutOfMemory)
    }

    /// Puts memory behind the pages of the place that have none.
    #[inline]
    fn populate_under(&mut self, spot: Spot, want: &Want) -> Result<(), OutOfMemory> {
        let chunk = self.chunks.at(spot.chunk);
        if chunk.populated_pages == self.config.blocks() {
            return Ok(());
        }
        let pages = Chunk::<P::Hints>::pages_of(&(spot.bit..spot.bit + want.bits));
        if chunk.populated.next_clear(pages.clone()) < pages.end {
            self.populate(spot.chunk, pages, u32::MAX)?;
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, spot: Spot, want: &Want, probe: &mut impl Probe) {
        let object = spot.bit..spot.bit + want.bits;
        let chunk = self.chunks.at_mut(spot.chunk);
        let begun = chunk.mark_taken(&object);
        let moves = P::took(chunk, &object, probe);
        let isolated = chunk.isolated;
        self.objects += 1;
        if moves {
            self.relocate(spot.chunk);
        }
        if isolated {
            self.reintegrate(spot.chunk);
        } else {
            self.chunks.empty_pages -= begun;
        }
        self.balance_wanted |= self.chunks.empty_pages < EMPTY_PAGES_LOW;
    }
}
