//! The allocator of per-CPU offsets by itself: `fh_chunk_set`.

use crate::error::{Failure, check_size, fh_error};
use crate::handle::{code_of, hand_out};
use freehold::percpu::{ChunkId, ChunkSet, Config, Offset, Request};
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// Hands out offsets that are valid in the unit of every CPU. It keeps no memory itself. One thread at a time.
pub struct fh_chunk_set(ChunkSet);

/// A place in every CPU's unit of a chunk.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct fh_offset {
    /// The chunk's number.
    pub chunk: u32,
    /// How often the number was used before.
    pub generation: u32,
    /// Bytes from the unit's start.
    pub offset_bytes: u32,
}

/// What a chunk set holds.
#[repr(C)]
pub struct fh_chunk_set_stats {
    /// sizeof(fh_chunk_set_stats), set by the caller.
    pub size: usize,
    /// Chunks.
    pub chunks: u64,
    /// Objects.
    pub objects: u64,
    /// Free bytes of one unit of each chunk.
    pub free_bytes: u64,
    /// Bytes of memory that the set itself takes.
    pub metadata_bytes: u64,
}

/// Makes an empty set. `unit_bytes`: of each CPU in a chunk, whole pages. The caller owns the handle, and ends it by
/// fh_chunk_set_destroy. Any thread. Cost: constant.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_chunk_set_new(
    unit_bytes: u32,
    cpus: u32,
    set: Option<&mut MaybeUninit<Box<fh_chunk_set>>>,
) -> c_int {
    given!(set);
    let make = || Ok(fh_chunk_set(ChunkSet::new(Config::new(unit_bytes, cpus))?));
    hand_out(set, make())
}

/// Ends a set. One thread at a time. Cost: O(chunks).
///
/// @return FH_OK; FH_ENULL
#[unsafe(no_mangle)]
pub extern "C" fn fh_chunk_set_destroy(set: Option<Box<fh_chunk_set>>) -> c_int {
    given!(set);
    drop(set);
    fh_error::FH_OK as c_int
}

/// Allocates an object. `align_bytes`: a power of two. `offset`: gets its place. One thread at a time. Cost: O(log n) for n chunks,
/// mostly.
///
/// @return FH_OK; FH_ENULL; FH_EINVAL; FH_ENOMEM
#[unsafe(no_mangle)]
pub extern "C" fn fh_chunk_set_alloc(
    set: Option<&mut fh_chunk_set>,
    size_bytes: u64,
    align_bytes: u64,
    offset: Option<&mut MaybeUninit<fh_offset>>,
) -> c_int {
    given!(set, offset);
    let request = Request::new(size_bytes).align(align_bytes);
    let place = attempt!(set.0.alloc(&request).map_err(Failure::from));
    let (chunk, generation) = (place.chunk.index(), place.chunk.generation());
    offset.write(fh_offset { chunk, generation, offset_bytes: place.offset_bytes });
    fh_error::FH_OK as c_int
}

/// Frees an object. `size_bytes`: optional, gets the bytes that it took. One thread at a time. Cost: O(log n) for n chunks.
///
/// @return FH_OK; FH_ENULL; FH_EFREE; FH_EINTERIOR; FH_ENOENT: no such chunk; FH_EINVAL: no such place
#[unsafe(no_mangle)]
pub extern "C" fn fh_chunk_set_free(
    set: Option<&mut fh_chunk_set>,
    offset: fh_offset,
    size_bytes: Option<&mut MaybeUninit<u32>>,
) -> c_int {
    given!(set);
    let chunk = ChunkId::from_parts(offset.chunk, offset.generation);
    let taken =
        attempt!(set.0.free(Offset { chunk, offset_bytes: offset.offset_bytes }).map_err(Failure::from));
    size_bytes.map(|bytes| bytes.write(taken));
    fh_error::FH_OK as c_int
}

/// Tells what a set holds. `stats`: its size is set. One thread at a time. Cost: O(chunks).
///
/// @return FH_OK; FH_ENULL; FH_ESIZE
#[unsafe(no_mangle)]
pub extern "C" fn fh_chunk_set_get_stats(
    set: Option<&fh_chunk_set>,
    stats: Option<&mut fh_chunk_set_stats>,
) -> c_int {
    given!(set, stats);
    attempt!(check_size::<fh_chunk_set_stats>(stats.size));
    let now = set.0.stats();
    *stats = fh_chunk_set_stats {
        size: stats.size,
        chunks: now.chunks.into(),
        objects: now.objects,
        free_bytes: now.free_bytes,
        metadata_bytes: now.metadata_bytes as u64,
    };
    fh_error::FH_OK as c_int
}

/// Checks every invariant of a set from scratch. One thread at a time. Cost: O(n) for n chunks' bits.
///
/// @return FH_OK; FH_ENULL; FH_EBROKEN
#[unsafe(no_mangle)]
pub extern "C" fn fh_chunk_set_validate(set: Option<&fh_chunk_set>) -> c_int {
    given!(set);
    code_of(set.0.validate().map_err(Failure::from), None)
}
