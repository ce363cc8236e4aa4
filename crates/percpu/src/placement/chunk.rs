//! A chunk: its maps, its counts, and its placement's hints.
//!
//! ```text
//!   used    where each object starts, and which bits are used
//!   pages   which pages have memory in every unit, and how many bits of each are used
//! ```
//!
//! The maps are exact. `hints` guide the placement's search in them.

use crate::config::{Config, Population};
use crate::geometry::{BIT_BYTES, base_of, block_of};
use crate::object_map::{Found, ObjectMap};
use crate::pages::Pages;
use crate::{FreeError, Offset, OutOfMemory};
use core::ops::Range;

/// Stands for "no chunk".
pub const NONE: u32 = u32::MAX;

/// One chunk of a set, or a vacant position, which has no maps and the hints of a chunk without objects.
#[derive(Clone, Debug)]
pub struct Chunk<H> {
    /// The map of used bits and object starts.
    pub used: ObjectMap,
    /// The pages: whether each has memory, and its number of used bits.
    pub pages: Pages,
    /// The placement's hints.
    pub hints: H,
    /// The number of chunks that had this position before.
    pub(crate) generation: u32,
    /// Number of free bits.
    pub free_bits: u32,
    /// Number of live objects.
    pub objects: u32,
    /// Number of populated pages.
    pub populated_pages: u32,
    /// Number of populated pages without any object.
    pub(crate) empty_pages: u32,
    /// Whether the chunk is set aside so that its pages can be depopulated. If so, its empty pages do not count for the
    /// set.
    pub(crate) isolated: bool,
}

impl<H> Chunk<H> {
    /// A chunk without objects.
    pub(crate) fn new(config: &Config, generation: u32, hints: H) -> Result<Self, OutOfMemory> {
        let (bits, count) = (config.bits(), config.blocks());
        let mut pages = Pages::new(count)?;
        let populated = if config.population == Population::Whole { count } else { 0 };
        pages.set_populated(0..populated, true);
        Ok(Self {
            used: ObjectMap::new(bits)?,
            pages,
            hints,
            generation,
            free_bits: bits,
            objects: 0,
            populated_pages: populated,
            empty_pages: populated,
            isolated: false,
        })
    }

    /// Drops the maps and so makes the position vacant.
    pub(crate) fn vacate(&mut self) {
        self.used = ObjectMap::empty();
        self.pages = Pages::none();
        (self.populated_pages, self.empty_pages) = (0, 0);
    }

    /// Whether there is a chunk at this position.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        !self.used.is_empty()
    }

    /// Bytes of the maps.
    pub(crate) fn map_bytes(&self) -> usize {
        self.used.bytes() + self.pages.bytes()
    }

    /// Marks an object in the maps. Returns how many of its pages had no object before. Returns `None`, and changes
    /// nothing, if one of its pages has no memory.
    // `inline(always)`: 323 instructions an operation, 331 without (`freehold replay --instructions` of
    // forkshell.pcpu). The six in this crate together: 372 without, and 0.53 of `bitmap-linux-fixed` in time over the
    // recorded workloads instead of 0.48.
    #[inline(always)]
    pub(crate) fn mark_taken(&mut self, object: &Range<u32>) -> Option<u32> {
        let begun = self.pages.take(object)?;
        self.used.take(object);
        self.empty_pages -= begun;
        self.free_bits -= object.end - object.start;
        self.objects += 1;
        Some(begun)
    }

    /// Clears the object that starts at an offset. Returns its bits, and how many of its pages have no object any more.
    /// Returns `None` if no object starts there.
    // `inline(always)`: 323 instructions an operation, 336 without (`freehold replay --instructions` of
    // forkshell.pcpu).
    #[inline(always)]
    pub(crate) fn mark_free(&mut self, offset_bytes: u32) -> Option<(Range<u32>, u32)> {
        // The offset in bits. If the offset is not a multiple of 4, its low bits rotate to the top. The result is then
        // beyond every unit, and no object is found.
        let start = offset_bytes.rotate_right(BIT_BYTES.ilog2());
        let end = self.used.give(start)?;
        let object = start..end;
        let emptied = self.pages.give(&object);
        self.empty_pages += emptied;
        self.free_bits += end - start;
        self.objects -= 1;
        Some((object, emptied))
    }

    /// The bits of the object that starts at `offset` in this chunk.
    pub(crate) fn object_at(&self, offset: Offset) -> Result<Range<u32>, FreeError> {
        let start = offset.offset_bytes / BIT_BYTES;
        match self.used.find(start) {
            Found::Object(end) if offset.offset_bytes.is_multiple_of(BIT_BYTES) => Ok(start..end),
            _ => Err(self.no_object(offset)),
        }
    }

    /// The error for an `offset` at this position where no object starts.
    #[cold]
    pub(crate) fn no_object(&self, offset: Offset) -> FreeError {
        let Offset { chunk, offset_bytes } = offset;
        if !self.is_live() {
            return FreeError::UnknownChunk { chunk };
        }
        let bit = offset_bytes / BIT_BYTES;
        match self.used.find(bit) {
            Found::Free if offset_bytes.is_multiple_of(BIT_BYTES) => FreeError::AlreadyFree { offset },
            Found::Interior if offset_bytes.is_multiple_of(BIT_BYTES) => {
                let object = Offset { offset_bytes: self.used.start_of(bit) * BIT_BYTES, ..offset };
                FreeError::Interior { offset, object }
            }
            _ => FreeError::NoObjectOffset { offset },
        }
    }

    /// The pages that a run of bits touches.
    pub(crate) fn pages_of(run: &Range<u32>) -> Range<u32> {
        block_of(run.start)..block_of(run.end - 1) + 1
    }

    /// The bit at which a search continues after the unpopulated pages of a run: the first bit of the first populated
    /// page after the first unpopulated one. If there is none, the first bit of the page after the run. Cost: a step
    /// for every page.
    pub fn behind_bare_pages(&self, run: &Range<u32>) -> u32 {
        let pages = Self::pages_of(run);
        let bare = self.pages.next_bare(pages.clone());
        base_of(self.pages.next_populated(bare..pages.end))
    }
}
