//! What the default placement promises beyond the kernel's.

use super::Exact;
use crate::geometry::{BIT_BYTES, block_of};
use crate::placement::Strategy as _;
use crate::{ChunkSet, Config, MAX_UNIT_BYTES, MIN_UNIT_BYTES, Place, Population, Request};
use core::ops::Range;
use freehold_units::{Tally, Work};
use proptest::prelude::*;
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
    // Objects go one behind the other; a chunk is looked at when it is full for such requests, and then refuses them by
    // what it remembers.
    let bits = u64::from(set.stats().chunks * MIN_UNIT_BYTES / 4);
    assert!(tally.of(Work::BitScanned) <= bits, "{} bits", tally.of(Work::BitScanned));
    assert!(tally.of(Work::ChunkVisited) < 100, "{} chunks", tally.of(Work::ChunkVisited));
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

#[test]
fn a_chunk_refuses_no_longer_than_it_has_no_room() {
    let (mut set, places) = full();
    // Both in one block: the shorter is aligned, and not seen as long as the other is there.
    for at in (101..121).chain(128..144) {
        set.free(places[at]).unwrap();
    }
    let request = Request::new(64).align(64);
    set.alloc(&request).unwrap();
    assert_eq!(set.stats().chunks, 2);
    assert_eq!(set.alloc(&Request::new(80)), Ok(places[101]));
    assert_eq!(set.alloc(&request), Ok(places[128]));
    set.validate().unwrap();
}

#[test]
fn chunks_that_refuse_leave_others_of_their_list_their_turn() {
    let mut set = units();
    let count = MIN_UNIT_BYTES as usize / 4;
    let places: Vec<Place> = (0..6 * count).map(|_| set.alloc(&Request::new(4)).unwrap()).collect();
    let free = |set: &mut ChunkSet, chunk: usize, range: Range<usize>| {
        range.for_each(|at| assert_eq!(set.free(places[chunk * count + at]), Ok(4)));
    };
    // Four chunks have an unaligned run of 18 bits and learn to refuse; the sixth has much room.
    (0..4).for_each(|chunk| free(&mut set, chunk, 101..119));
    free(&mut set, 5, 1024..3000);
    let request = Request::new(64).align(64);
    let placed = set.alloc(&request).unwrap();
    set.free(placed).unwrap();
    // The fifth has an aligned run of 19 bits; then the four come before it on its list.
    free(&mut set, 4, 128..147);
    let large = set.alloc(&Request::new(400)).unwrap();
    (0..4).for_each(|chunk| free(&mut set, chunk, 119..120));
    let mut last = placed;
    for _ in 0..4 {
        last = set.alloc(&request).unwrap();
        set.free(last).unwrap();
    }
    assert_eq!(last, places[4 * count + 128]);
    set.free(large).unwrap();
    set.validate().unwrap();
}

#[test]
fn hints_hear_late_of_what_is_placed_one_behind_the_other() {
    let mut set = units();
    let mut tally = Tally::default();
    let places: Vec<Place> =
        (0..4096).map(|_| set.alloc_probed(&Request::new(8).align(8), &mut tally).unwrap()).collect();
    set.validate().unwrap();
    assert_eq!(set.chunks().next().unwrap().contig_bytes, 0, "a look at the chunk sees what was placed");
    assert!(tally.of(Work::ChunkVisited) <= 4, "nearly all went without a search");
    assert!(places.windows(2).all(|pair| pair[0].offset_bytes + 8 == pair[1].offset_bytes));
}

#[test]
fn many_frees_are_looked_at_a_few_blocks_for_each_request() {
    let (mut set, places) = full();
    let mut tally = Tally::default();
    for place in places.iter().skip(100).step_by(3) {
        set.free_probed(*place, &mut tally).unwrap();
    }
    set.validate().unwrap();
    assert_eq!(tally, Tally::default(), "a free looks at nothing");
    let mut place = places[0];
    for looked_at in [2, 4, 6, 8] {
        place = set.alloc_probed(&Request::new(4), &mut tally).unwrap();
        assert_eq!(tally.of(Work::BlockRescanned), looked_at, "each block once, the last first");
        assert!(block_of(place.offset_bytes / BIT_BYTES) >= 8 - looked_at as u32, "a block that is known");
        set.validate().unwrap();
    }
    assert_eq!(place, places[112], "the best aligned of the first block");
}

/// Requests of so many bytes, the first of them aligned, when `settled` was freed and looked at and then `freed` was,
/// and so much elsewhere that nothing of `freed` is looked at for the first of them.
fn aligned_out_of_a_block(settled: [Range<usize>; 2], freed: Range<usize>, requests: [u64; 3]) {
    let mut set = ChunkSet::<Exact>::new(Config::new(64 << 10, 1).population(Population::Whole)).unwrap();
    let places: Vec<Place> = (0..64 * 256).map(|_| set.alloc(&Request::new(4)).unwrap()).collect();
    for at in settled.into_iter().flatten() {
        set.free(places[at]).unwrap();
    }
    set.balance().unwrap();
    let elsewhere = (block_of(freed.end as u32) as usize + 1..16).map(|block| block * 1024 + 500);
    for at in freed.chain(elsewhere) {
        set.free(places[at]).unwrap();
    }
    let [first, others @ ..] = requests;
    assert_eq!(
        set.alloc(&Request::new(first).align(64)),
        Ok(places[2048]),
        "out of the block that its run starts in"
    );
    set.validate().unwrap();
    for bytes in others {
        set.alloc(&Request::new(bytes)).unwrap();
        set.validate().unwrap();
    }
}

#[test]
fn what_was_freed_behind_an_object_is_left_to_its_block() {
    aligned_out_of_a_block([2045..2088, 2108..2208], 2088..2108, [144, 480, 400]);
    aligned_out_of_a_block([2045..2088, 3072..3172], 2088..3072, [144, 4320, 400]);
}

#[test]
fn a_row_of_free_blocks_is_settled_in_two_goes() {
    let mut set = ChunkSet::<Exact>::new(Config::new(512 << 10, 1).population(Population::Whole)).unwrap();
    let places: Vec<Place> = (0..128 * 1024).map(|_| set.alloc(&Request::new(4)).unwrap()).collect();
    // Runs of ten bits, one at an edge and one behind it, are known when all behind that edge is freed.
    let (edge, known) = (95 * 1024, 95 * 1024 + 500..95 * 1024 + 510);
    (edge - 10..edge).chain(known.clone()).for_each(|at| assert!(set.free(places[at]).is_ok()));
    set.balance().unwrap();
    let rest = (edge..128 * 1024).filter(|at| !known.contains(at));
    rest.for_each(|at| assert!(set.free(places[at]).is_ok()));
    for _ in 0..3 {
        set.alloc(&Request::new(40)).unwrap();
        set.validate().unwrap();
    }
}

/// Of some stretches of objects every so-manieth is freed; then come some requests.
#[derive(Clone, Debug)]
struct Round {
    stretches: Vec<(prop::sample::Index, usize, usize)>,
    /// Bytes, and the power of two of the alignment.
    requests: Vec<(u64, u32)>,
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let bytes = prop_oneof![Just(4_u64), 1u64..40, 1u64..700, 4000u64..9000];
    let requests = prop::collection::vec((bytes, prop_oneof![Just(0u32), 0u32..=12]), 1..12);
    let every = prop_oneof![Just(1_usize), 1usize..50, 400usize..1100];
    let len = prop_oneof![1usize..60, 1usize..1500, Just(usize::MAX)];
    let stretches = prop::collection::vec((any::<prop::sample::Index>(), len, every), 1..6);
    let round = (stretches, requests).prop_map(|(stretches, requests)| Round { stretches, requests });
    prop::collection::vec(round, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// What is known stays true while a chunk is looked at in part, and objects come and go meanwhile.
    #[test]
    fn requests_are_placed_in_chunks_that_are_settled_in_part(
        unit_bytes in prop::sample::select(&[MIN_UNIT_BYTES, 64 << 10, 512 << 10][..]),
        small in prop_oneof![Just(4_u64), 4u64..80],
        rounds in rounds(),
    ) {
        let mut set = ChunkSet::<Exact>::new(Config::new(unit_bytes, 1)).unwrap();
        for _ in 0..u64::from(unit_bytes) * 5 / 4 / small {
            set.alloc(&Request::new(small)).unwrap();
        }
        for Round { stretches, requests } in rounds {
            for (first, len, every) in stretches {
                let live: Vec<Place> = set.objects().map(|(place, _)| place).collect();
                let stretch = live.iter().skip(first.index(live.len().max(1))).take(len).step_by(every);
                stretch.for_each(|place| assert!(set.free(*place).is_ok()));
            }
            set.validate().unwrap();
            for (bytes, shift) in requests {
                let place = set.alloc(&Request::new(bytes).align(1 << shift)).unwrap();
                set.validate().unwrap();
                // One that comes between two looks at its chunk.
                let next = set.objects().find(|(other, _)| *other > place).map(|(place, _)| place);
                next.map_or(Ok(0), |place| set.free(place)).unwrap();
                set.validate().unwrap();
            }
        }
    }
}

/// A request, several times over, or a free.
#[derive(Clone, Debug)]
enum Step {
    Alloc { bytes: u64, align: u64, times: u8 },
    Free { at: usize, times: u8 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop_oneof![Just(4), Just(8), Just(64), Just(1024), 1u64..100, 1u64..9000];
    let step = prop_oneof![
        (bytes, 0u32..8, 1u8..60).prop_map(|(bytes, shift, times)| Step::Alloc {
            bytes,
            align: 1 << shift,
            times
        }),
        (any::<usize>(), 1u8..60).prop_map(|(at, times)| Step::Free { at, times }),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn requests_alike_go_where_a_search_would_put_them_or_on_in_their_block(steps in steps()) {
        let mut set = units();
        let mut live = Vec::new();
        let block = |place: Place| (place.chunk, block_of(place.offset_bytes / BIT_BYTES));
        for step in steps {
            match step {
                Step::Alloc { bytes, align, times } => {
                    for _ in 0..times {
                        let request = Request::new(bytes).align(align);
                        let mut searching = set.clone();
                        Exact::pause(&mut searching.chunks, &mut ());
                        let place = set.alloc(&request).unwrap();
                        if searching.alloc(&request) != Ok(place) {
                            let before: Place = *live.last().unwrap();
                            prop_assert!(block(before) == block(place) && before.offset_bytes < place.offset_bytes);
                        }
                        live.push(place);
                    }
                }
                Step::Free { at, times } => {
                    for _ in 0..times {
                        if live.is_empty() {
                            break;
                        }
                        let place = live.swap_remove(at % live.len());
                        set.free(place).unwrap();
                    }
                }
            }
            set.validate().unwrap();
        }
    }
}

/// Requests alike, or a free of every object of a stretch but one in so many.
#[derive(Clone, Debug)]
enum Large {
    Alloc { bytes: u64, times: u16 },
    Free { first: u32, end: u32, kept: usize },
}

fn large_steps() -> impl Strategy<Value = Vec<Large>> {
    let bytes = prop_oneof![Just(32_768_u64), 20_000u64..=32_768, 1u64..2000];
    let step = prop_oneof![
        (bytes, 1u16..300).prop_map(|(bytes, times)| Large::Alloc { bytes, times }),
        (any::<u32>(), any::<u32>(), 2usize..40).prop_map(|(first, end, kept)| Large::Free {
            first,
            end,
            kept
        }),
    ];
    prop::collection::vec(step, 2..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// In units with runs too long for searches to tell apart, and with several blocks to a mark of those freed in.
    #[test]
    fn hints_of_large_units_are_exact(
        unit_bytes in prop::sample::select(&[256 << 10, 260 << 10, 1 << 20, MAX_UNIT_BYTES][..]),
        steps in large_steps(),
    ) {
        let mut set = ChunkSet::<Exact>::new(Config::new(unit_bytes, 1)).unwrap();
        for step in steps {
            match step {
                Large::Alloc { bytes, times } => {
                    for _ in 0..times {
                        set.alloc(&Request::new(bytes)).unwrap();
                    }
                }
                Large::Free { first, end, kept } => {
                    let stretch = first % unit_bytes..end % unit_bytes;
                    let objects = set.objects().filter(|(place, _)| stretch.contains(&place.offset_bytes));
                    let freed: Vec<Place> =
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
