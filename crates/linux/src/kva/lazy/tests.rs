//! Each rule of the state machine by itself, its numbers reckoned by hand.

use super::*;
use crate::kva::lazy::purge::Stage;
use proptest::prelude::*;
use std::vec::Vec;

const PAGE: u64 = 4096;
/// Far above the first stripes, so that addresses are easy to read: page 1,024.
const ZONE_PAGE: u64 = 1_024;

fn pages(first: u64, count: u64) -> Span {
    Span::from_size((ZONE_PAGE + first) * PAGE, count * PAGE).unwrap()
}

fn zone() -> Span {
    pages(0, 1 << 20)
}

fn choices() -> Choices {
    Choices::linux((6, 18), 2, 2, Align::PAGE)
}

fn space(choices: Choices) -> LazySpace {
    let mut space = LazySpace::new(zone(), Align::PAGE, choices).unwrap();
    space.add(zone()).unwrap();
    space
}

fn asked(count: u64, cpu: u32) -> LazyRequest {
    LazyRequest { size_bytes: count * PAGE, align: Align::ONE, window: zone(), cpu }
}

/// Allocates, and tells the page and whether it is from a pool.
fn alloc(space: &mut LazySpace, request: LazyRequest) -> (u64, bool) {
    let found = space.alloc(&request).unwrap();
    space.validate().unwrap();
    (found.place.first() / PAGE - ZONE_PAGE, found.pooled)
}

fn free(space: &mut LazySpace, page: u64) {
    space.free(pages(page, 1).first()).unwrap();
    space.validate().unwrap();
}

/// Allocates `count` areas of `size` pages on a CPU, and frees them in order.
fn freed(space: &mut LazySpace, count: u64, size: u64, cpu: u32) {
    let first: Vec<u64> = (0..count).map(|_| alloc(space, asked(size, cpu)).0).collect();
    first.into_iter().for_each(|page| free(space, page));
}

/// What a CPU is handed from its pool, until the pool has none.
fn handed(space: &mut LazySpace, size: u64, cpu: u32) -> Vec<u64> {
    let mut space = space.clone();
    std::iter::from_fn(|| {
        Some(alloc(&mut space, asked(size, cpu))).filter(|(_, pooled)| *pooled).map(|(page, _)| page)
    })
    .collect()
}

#[test]
fn versions_and_cpus_decide() {
    let of = |version, possible, online| Choices::linux(version, possible, online, Align::PAGE);
    let limits = [1, 2, 3, 4, 7, 8, 15, 64, 127].map(|online| of((6, 18), 2, online).limit_pages);
    assert_eq!(limits, [8_192, 16_384, 16_384, 24_576, 24_576, 32_768, 32_768, 57_344, 57_344]);
    assert_eq!((of((6, 8), 8, 8).pools, of((6, 8), 8, 8).nodes), (Pools::Off, 1));
    assert_eq!((of((6, 9), 8, 8).pools, of((6, 9), 8, 8).nodes), (Pools::PerNode, 8));
    assert_eq!([of((6, 15), 2, 2).decay, of((6, 16), 2, 2).decay], [Decay::ShortAll, Decay::Quarter]);
    assert_eq!([0, 1, 500].map(|possible| of((6, 18), possible, 1).nodes), [1, 1, 128]);
    assert_eq!(
        LazySpace::new(zone(), Align::PAGE, Choices { nodes: 0, ..choices() }).unwrap_err(),
        Error::Invalid
    );
}

#[test]
fn a_freed_area_stays_taken_until_a_purge_and_then_lies_in_its_cpus_pool() {
    let mut space = space(choices());
    assert_eq!(alloc(&mut space, asked(3, 1)), (0, false));
    free(&mut space, 0);
    assert_eq!(space.counts().lazy_pages, 3);
    assert_eq!(alloc(&mut space, asked(3, 1)), (3, false), "it is taken still");
    space.purge(1).unwrap();
    assert_eq!((space.counts().lazy_pages, space.counts().pooled_pages), (0, 3));
    assert_eq!(alloc(&mut space, asked(3, 0)), (6, false), "the other CPU's pool is empty");
    assert_eq!(alloc(&mut space, asked(2, 1)), (9, false), "a size has a list of its own");
    assert_eq!(alloc(&mut space, asked(3, 3)), (0, true), "CPU 3 has node 1");
    assert_eq!(space.counts().pool_hits, 1);
}

#[test]
fn what_no_pool_is_for_goes_to_the_tree() {
    let mut space = space(choices());
    freed(&mut space, 1, 257, 0);
    let other = LazyRequest { window: pages(300, 50), ..asked(1, 0) };
    assert_eq!(alloc(&mut space, other), (300, false));
    free(&mut space, 300);
    space.purge(2).unwrap();
    assert_eq!(space.counts().pooled_pages, 0);
    assert_eq!(space.tree().iter().collect::<Vec<_>>(), [zone()]);
    assert_eq!(space.returned(), [pages(300, 1), pages(0, 257)]);
}

#[test]
fn areas_without_origin_are_of_the_node_of_their_stripe() {
    let mut space = space(choices());
    for page in [16, 0] {
        space.alloc_at(&LazyRequest { window: pages(page, 1), ..asked(1, 0) }, pages(page, 1)).unwrap();
        free(&mut space, page);
    }
    space.begin_purge(2).unwrap();
    let mut free = Vec::new();
    while let Some(stage) = space.step_purge().unwrap() {
        free.push((stage, space.block_of(pages(0, 1)).is_some(), space.block_of(pages(16, 1)).is_some()));
    }
    let stages = [Stage::Decayed(0), Stage::Decayed(1), Stage::Refilled(0), Stage::Refilled(1)];
    assert_eq!(
        free,
        [
            (stages[0], false, false),
            (stages[1], false, false),
            (stages[2], true, false),
            (stages[3], true, true)
        ]
    );
}

#[test]
fn a_refill_leaves_the_highest_address_at_the_head() {
    let order = |refill| {
        let mut space = space(Choices { refill, ..choices() });
        (0..3).for_each(|page| assert_eq!(alloc(&mut space, asked(1, 0)), (page, false)));
        [1, 2, 0].into_iter().for_each(|page| free(&mut space, page));
        space.purge(3).unwrap();
        handed(&mut space, 1, 0)
    };
    assert_eq!(order(Refill::LowestFirst), [2, 1, 0]);
    assert_eq!(order(Refill::HighestFirst), [0, 1, 2]);
    assert_eq!(order(Refill::ByTime), [0, 2, 1]);
}

#[test]
fn a_purge_takes_a_quarter_rounded_down_from_the_head() {
    let left = |decay, count| {
        let mut space = space(Choices { decay, ..choices() });
        freed(&mut space, count, 1, 0);
        space.purge(count as usize).unwrap();
        space.purge(0).unwrap();
        handed(&mut space, 1, 0)
    };
    assert_eq!(left(Decay::Quarter, 3), [2, 1, 0]);
    assert_eq!(left(Decay::Quarter, 4), [2, 1, 0]);
    assert_eq!(left(Decay::Quarter, 7), [5, 4, 3, 2, 1, 0]);
    assert_eq!(left(Decay::Quarter, 8), [5, 4, 3, 2, 1, 0]);
    assert_eq!(left(Decay::Tail, 8), [7, 6, 5, 4, 3, 2]);
    assert_eq!(left(Decay::ShortAll, 3), []);
    assert_eq!(left(Decay::ShortAll, 5), [3, 2, 1, 0]);
    assert_eq!(left(Decay::Off, 8), [7, 6, 5, 4, 3, 2, 1, 0]);
}

#[test]
fn pools_may_be_off_shared_or_in_order() {
    let handed_to = |pools, nodes, cpu| {
        let mut space = space(Choices { pools, nodes, ..choices() });
        freed(&mut space, 3, 1, 0);
        space.purge(3).unwrap();
        handed(&mut space, 1, cpu)
    };
    assert_eq!(handed_to(Pools::Off, 2, 0), []);
    assert_eq!(handed_to(Pools::PerNode, 1, 0), [], "one node has no pool");
    assert_eq!(handed_to(Pools::PerNode, 2, 1), []);
    assert_eq!(handed_to(Pools::Shared, 2, 1), [2, 1, 0]);
    assert_eq!(handed_to(Pools::Fifo, 2, 0), [0, 1, 2]);
}

#[test]
fn a_head_that_is_not_aligned_goes_to_the_tail() {
    let mut space = space(choices());
    freed(&mut space, 3, 1, 0);
    space.purge(3).unwrap();
    let aligned = LazyRequest { align: Align::new(4 * PAGE).unwrap(), ..asked(1, 0) };
    assert_eq!(alloc(&mut space, aligned), (4, false), "2 is at the head, and 0 below it is not looked for");
    assert_eq!(handed(&mut space, 1, 0), [1, 0, 2]);
}

#[test]
fn the_certain_block_is_the_lowest_that_the_search_cannot_miss() {
    let mut space = LazySpace::new(zone(), Align::PAGE, choices()).unwrap();
    [pages(4, 5), pages(17, 9), pages(40, 100)].into_iter().for_each(|block| space.add(block).unwrap());
    let stack = LazyRequest { align: Align::new(4 * PAGE).unwrap(), ..asked(5, 0) };
    assert_eq!(
        space.find_in_tree(&stack),
        Some(pages(20, 5)),
        "4 + 5 pages fit, but are short of 5 + 4 less a byte"
    );
    assert_eq!(space.find_in_tree(&asked(5, 0)), Some(pages(4, 5)));
}

#[test]
fn lazy_off_frees_at_once_and_what_fails_reclaims() {
    let mut off = space(Choices { lazy: false, pools: Pools::Off, ..choices() });
    freed(&mut off, 1, 3, 0);
    assert_eq!((off.counts().lazy_pages, off.counts().held_pages_most, off.tree().len()), (0, 0, 1));
    let mut small = LazySpace::new(pages(0, 4), Align::PAGE, choices()).unwrap();
    small.add(pages(0, 4)).unwrap();
    let of = |count, cpu| LazyRequest { window: pages(0, 4), ..asked(count, cpu) };
    freed_in(&mut small, of(1, 0));
    small.purge(1).unwrap();
    freed_in(&mut small, of(3, 0));
    assert_eq!(alloc(&mut small, of(4, 1)), (0, false), "the lazy area and the pooled one were taken back");
    assert_eq!(small.alloc(&of(1, 0)), Err(Error::Busy));
}

fn freed_in(space: &mut LazySpace, request: LazyRequest) {
    let (page, _) = alloc(space, request);
    free(space, page);
}

#[test]
fn a_purge_that_runs_takes_more_and_is_seen_half_done() {
    let mut space = space(choices());
    freed(&mut space, 4, 1, 0);
    space.begin_purge(2).unwrap();
    space.take_lazy(1).unwrap();
    assert!(!space.refill_to(pages(1, 1).first()).unwrap(), "no node has decayed");
    while let Some(Stage::Decayed(node)) = space.step_purge().unwrap() {
        if node == 1 {
            break;
        }
    }
    assert!(space.refill_to(pages(1, 1).first()).unwrap());
    space.validate().unwrap();
    assert_eq!(handed(&mut space, 1, 0), [1, 0]);
    while space.step_purge().unwrap().is_some() {}
    assert_eq!(handed(&mut space, 1, 0), [2, 1, 0]);
    assert_eq!(space.counts().lazy_pages, 1, "the fourth was not taken");
}

#[test]
fn what_is_wrong_is_refused() {
    let mut space = space(choices());
    assert_eq!(space.alloc(&asked(0, 0)), Err(Error::Invalid));
    assert_eq!(space.alloc(&LazyRequest { size_bytes: 100, ..asked(1, 0) }), Err(Error::Invalid));
    assert_eq!(space.add(pages(0, 1)), Err(Error::Exists));
    assert_eq!(space.free(pages(0, 1).first()), Err(Error::Invalid));
    alloc(&mut space, asked(2, 0));
    assert_eq!(space.alloc_at(&asked(2, 0), pages(1, 2)), Err(Error::Exists));
    assert_eq!(space.free(pages(1, 1).first()), Err(Error::Invalid), "it starts a page lower");
    free(&mut space, 0);
    assert_eq!(space.free(pages(0, 1).first()), Err(Error::Invalid), "it is freed already");
    space.purge(usize::MAX).unwrap();
    assert_eq!(space.release(pages(0, 1).first()), Err(Error::Invalid), "it is in a pool");
    assert_eq!(space.alloc_at(&asked(3, 1), pages(1, 3)), Ok(false), "what is pooled makes room");
    space.validate().unwrap();
}

/// A window of the request's size, a small page, and a length that wraps: the search is exact, and so is the answer.
#[test]
fn a_place_lies_in_a_free_block_and_in_the_window() {
    let space = space(choices());
    let aligned = LazyRequest { align: Align::new(4 * PAGE).unwrap(), ..asked(2, 0) };
    assert_eq!(space.find(&LazyRequest { window: pages(1, 2), ..aligned }), Err(Error::Busy));
    let found = Found { place: pages(4, 2), pooled: false };
    assert_eq!(space.find(&LazyRequest { window: pages(4, 2), ..aligned }), Ok(found));

    let small = |blocks: &[Span]| {
        let mut space = LazySpace::new(Span::ALL, Align::new(16).unwrap(), choices()).unwrap();
        blocks.iter().for_each(|&block| space.add(block).unwrap());
        space
    };
    let from = |first, size| Span::from_size(first, size).unwrap();
    let page = LazyRequest { size_bytes: 16, align: Align::PAGE, window: Span::ALL, cpu: 0 };
    let blocks = [from(0x1010, 16), from(0x2000, 16)];
    assert_eq!(small(&blocks).find_in_tree(&page), Some(blocks[1]));

    let whole = LazyRequest { size_bytes: (1 << 63) + 16, align: Align::new(1 << 63).unwrap(), ..page };
    assert_eq!(small(&[from(0, 0x1000)]).find_in_tree(&whole), None);
    assert_eq!(small(&[Span::ALL]).find_in_tree(&whole), Some(from(0, (1 << 63) + 16)));
}

#[test]
fn pages_of_one_byte_are_refused_and_two_bytes_are_counted() {
    let of = |bytes| LazySpace::new(Span::ALL, Align::new(bytes).unwrap(), choices());
    assert_eq!(of(1).unwrap_err(), Error::Invalid);
    let mut space = of(2).unwrap();
    space.add(Span::ALL).unwrap();
    let half = LazyRequest { size_bytes: 1 << 63, align: Align::ONE, window: Span::ALL, cpu: 0 };
    for first in [0, 1 << 63] {
        assert_eq!(space.alloc(&half).unwrap().place.first(), first);
        space.free(first).unwrap();
    }
    assert_eq!(space.counts().lazy_pages, 1 << 63);
    space.purge(2).unwrap();
    // All at once: its size has 65 bits.
    space.alloc_at(&half, Span::ALL).unwrap();
    space.free(0).unwrap();
    assert_eq!(space.counts().lazy_pages, 1 << 63);
    space.validate().unwrap();
}

/// A space with two freed areas, whose purge of the first `taken` has come to a stage.
fn purging(taken: usize, until: Stage) -> LazySpace {
    let mut space = space(choices());
    freed(&mut space, 2, 1, 0);
    space.begin_purge(taken).unwrap();
    while space.step_purge().unwrap() != Some(until) {}
    space
}

/// Areas that were taken go to the tree meanwhile: the first of all, and one that has another below it.
#[test]
fn a_refill_to_an_area_that_is_no_longer_taken_ends_there() {
    let mut space = purging(2, Stage::Decayed(1));
    let mut higher = space.clone();
    space.clear(pages(0, 2), false).unwrap();
    assert_eq!(space.refill_to(pages(1, 1).first()), Ok(false));
    assert!(higher.refill_to(pages(0, 1).first()).unwrap());
    higher.clear(pages(1, 1), false).unwrap();
    assert_eq!(higher.refill_to(pages(1, 1).first()), Ok(false), "page 0 is pooled, page 1 is not");
}

#[test]
fn a_purge_that_has_refilled_every_node_takes_no_more() {
    let mut space = purging(1, Stage::Refilled(1));
    space.take_lazy(1).unwrap();
    assert_eq!(space.lazy_len(), 1);
    assert_eq!(space.step_purge(), Ok(None));
    space.validate().unwrap();
    space.purge(1).unwrap();
    assert_eq!(handed(&mut space, 1, 0), [1, 0]);
}

proptest! {
    /// Any operations leave every area in one list, and the counts right.
    #[test]
    fn every_state_is_valid(ops in prop::collection::vec((0..10u8, 0..24u64, 1..6u64, 0..3u32), 1..80), pools in 0..4u8, decay in 0..4u8) {
        let pools = [Pools::PerNode, Pools::Off, Pools::Shared, Pools::Fifo][usize::from(pools)];
        let decay = [Decay::Quarter, Decay::ShortAll, Decay::Off, Decay::Tail][usize::from(decay)];
        let mut space = space(Choices { pools, decay, ..choices() });
        for (op, page, count, cpu) in ops {
            // What is refused is refused: the state is what matters.
            let _ = match op {
                0 | 1 => space.alloc(&asked(count, cpu)).map(drop),
                2 => space.alloc_at(&asked(count, cpu), pages(page, count)).map(drop),
                3 | 4 => space.free(pages(page, 1).first()).map(drop),
                5 => space.begin_purge(count as usize),
                6 => space.step_purge().map(drop),
                7 => space.take_lazy(count as usize),
                8 => space.clear(pages(page, count), false),
                _ => space.refill_to(pages(page, 1).first()).map(drop),
            };
            prop_assert!(space.validate().is_ok(), "{:?}", space.validate());
        }
    }
}
