//! A chunk: what is true of it, and what a placement remembers.
//!
//! ```text
//!   objects    which bits are used, and where each object ends
//!   populated  1           0           one bit for a page: has memory in every unit
//! ```
//!
//! The maps are the truth; `hints` say where to look.

use crate::bitmap::{Bitmap, Bits as _};
use crate::geometry::{BIT_BYTES, Config, Population, base_of, block_of};
use crate::object_map::{Found, ObjectMap};
use crate::{ChunkId, FreeError, OutOfMemory, Place};
use core::ops::Range;

/// No chunk.
pub(crate) const NONE: u32 = u32::MAX;

/// One chunk of a set. A vacant position has no maps; its hints are of no use. What every free reads and writes comes first, in a line or two.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Chunk<H> {
    pub(crate) used: ObjectMap,
    /// How many chunks had the position before.
    pub(crate) generation: u32,
    pub(crate) free_bits: u32,
    pub(crate) objects: u32,
    /// Populated pages without any object.
    pub(crate) empty_pages: u32,
    /// Set aside to be emptied: its empty pages do not count for the set.
    pub(crate) isolated: bool,
    pub(crate) hints: H,
    pub(crate) populated_pages: u32,
    pub(crate) populated: Bitmap,
}

impl<H> Chunk<H> {
    /// A chunk without objects.
    pub(crate) fn new(config: &Config, generation: u32, hints: H) -> Result<Self, OutOfMemory> {
        let (bits, pages) = (config.bits(), config.blocks());
        let mut populated = Bitmap::new(pages)?;
        let whole = config.population == Population::Whole;
        populated.set_range(0..if whole { pages } else { 0 });
        Ok(Self {
            generation,
            free_bits: bits,
            objects: 0,
            populated_pages: if whole { pages } else { 0 },
            empty_pages: if whole { pages } else { 0 },
            isolated: false,
            used: ObjectMap::new(bits)?,
            populated,
            hints,
        })
    }

    /// Gives up the maps, as the chunk is gone.
    pub(crate) fn vacate(&mut self) {
        self.used = ObjectMap::empty();
        self.populated = Bitmap::empty();
        self.generation = self.generation.wrapping_add(1);
    }

    /// Whether there is a chunk at this position.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        !self.used.is_empty()
    }

    /// Bytes of the maps.
    pub(crate) fn map_bytes(&self) -> usize {
        self.used.bytes() + self.populated.bytes()
    }

    /// Notes an object in the maps. Returns how many blocks were free as a whole until now.
    #[inline]
    pub(crate) fn mark_taken(&mut self, object: &Range<u32>) -> u32 {
        let begun = self.used.take(object);
        self.empty_pages -= begun;
        self.free_bits -= object.end - object.start;
        self.objects += 1;
        begun
    }

    /// Clears the object that starts at `place`, which names this position, from the maps. Returns its bits, and how
    /// many blocks are free as a whole from now on, which `empty_pages` is yet to hear of.
    #[inline(always)]
    pub(crate) fn mark_free(&mut self, place: Place) -> Result<(Range<u32>, u32), FreeError> {
        // The offset in bits; one between two bits lies far outside.
        let start = place.offset_bytes.rotate_right(BIT_BYTES.ilog2());
        let Some((bits, emptied)) = self.used.give(start) else {
            return Err(self.no_object(place.chunk, place.offset_bytes));
        };
        self.free_bits += bits;
        self.objects -= 1;
        Ok((start..start + bits, emptied))
    }

    /// The bits of the object that starts at `place`, which names this position.
    pub(crate) fn object_at(&self, place: Place) -> Result<Range<u32>, FreeError> {
        let start = place.offset_bytes / BIT_BYTES;
        match self.used.find(start) {
            Found::Object(end) if place.offset_bytes.is_multiple_of(BIT_BYTES) => Ok(start..end),
            _ => Err(self.no_object(place.chunk, place.offset_bytes)),
        }
    }

    /// Why there is no object at a place of this position. It is told in parts, as those fit into registers.
    #[cold]
    fn no_object(&self, chunk: ChunkId, offset_bytes: u32) -> FreeError {
        if !self.is_live() {
            return FreeError::UnknownChunk { chunk };
        }
        let (place, bit) = (Place { chunk, offset_bytes }, offset_bytes / BIT_BYTES);
        match self.used.find(bit) {
            Found::Free if offset_bytes.is_multiple_of(BIT_BYTES) => FreeError::AlreadyFree { place },
            Found::Interior if offset_bytes.is_multiple_of(BIT_BYTES) => {
                let object = Place { offset_bytes: self.used.start_of(bit) * BIT_BYTES, ..place };
                FreeError::Interior { place, object }
            }
            _ => FreeError::NoObjectOffset { place },
        }
    }

    /// The pages that a run of bits touches.
    pub(crate) fn pages_of(run: &Range<u32>) -> Range<u32> {
        block_of(run.start)..block_of(run.end - 1) + 1
    }

    /// Where to look next for pages with memory under `run`: `None` if all have it. Otherwise the first page
    /// with memory behind the first one without, or the page after the run.
    pub(crate) fn hole_in_pages(&self, run: &Range<u32>) -> Option<u32> {
        let pages = Self::pages_of(run);
        let hole = self.populated.next_clear(pages.clone());
        (hole < pages.end).then(|| base_of(self.populated.next_set(hole..pages.end)))
    }
}
