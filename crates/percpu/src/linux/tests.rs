//! What the kernel's placements are known for.

use crate::{
    ChunkSet, Config, FirstFit, Linux, Linux2017, LinuxFixed, MIN_UNIT_BYTES, Offset, Placement, Population,
    Request,
};
use std::vec::Vec;

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
    assert_eq!(refilled::<Linux>(), (0, std::vec![(1, 0), (1, 2048)]));
    assert_eq!(refilled::<LinuxFixed>(), (2048, std::vec![(0, 4096), (1, 0)]));
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
