//! Requests of all kinds find the free space there is, and bounds and cursors stay valid.

use super::index::{ALIGNMENTS, Index};
use super::keys::NOWHERE;
use super::slot_of_bound;
use crate::geometry::BIT_BYTES;
use crate::object_map::WORD;
use crate::{ChunkSet, Config, MAX_UNIT_BYTES, MIN_UNIT_BYTES, Offset, OutOfMemory, Population, Request};
use freehold_units::{Tally, Work};
use proptest::prelude::*;
use std::vec::Vec;

fn units() -> ChunkSet {
    ChunkSet::new(Config::new(MIN_UNIT_BYTES, 1).population(Population::Whole)).unwrap()
}

/// A set whose first chunk is full of objects of 4 bytes.
fn full() -> (ChunkSet, Vec<Offset>) {
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
        set.validate().unwrap();
        assert_eq!(set.alloc(&Request::new(4)), Ok(places[at]));
    }
}

/// At the key's cursor nothing is searched, however tight the place is.
#[test]
fn a_place_at_the_cursor_is_found_without_a_search() {
    for objects in [1, 5] {
        let (mut set, places) = full();
        for &place in &places[5000..5000 + objects] {
            set.free(place).unwrap();
        }
        let mut tally = Tally::default();
        assert_eq!(set.alloc_probed(&Request::new(4), &mut tally), Ok(places[5000]));
        assert_eq!(tally.of(Work::ChunkVisited), 0, "{objects} objects");
    }
}

/// What is aligned has a cursor up to the length of a page.
#[test]
fn an_aligned_page_at_the_cursor_is_found_without_a_search() {
    let (mut set, places) = full();
    places[4100..5124].iter().for_each(|place| assert!(set.free(*place).is_ok()));
    let request = Request::new(4096).align(8);
    let placed = set.alloc(&request).unwrap();
    set.free(placed).unwrap();
    let mut tally = Tally::default();
    assert_eq!((set.alloc_probed(&request, &mut tally), placed), (Ok(placed), places[4100]));
    assert_eq!(tally.of(Work::ChunkVisited), 0);
}

/// What is as long as a page goes where the free run is hardly longer, as what is shorter does. What is longer goes to the lowest place.
#[test]
fn a_page_long_object_leaves_long_runs_whole() {
    let (mut set, mut places) = full();
    places.extend((0..MIN_UNIT_BYTES / 4).map(|_| set.alloc(&Request::new(4)).unwrap()));
    assert_eq!(set.stats().chunks, 2);
    let second = (MIN_UNIT_BYTES / 4) as usize;
    for at in (1500..3500).chain(second + 1500..second + 2600) {
        set.free(places[at]).unwrap();
    }
    for (bytes, at) in [(4092, second + 1500), (4096, second + 1500), (4100, 1500)] {
        let placed = set.alloc(&Request::new(bytes)).unwrap();
        assert_eq!(placed, places[at], "{bytes} bytes");
        set.free(placed).unwrap();
        set.validate().unwrap();
    }
}

#[test]
fn a_short_run_at_the_edge_of_a_page_is_not_taken_for_a_long_one() {
    let long = Request::new(5000);
    let visited = |freed: usize| {
        let (mut set, places) = full();
        assert_eq!(set.alloc(&long).unwrap().chunk.index(), 1, "the first chunk's bounds are low");
        places[5 * 1024 - freed..5 * 1024].iter().for_each(|place| assert!(set.free(*place).is_ok()));
        let mut tally = Tally::default();
        set.alloc_probed(&long, &mut tally).unwrap();
        [Work::ChunkVisited, Work::BlockVisited].map(|work| tally.of(work))
    };
    assert_eq!(visited(10), visited(0), "chunks and pages");
}

#[test]
fn chunks_are_on_lists_by_their_bounds() {
    let steps: [(i16, u32); 11] = [
        (0, 0),
        (64, 0),
        (65, 1),
        (68, 1),
        (69, 2),
        (128, 16),
        (129, 17),
        (256, 32),
        (257, 33),
        (288, 33),
        (1024, 56),
    ];
    for (most, slot) in steps {
        assert_eq!(slot_of_bound(most), slot, "{most} bits");
    }
}

#[test]
fn a_run_over_edges_of_pages_is_one() {
    let (mut set, places) = full();
    for at in (1000..3100).rev() {
        set.free(places[at]).unwrap();
        set.validate().unwrap();
    }
    assert_eq!(set.alloc(&Request::new(2100 * 4)), Ok(places[1000]));
}

#[test]
fn an_aligned_run_is_seen_beside_a_longer_misaligned_one() {
    let (mut set, places) = full();
    for at in (101..121).chain(128..144) {
        set.free(places[at]).unwrap();
    }
    let placed = set.alloc(&Request::new(64).align(64)).unwrap();
    assert_eq!((placed, set.stats().chunks), (places[128], 1));
    // The same for what has no cursor, as it is more than a word.
    let (mut set, places) = full();
    for at in (101..421).chain(1088..1344) {
        set.free(places[at]).unwrap();
    }
    let placed = set.alloc(&Request::new(1024).align(1024)).unwrap();
    assert_eq!((placed.chunk.index(), placed.offset_bytes), (1, 0), "no multiple of 1024 has 1024 bytes");
    assert_eq!(set.alloc(&Request::new(1024).align(256)), Ok(places[128]));
    set.validate().unwrap();
}

#[test]
fn a_page_without_objects_ends_a_run_but_no_room_is_lost() {
    let mut set = units();
    let places: Vec<Offset> = (0..8).map(|_| set.alloc(&Request::new(4096)).unwrap()).collect();
    let small = [set.alloc(&Request::new(4)).unwrap(), set.alloc(&Request::new(4092)).unwrap()];
    set.free(small[1]).unwrap();
    // Of chunk 0 only page 3 has an object; 20,000 bytes fit behind it, and 16,384 do not fit before it.
    for at in [0, 1, 2, 4, 5, 6, 7] {
        set.free(places[at]).unwrap();
        set.validate().unwrap();
    }
    assert_eq!(set.alloc(&Request::new(16_384)).unwrap().offset_bytes, 4 * 4096);
    set.validate().unwrap();
}

#[test]
fn aligned_requests_do_not_walk_over_fragments() {
    let mut set = units();
    let mut tally = Tally::default();
    for _ in 0..20_000 {
        set.alloc_probed(&Request::new(4).align(8), &mut tally).unwrap();
    }
    set.validate().unwrap();
    assert!(set.stats().chunks <= 5, "4096 objects to a chunk");
    let pages = u64::from(set.stats().chunks * (MIN_UNIT_BYTES / 4096));
    assert!(tally.of(Work::BlockRescanned) <= pages, "a page is searched in vain once");
}

#[test]
fn more_sizes_than_there_are_keys_are_served() {
    let mut set = units();
    let mut live = Vec::new();
    for round in 0..3 {
        for bytes in (4..=256).step_by(4) {
            for shift in 2..6 {
                live.push(set.alloc(&Request::new(bytes).align(1 << shift)).unwrap());
            }
        }
        set.validate().unwrap();
        for at in (0..live.len()).rev().step_by(2 + round) {
            set.free(live.swap_remove(at)).unwrap();
        }
        set.validate().unwrap();
    }
}

#[test]
fn a_broken_bound_or_cursor_is_seen() {
    let (mut set, places) = full();
    places[2000..2100].iter().for_each(|place| assert!(set.free(*place).is_ok()));
    let found = |set: &ChunkSet| set.validate().map_err(|broken| broken.invariant);
    assert_eq!(found(&set), Ok(()));
    let mut broken = set.clone();
    broken.chunks.at_mut(0).hints[1] = 99;
    assert_eq!(found(&broken), Err("P7"));
    let mut broken = set.clone();
    broken.chunks.index.most.set(0, [99; ALIGNMENTS]);
    broken.chunks.relocate(0);
    assert_eq!(found(&broken), Err("P7"));
    for position in [places[2000].offset_bytes / BIT_BYTES / WORD + 1, NOWHERE] {
        let mut broken = set.clone();
        *broken.chunks.index.keys.cursor(0) = position;
        assert_eq!(found(&broken), Err("P8"));
    }
    let mut broken = set.clone();
    broken.chunks.index.pages.set(0, [1, 0]);
    assert_eq!(found(&broken), Err("P9"));
}

/// Words of 127 such chunks have positions below [`NOWHERE`].
#[test]
fn a_chunk_whose_words_would_have_no_positions_is_refused() {
    let mut index = Index::new(WORD << 25);
    for chunk in 0..127 {
        index.reserve().unwrap();
        index.reach(chunk);
    }
    assert_eq!(index.reserve(), Err(OutOfMemory));
}

#[test]
fn a_bound_of_a_vacant_position_that_is_not_0_is_seen() {
    let (mut set, _) = full();
    let wide = [(); 2].map(|()| set.alloc(&Request::new(32_768)).unwrap());
    wide.iter().for_each(|place| assert!(set.free(*place).is_ok()));
    set.balance().unwrap();
    assert_eq!((set.validate(), set.stats().chunks), (Ok(()), 2));
    let vacant = (0..3).find(|&index| !set.chunks.at(index).is_live()).unwrap();
    let found = |broken: ChunkSet| broken.validate().map_err(|broken| (broken.invariant, broken.chunk));
    let expected = Err(("P7", Some(vacant)));
    let mut broken = set.clone();
    broken.chunks.at_mut(vacant).hints[3] = 8;
    assert_eq!(found(broken), expected);
    let mut broken = set.clone();
    broken.chunks.index.most.set(vacant as usize, [8; ALIGNMENTS]);
    assert_eq!(found(broken), expected);
    let mut broken = set.clone();
    broken.chunks.index.wide[1].longest.set(vacant as usize, [2048; ALIGNMENTS]);
    assert_eq!(found(broken), expected);
}

/// Pages visited for each allocation of a sequence, in sets of three sizes. The sequence returns the number of
/// allocations.
fn pages_visited(sequence: impl Fn(&mut ChunkSet, u32, &mut Tally) -> u32) -> [u64; 3] {
    [8, 64, 512].map(|chunks| {
        let mut set: ChunkSet = ChunkSet::new(Config::new(MIN_UNIT_BYTES, 1)).unwrap();
        let mut tally = Tally::default();
        let allocations = u64::from(sequence(&mut set, chunks, &mut tally));
        set.validate().unwrap();
        assert!(tally.of(Work::ChunkVisited) <= 4 * allocations, "chunks are visited as rarely");
        tally.of(Work::BlockVisited).div_ceil(allocations)
    })
}

/// Fills chunks page by page with objects of these sizes, and frees those in the second place.
fn fill_pages(set: &mut ChunkSet, chunks: u32, sizes: &[u64]) {
    let mut holes = Vec::new();
    for _ in 0..chunks * MIN_UNIT_BYTES / 4096 {
        let place = |&size: &u64| set.alloc(&Request::new(size)).unwrap();
        let places: Vec<Offset> = sizes.iter().map(place).collect();
        assert_eq!(places[0].offset_bytes % 4096, 0, "the sizes fill a page");
        holes.push(places[1]);
    }
    holes.into_iter().for_each(|hole| assert!(set.free(hole).is_ok()));
}

#[test]
fn a_misaligned_hole_in_every_page_is_visited_once() {
    let visited = pages_visited(|set, chunks, tally| {
        fill_pages(set, chunks, &[1604, 512, 1980]);
        for _ in 0..8 * chunks {
            set.alloc_probed(&Request::new(512).align(64), tally).unwrap();
        }
        8 * chunks
    });
    assert!(visited <= [4; 3], "{visited:?} pages an allocation");
}

#[test]
fn misaligned_holes_are_not_visited_again_behind_a_place_that_is_taken() {
    let visited = pages_visited(|set, chunks, tally| {
        let first = set.alloc(&Request::new(512).align(64)).unwrap();
        set.alloc(&Request::new(3584)).unwrap();
        fill_pages(set, chunks, &[1604, 512, 1980]);
        let request = Request::new(512).align(64);
        for _ in 0..8 * chunks {
            set.free_probed(first, tally).unwrap();
            assert_eq!(set.alloc_probed(&request, tally), Ok(first));
            set.alloc_probed(&request, tally).unwrap();
        }
        16 * chunks
    });
    // Every second allocation looks at the 8 pages of one chunk twice: for a place, and for the chunk's bound.
    assert!(visited <= [10; 3], "{visited:?} pages an allocation");
}

#[test]
fn misaligned_runs_of_more_than_a_page_are_not_visited_again() {
    let visited = pages_visited(|set, chunks, tally| {
        for _ in 0..chunks {
            // A run from the second bit of the first page to the last but one of the third.
            let parts = [4, 4092, 4096, 4092, 4, 4096, 4096, 4096, 4096];
            let places = parts.map(|size| set.alloc(&Request::new(size)).unwrap());
            places[1..4].iter().for_each(|place| assert!(set.free(*place).is_ok()));
        }
        for _ in 0..8 * chunks {
            set.alloc_probed(&Request::new(12_000).align(4096), tally).unwrap();
        }
        8 * chunks
    });
    assert!(visited <= [8; 3], "{visited:?} pages an allocation");
}

#[test]
fn a_hole_that_is_a_little_too_short_in_every_page_is_not_visited() {
    let visited = pages_visited(|set, chunks, tally| {
        fill_pages(set, chunks, &[1604, 1028, 1464]);
        for size in [1032, 1036, 1040, 1150].repeat(2 * chunks as usize) {
            set.alloc_probed(&Request::new(size), tally).unwrap();
        }
        8 * chunks
    });
    assert!(visited <= [4; 3], "{visited:?} pages an allocation");
}

#[test]
fn pages_without_memory_are_not_visited_again_for_wide_requests() {
    let visited = pages_visited(|set, chunks, tally| {
        let whole = (0..8 * chunks).map(|_| set.alloc_probed(&Request::new(4096), tally).unwrap());
        let places: Vec<Offset> = whole.collect();
        for place in places.iter().filter(|place| place.offset_bytes != 4096) {
            set.free_probed(*place, tally).unwrap();
        }
        set.trim();
        for _ in 0..3 * chunks {
            let placed = set.alloc_probed(&Request::new(8192), tally).unwrap();
            assert!(placed.chunk.index() < chunks && placed.offset_bytes >= 8192);
        }
        11 * chunks
    });
    assert!(visited <= [4; 3], "{visited:?} pages an allocation");
}

/// The next search of a chunk for more than a page begins at the page of the first run that is longer than one.
#[test]
fn a_search_for_more_than_a_page_begins_at_the_first_run_that_is_longer_than_one() {
    let (mut set, places) = full();
    // A short run over the end of the first page, and one of two pages.
    for freed in [1022..1026, 6144..8192] {
        places[freed].iter().for_each(|place| assert!(set.free(*place).is_ok()));
    }
    let pages = |set: &mut ChunkSet| {
        let mut tally = Tally::default();
        let placed = set.alloc_probed(&Request::new(4100), &mut tally).unwrap();
        (placed, tally.of(Work::BlockVisited))
    };
    assert_eq!(pages(&mut set), (places[6144], 8));
    set.free(places[6144]).unwrap();
    // From the page before it on, at whose end the run might begin.
    assert_eq!(pages(&mut set), (places[6144], 3));
}

/// An aligned request that finds no place lowers the bound of those that are not, too.
#[test]
fn a_chunk_without_an_aligned_place_is_not_visited_for_more_than_its_longest_run() {
    let (mut set, places) = full();
    places[5120..8192].iter().for_each(|place| assert!(set.free(*place).is_ok()));
    assert_eq!(set.alloc(&Request::new(4100)), Ok(places[5120]));
    // A run of 8188 bytes is left, of which a page is behind a multiple of 4096.
    let aligned = set.alloc(&Request::new(4100).align(4096)).unwrap();
    let other = aligned.chunk;
    assert_ne!(other, places[0].chunk);
    let mut tally = Tally::default();
    assert_eq!(set.alloc_probed(&Request::new(8192), &mut tally).unwrap().chunk, other);
    assert_eq!(tally.of(Work::ChunkVisited), 1);
}

#[test]
fn sidelined_chunks_without_a_place_are_not_visited_again() {
    let visited = pages_visited(|set, chunks, tally| {
        let full = |_| set.alloc(&Request::new(256)).unwrap();
        let places: Vec<Offset> = (0..128 * chunks).map(full).collect();
        // Two pages of each chunk are given back, and of the others each has a hole of 256 bytes.
        let goes = |place: &&Offset| place.offset_bytes < 8192 || place.offset_bytes % 4096 == 1024;
        places.iter().filter(goes).for_each(|place| assert!(set.free(*place).is_ok()));
        set.balance().unwrap();
        assert!(set.chunks().filter(|chunk| chunk.isolated).count() as u32 > chunks / 2);
        for _ in 0..chunks {
            set.alloc_probed(&Request::new(260), tally).unwrap();
        }
        chunks
    });
    assert!(visited <= [4; 3], "{visited:?} pages an allocation");
}

/// Equal requests, or frees of all objects of a range except one in every few.
#[derive(Clone, Debug)]
enum Step {
    Alloc { bytes: u64, shift: u32, times: u16 },
    Free { first: u32, end: u32, kept: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop_oneof![20_000u64..=32_768, 4000u64..9000, 1u64..2000, 1u64..64];
    let step = prop_oneof![
        (bytes, 0u32..=12, 1u16..200).prop_map(|(bytes, shift, times)| Step::Alloc { bytes, shift, times }),
        (any::<u32>(), any::<u32>(), 2usize..40).prop_map(|(first, end, kept)| Step::Free {
            first,
            end,
            kept
        }),
    ];
    prop::collection::vec(step, 2..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn bounds_and_cursors_hold_in_units_of_all_sizes(
        unit_bytes in prop::sample::select(&[MIN_UNIT_BYTES, 260 << 10, 1 << 20, MAX_UNIT_BYTES][..]),
        steps in steps(),
    ) {
        let mut set: ChunkSet = ChunkSet::new(Config::new(unit_bytes, 1)).unwrap();
        for step in steps {
            match step {
                Step::Alloc { bytes, shift, times } => {
                    for _ in 0..times {
                        set.alloc(&Request::new(bytes).align(1 << shift)).unwrap();
                    }
                }
                Step::Free { first, end, kept } => {
                    let stretch = first % unit_bytes..end % unit_bytes;
                    let objects = set.objects().filter(|(place, _)| stretch.contains(&place.offset_bytes));
                    let freed: Vec<Offset> =
                        (1..).zip(objects).filter(|(at, _)| at % kept > 0).map(|(_, (place, _))| place).collect();
                    for place in freed {
                        set.free(place).unwrap();
                    }
                }
            }
            prop_assert_eq!(set.validate(), Ok(()));
        }
        set.balance().unwrap();
        prop_assert_eq!(set.validate(), Ok(()));
    }
}
