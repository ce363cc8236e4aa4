//! The list of a chunk: by the power of two of its largest free area, or of all its free bytes.

use super::{Hints, Rules};
use freehold_percpu::BIT_BYTES;
use freehold_percpu::placement::{Chunk, ChunkLists};

/// Sizes up to 2^this bytes share the first list.
const SHIFT: u32 = 3;

/// The list for a number of bytes: by its highest bit, and at least 1.
pub(super) fn list_of_bytes(bytes: u32) -> u32 {
    (u32::BITS - bytes.leading_zeros()).saturating_sub(SHIFT).max(1)
}

/// The number of lists for units of `bits` bits. List 0 is for full chunks.
pub(super) fn list_count(bits: u32) -> u32 {
    list_of_bytes(bits * BIT_BYTES) + 1
}

/// The list that a chunk belongs on.
#[doc(alias = "pcpu_chunk_slot")]
#[inline]
pub(super) fn list_of<R: Rules>(chunk: &Chunk<Hints>, lists: &ChunkLists) -> u32 {
    let longest = &chunk.hints.chunk;
    let room = if R::SLOTS_BY_FREE_BYTES { chunk.free_bits } else { longest.contig_hint };
    if chunk.free_bits == 0 || longest.contig_hint == 0 {
        0
    } else if room == longest.bits {
        lists.free()
    } else {
        list_of_bytes(room * BIT_BYTES)
    }
}
