//! Statistics of a set and of its chunks.

use super::{Backing, ChunkSet};
use crate::geometry::BIT_BYTES;
use crate::placement::{Placement, Room};
use crate::{ChunkId, Offset};
use core::iter::FusedIterator;

/// Counts and sums over all chunks. Pages and bytes are those of one unit; the memory in use is that times the number
/// of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Chunks, including empty ones.
    pub chunks: u32,
    /// Live objects.
    pub objects: u64,
    /// Bytes without an object, populated or not.
    pub free_bytes: u64,
    /// Pages that have memory.
    pub populated_pages: u64,
    /// Of these, pages without any object, except those of isolated chunks.
    pub empty_pages: u32,
    /// Bytes of memory that the set holds for its maps, hints and lists.
    pub metadata_bytes: usize,
}

/// Statistics of one chunk, in the kernel's terms. Sizes and offsets are in bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkView {
    /// The chunk's name.
    pub id: ChunkId,
    /// The chunk's list; 0 is the list of full chunks.
    pub slot: u32,
    /// Free bytes.
    pub free_bytes: u32,
    /// The longest free run that the placement knows of. The default placement knows only an upper bound.
    pub contig_bytes: u32,
    /// The start of that run. `None` with the default placement, which does not know it.
    pub contig_start_bytes: Option<u32>,
    /// No byte below is free.
    pub first_free_bytes: u32,
    /// Pages that have memory.
    pub populated_pages: u32,
    /// Of these, pages without any object.
    pub empty_pages: u32,
    /// Live objects in the chunk.
    pub objects: u32,
    /// Whether the chunk is set aside so that its empty pages are depopulated.
    pub isolated: bool,
}

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Counts and sums. Cost: linear in the number of chunks.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let chunks = || self.chunks.indexes().map(|index| self.chunks.at(index));
        // A vacant position still has its hints in memory, until a new chunk replaces them.
        let held = self.chunks.positions().iter();
        let map_bytes: usize = held.map(|chunk| chunk.map_bytes() + P::hint_bytes(&chunk.hints)).sum();
        Stats {
            chunks: self.chunks.live,
            objects: self.objects,
            free_bytes: chunks().map(|chunk| u64::from(chunk.free_bits * BIT_BYTES)).sum(),
            populated_pages: self.populated_pages,
            empty_pages: self.chunks.empty_pages,
            metadata_bytes: self.chunks.bytes() + map_bytes + self.chunks.lists.bytes(),
        }
    }

    /// The number of populated pages of a unit, over all chunks. Cost: constant.
    #[must_use]
    pub fn populated_pages(&self) -> u64 {
        self.populated_pages
    }

    /// Every chunk, list by list, in the order of each list.
    ///
    /// Cost: a constant for each chunk, and a step for each list of chunks, of which there are at most 62.
    #[doc(alias = "percpu_stats")]
    pub fn chunks(&self) -> impl FusedIterator<Item = ChunkView> {
        (0..self.chunks.lists.count()).flat_map(|slot| self.chunks.lists.list(slot)).map(|index| {
            let chunk = self.chunks.at(index);
            let Room { longest, start, first_free } = P::room(&self.chunks, index);
            ChunkView {
                id: self.chunks.id(index),
                slot: self.chunks.lists.of(index),
                free_bytes: chunk.free_bits * BIT_BYTES,
                contig_bytes: longest * BIT_BYTES,
                contig_start_bytes: start.map(|start| start * BIT_BYTES),
                first_free_bytes: first_free * BIT_BYTES,
                populated_pages: chunk.populated_pages,
                empty_pages: chunk.empty_pages,
                objects: chunk.objects,
                isolated: chunk.isolated,
            }
        })
    }

    /// Every object and the bytes that it takes in each unit, chunk by chunk, by ascending offsets.
    ///
    /// Cost: a step for every 256 bytes of each unit of the chunks passed, and one for each object.
    pub fn objects(&self) -> impl FusedIterator<Item = (Offset, u32)> {
        self.chunks.indexes().flat_map(move |index| {
            let chunk = self.chunks.id(index);
            self.chunks.at(index).used.objects().map(move |object| {
                let offset = Offset { chunk, offset_bytes: object.start * BIT_BYTES };
                (offset, (object.end - object.start) * BIT_BYTES)
            })
        })
    }
}
