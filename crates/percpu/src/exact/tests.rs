//! What the default placement promises beyond the kernel's.

use crate::{ChunkSet, Config, MIN_UNIT_BYTES, Place, Population, Request};
use freehold_units::{Tally, Work};
use std::vec::Vec;

fn units() -> ChunkSet {
    ChunkSet::new(Config::new(MIN_UNIT_BYTES, 1).population(Population::Whole)).unwrap()
}

/// A set whose first chunk is full of objects of 4 bytes.
fn full() -> (ChunkSet, Vec<Place>) {
    let mut set = units();
    let objects = MIN_UNIT_BYTES / 4;
    let places = (0..objects).map(|_| set.alloc(&Request::new(4)).unwrap()).collect();
    assert_eq!(set.stats().chunks, 1);
    (set, places)
}

#[test]
fn every_hole_is_found_wherever_it_is() {
    let (mut set, places) = full();
    for at in [0, 1023, 1024, 5000, 8191] {
        set.free(places[at]).unwrap();
        assert_eq!(set.chunks().next().unwrap().contig_bytes, 4);
        assert_eq!(set.alloc(&Request::new(4)), Ok(places[at]));
    }
}

#[test]
fn a_run_over_edges_of_blocks_is_one() {
    let (mut set, places) = full();
    for at in (1000..3100).rev() {
        set.free(places[at]).unwrap();
    }
    set.validate().unwrap();
    assert_eq!(set.chunks().next().unwrap().contig_bytes, 2100 * 4);
    let whole = set.alloc(&Request::new(2100 * 4)).unwrap();
    assert_eq!(whole, places[1000]);
}

#[test]
fn the_tightest_run_is_taken() {
    let (mut set, places) = full();
    for at in [10..20, 2000..2004, 3000..3008] {
        for at in at {
            set.free(places[at]).unwrap();
        }
    }
    assert_eq!(set.alloc(&Request::new(16)), Ok(places[2000]));
    assert_eq!(set.alloc(&Request::new(28)), Ok(places[3000]));
    assert_eq!(set.alloc(&Request::new(40)), Ok(places[10]));
}

#[test]
fn aligned_requests_do_not_walk_over_fragments() {
    let mut set = units();
    let request = Request::new(4).align(8);
    let mut tally = Tally::default();
    for _ in 0..20_000 {
        set.alloc_probed(&request, &mut tally).unwrap();
    }
    set.validate().unwrap();
    assert!(set.stats().chunks <= 5, "4096 objects to a chunk");
    // A chunk that is full for such requests is looked at once, and then refuses them by what it remembers.
    assert!(tally.of(Work::BitScanned) < 20_000, "{} bits", tally.of(Work::BitScanned));
    assert!(tally.of(Work::ChunkVisited) < 5 * 20_000, "{} chunks", tally.of(Work::ChunkVisited));
}

#[test]
fn an_aligned_hole_behind_an_unaligned_run_is_found_before_a_chunk_is_made() {
    let (mut set, places) = full();
    // The longest run is of 20 bits at an odd place; one of 16 bits is aligned to 64 bytes.
    for at in (101..121).chain(4096..4112) {
        set.free(places[at]).unwrap();
    }
    let placed = set.alloc(&Request::new(64).align(64)).unwrap();
    assert_eq!((placed, set.stats().chunks), (places[4096], 1));
}
