//! The kernel's placements keep to what every placement does, and do what they are known for.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../../percpu/tests/placements/laws.rs"]
mod laws;
/// The one allocator of all tests that refuse memory.
#[path = "../../../kva/tests/out_of_memory/refusing.rs"]
mod refusing;

use freehold_linux::percpu::{Linux, Linux2017, LinuxFixed};
use freehold_percpu::placement::Placement;
use freehold_percpu::{AllocError, ChunkSet, Config, FirstFit, MIN_UNIT_BYTES, Offset, Population, Request};
use proptest::prelude::*;
use refusing::{NONE_REFUSED, watched};

laws::for_placements!(Linux, LinuxFixed, Linux2017);

fn units<P: Placement>() -> ChunkSet<P> {
    ChunkSet::new(Config::new(MIN_UNIT_BYTES, 1).population(Population::Whole)).unwrap()
}

/// A full unit, of which 2048 bytes in the second block are freed; where the next 2048 bytes go, and then 4.
fn refilled<P: Placement>() -> (u32, Vec<(u32, u32)>) {
    let mut set = units::<P>();
    let sizes = [4096, 2048, 2048, 4096, 4096, 4096, 4096, 4096, 4096];
    let places: Vec<Offset> = sizes.iter().map(|&size| set.alloc(&Request::new(size)).unwrap()).collect();
    assert_eq!(set.free(places[1]), Ok(2048));
    let known = set.chunks().next().unwrap().contig_bytes;
    let next = [2048, 4].map(|size| set.alloc(&Request::new(size)).unwrap());
    (known, next.iter().map(|place| (place.chunk.index(), place.offset_bytes)).collect())
}

#[test]
fn a_free_behind_the_first_block_leaves_the_chunk_hint_stale() {
    assert_eq!(refilled::<Linux>(), (0, vec![(1, 0), (1, 2048)]));
    assert_eq!(refilled::<LinuxFixed>(), (2048, vec![(0, 4096), (1, 0)]));
}

/// The chunk that 8 bytes aligned to 8 go to, where a full first one has 12 bytes at an odd multiple of 4 in which
/// 12 bytes aligned to 8 were looked for in vain.
fn chunk_after_a_refusal<P: Placement>() -> u32 {
    let mut set = units::<P>();
    let objects = MIN_UNIT_BYTES / 4;
    let full: Vec<Offset> = (0..objects).map(|_| set.alloc(&Request::new(4)).unwrap()).collect();
    for bit in [101, 102, 103] {
        set.free(full[bit]).unwrap();
    }
    let placed = set.alloc(&Request::new(12).align(8)).unwrap();
    assert_eq!(placed.chunk.index(), 1, "12 bytes at an odd multiple of 4 have no room for it");
    set.alloc(&Request::new(8).align(8)).unwrap().chunk.index()
}

#[test]
fn a_chunk_of_little_room_that_refused_is_passed_over() {
    assert_eq!(chunk_after_a_refusal::<LinuxFixed>(), 1, "the kernel puts it on the list of full chunks");
    assert_eq!(chunk_after_a_refusal::<Linux2017>(), 0);
    assert_eq!(chunk_after_a_refusal::<FirstFit>(), 0);
}

/// 1,020 objects of 4 bytes in a unit populated on demand, of which 17 in a row go; where 64 bytes go that cannot wait.
fn atomic_in_a_hole<P: Placement>() -> Result<u32, AllocError> {
    let mut set: ChunkSet<P> = ChunkSet::new(Config::new(MIN_UNIT_BYTES, 1)).unwrap();
    let places: Vec<Offset> = (0..1020).map(|_| set.alloc(&Request::new(4)).unwrap()).collect();
    for place in &places[101..118] {
        set.free(*place).unwrap();
    }
    set.alloc(&Request::new(64).atomic()).map(|place| place.offset_bytes)
}

#[test]
fn requests_that_cannot_wait_find_any_populated_room() {
    assert_eq!(atomic_in_a_hole::<LinuxFixed>(), Ok(404));
    assert_eq!(atomic_in_a_hole::<FirstFit>(), Ok(404));
}
