//! Requests of all kinds find what room there is, and bounds and cursors stay true.

use super::keys::NOWHERE;
use crate::{
    AllocError, ChunkSet, Config, LinuxFixed, MAX_UNIT_BYTES, MIN_UNIT_BYTES, Offset, Placement, Population,
    Request,
};
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

#[test]
fn a_run_over_edges_of_pages_is_one() {
    let (mut set, places) = full();
    for at in (1000..3100).rev() {
        set.free(places[at]).unwrap();
        set.validate().unwrap();
    }
    assert_eq!(set.alloc(&Request::new(2100 * 4)), Ok(places[1000]));
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
    assert_eq!(atomic_in_a_hole::<super::FirstFit>(), Ok(404));
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
    broken.chunks.index.most[0] = 99;
    broken.chunks.relocate(0);
    assert_eq!(found(&broken), Err("P7"));
    let mut broken = set.clone();
    *broken.chunks.index.keys.cursor(0) = NOWHERE;
    assert_eq!(found(&broken), Err("P8"));
    let mut broken = set.clone();
    broken.chunks.index.empty[0] += 1;
    assert_eq!(found(&broken), Err("P9"));
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
    broken.chunks.index.most[vacant as usize] = 8;
    assert_eq!(found(broken), expected);
    let mut broken = set.clone();
    broken.chunks.index.wide[vacant as usize] = 2048;
    assert_eq!(found(broken), expected);
}

/// Requests alike, or a free of every object of a stretch but one in so many.
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
