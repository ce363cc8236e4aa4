//! Nodes that searches visit, which do not depend on the machine.

use super::super::{EntryHandle, GranuleRequest, Order, RegionAttrs, RegionTree, search};
use super::{bytes, take, tree_of, wanted};
use freehold_units::{Tally, Work};
use std::vec::Vec;

const GAPS: u128 = 100_000;
const END: u128 = GAPS * 1024 + (1 << 20);

/// Gaps of 600 granules that start just behind a multiple of 1024, and room at the end.
fn misaligned() -> RegionTree<u32> {
    let mut tree = tree_of(END);
    take(&mut tree, 0, 1);
    for at in 0..GAPS {
        take(&mut tree, at * 1024 + 601, at * 1024 + 1025);
    }
    tree
}

fn request(size: u64, align: u32) -> GranuleRequest {
    wanted(0, size, align, (0, END)).unwrap()
}

fn searched(tree: &mut RegionTree<u32>, wanted: &GranuleRequest) -> (Option<u64>, u64) {
    let mut tally = Tally::default();
    let found = search(tree, Order::LowestFirst, wanted, &mut tally);
    (found.map(|found| found.start), tally.of(Work::NodeVisited))
}

/// By the blocks one by one.
fn lowest(tree: &RegionTree<u32>, wanted: &GranuleRequest) -> Option<u64> {
    tree.blocks().find_map(|block| {
        let place = block.first().next_multiple_of(wanted.mask + 1);
        (place + wanted.size - 1 <= block.last()).then_some(place)
    })
}

#[test]
fn an_alignment_that_is_asked_for_again_is_found_by_few_visits() {
    let mut tree = misaligned();
    let aligned = request(512, 9);
    let place = Some((GAPS * 1024 + 512).next_multiple_of(512) as u64);
    let leaves = tree.tree.leaves.in_use() as u64;
    let (found, visits) = searched(&mut tree, &aligned);
    assert!(found == place && visits > leaves, "at first nothing is known: {visits} of {leaves}");
    assert_eq!(searched(&mut tree, &aligned).0, place);
    let few = tree.tree.height as u64 + 1;
    for _ in 0..10 {
        assert_eq!(searched(&mut tree, &aligned), (place, few));
    }
    // A place that is freed and taken again costs one fruitless visit.
    for at in (0..GAPS).step_by(997) {
        let start = at * 1024 + 601;
        tree.remove(start as u64, &mut ()).unwrap();
        let (found, visits) = searched(&mut tree, &aligned);
        assert!(found == Some((at * 1024 + 512) as u64) && visits <= 2 * few, "{visits}");
        take(&mut tree, start, start + 424);
        let (found, visits) = searched(&mut tree, &aligned);
        assert!(found == place && visits <= 3 * few, "{visits}");
    }
    tree.validate().unwrap();
}

#[test]
fn every_alignment_is_learned_once() {
    let mut tree = misaligned();
    let few = tree.tree.height as u64 + 1;
    let aligned: Vec<_> = (1..40).map(|align| request(512, align)).collect();
    for round in 0..3 {
        for wanted in &aligned {
            let (found, visits) = searched(&mut tree, wanted);
            assert_eq!(found, lowest(&tree, wanted), "{wanted:?}");
            assert!(round == 0 || visits <= few, "{visits} visits for {wanted:?}");
        }
    }
    tree.validate().unwrap();
    assert_eq!(tree.tree.classes.masks().len(), 40);
}

#[test]
fn a_shared_borrow_learns_too() {
    let mut tree = misaligned();
    let aligned = request(512, 9);
    searched(&mut tree, &aligned);
    // In trees of three levels an allocation with alignment leaves bounds as they were.
    let terms = RegionAttrs { align: 9, ..RegionAttrs::default() };
    for at in 0..GAPS {
        let span = bytes(0, at * 1024 + 100, at * 1024 + 501);
        tree.reserve(1).unwrap();
        let (entry, _): (EntryHandle, _) = tree.block_over(span).unwrap();
        tree.insert(entry, span, terms, Some(0));
    }
    let whole = request(500, 0);
    let visits = |tree: &RegionTree<u32>| {
        let mut tally = Tally::default();
        let found = search(tree, Order::LowestFirst, &whole, &mut tally).map(|found| found.start);
        assert_eq!(found, lowest(tree, &whole));
        tally.of(Work::NodeVisited)
    };
    let (first, second) = (visits(&tree), visits(&tree));
    assert!(first > GAPS as u64 / 32 && second <= 4, "{first} visits, then {second}");
}

/// Gaps above all that a leaf's lanes hold, each with what is less than `SIZE` of it left.
const SIZE: u128 = 1 << 40;

fn long_gaps() -> RegionTree<u32> {
    let mut tree = tree_of(3000 * 2 * SIZE);
    for at in 0..3000 {
        take(&mut tree, at * 2 * SIZE, (at * 2 + 1) * SIZE + 1 + at * 7 % 300);
    }
    tree
}

#[test]
fn long_sizes_are_compared_exactly() {
    let mut tree = long_gaps();
    tree.validate().unwrap();
    let few = tree.tree.height as u64 + 1;
    let wanted = |size| wanted(0, size, 0, (0, 6000 * SIZE)).unwrap();
    // Cutting the first gap left its leaf's bound as it was.
    searched(&mut tree, &wanted(SIZE as u64));
    assert_eq!(searched(&mut tree, &wanted(SIZE as u64)), (None, 1));
    assert_eq!(searched(&mut tree, &wanted(SIZE as u64 - 1)), (Some(SIZE as u64 + 1), few));
    assert_eq!(searched(&mut tree, &wanted(SIZE as u64 - 2)).1, few);
}

#[test]
fn the_largest_block_is_known_and_learned() {
    let mut tree = long_gaps();
    assert_eq!(tree.tree.height, 2);
    let visits = |tree: &RegionTree<u32>| {
        let mut tally = Tally::default();
        let largest = tree.blocks().map(|block| block.size_saturating()).max().unwrap();
        assert_eq!(tree.largest_bytes(&mut tally), largest);
        tally.of(Work::NodeVisited)
    };
    for at in 0..300u128 {
        visits(&tree);
        assert_eq!(visits(&tree), tree.tree.height as u64 + 1, "the way to the largest");
        let largest = tree.largest_bytes(&mut ());
        let gap = tree.blocks().find(|block| block.size_saturating() == largest).unwrap();
        take(&mut tree, gap.first().into(), u128::from(gap.first()) + SIZE / 2 + at);
    }
    tree.validate().unwrap();
}

#[test]
fn a_leaf_is_entered_in_vain_once() {
    // Every gap is cut to half its size; in a tree of two levels the bounds stay as they were.
    let mut tree = tree_of(500 * 20 - 10);
    for at in 0..500 {
        take(&mut tree, at * 20, at * 20 + 10);
    }
    let whole = request(10, 0);
    let leaves = tree.tree.leaves.in_use() as u64;
    assert!(leaves > 10);
    for at in 0..499 {
        take(&mut tree, at * 20 + 10, at * 20 + 15);
    }
    let (found, visits) = searched(&mut tree, &whole);
    assert!(found.is_none() && visits > leaves, "{visits} visits of {leaves} leaves");
    let (found, visits) = searched(&mut tree, &whole);
    assert!(found.is_none() && visits == 1, "{visits} visits to find nothing again");
    tree.validate().unwrap();
}

#[test]
fn leaves_fill_from_the_top_down_too() {
    let mut tree = tree_of(1 << 40);
    let any = wanted(0, 3, 0, (0, 1 << 40)).unwrap();
    for count in 0..1000 {
        let found = search(&mut tree, Order::HighestFirst, &any, &mut ()).unwrap();
        assert_eq!(u128::from(found.start), (1 << 40) - 3 * (count + 1));
        take(&mut tree, found.start.into(), u128::from(found.start) + 3);
    }
    tree.validate().unwrap();
    let leaves = tree.tree.leaves.in_use();
    assert!(leaves < 100, "{leaves} leaves of 1,000 regions");
}

#[test]
fn regions_far_apart_share_leaves() {
    const COUNT: u128 = 10_000;
    for distance in [25, 26, 33, 45, 50] {
        let upward = (0..COUNT).collect::<Vec<_>>();
        let downward = (0..COUNT).rev().collect();
        let shuffled = (0..COUNT).map(|at| at * 7919 % COUNT).collect();
        for order in [upward, downward, shuffled] {
            let mut tree = tree_of(COUNT << distance);
            for &at in &order {
                take(&mut tree, at << distance, (at << distance) + 5 + (at & 1) * (1 << (distance - 1)));
            }
            tree.validate().unwrap();
            let each = tree.bytes() / COUNT as usize;
            assert!(each <= 64, "{each} bytes a region at a distance of 2^{distance}");
            // The high halves of far leaves are counted.
            assert!(tree.far_leaves > 1);
            assert_eq!(tree.bytes() - tree.tree.bytes(), tree.far_leaves * 3 * 32 * 4);
            // Most regions are freed, and nodes with them.
            for &at in order.iter().filter(|&at| at % 16 > 0) {
                tree.remove((at << distance) as u64, &mut ()).unwrap();
            }
            tree.validate().unwrap();
            let leaves = tree.tree.leaves.in_use() as u128;
            assert!(leaves < COUNT / 16 / 4, "{leaves} leaves at a distance of 2^{distance}");
        }
    }
}

/// Three regions lie far from all others, as chunks of per-CPU memory do: in one place, and in three.
#[test]
fn regions_far_away_make_few_leaves_far() {
    const END: u128 = 1 << 40;
    for distance in [100, 1 << 30] {
        for (order, away) in [(Order::LowestFirst, END - 4 * distance), (Order::HighestFirst, 100)] {
            let mut tree = tree_of(END);
            for at in 0..3 {
                take(&mut tree, away + at * distance, away + at * distance + 5);
            }
            let any = wanted(0, 3, 0, (0, END)).unwrap();
            let mut far = 0;
            for _ in 0..1000 {
                let found = search(&mut tree, order, &any, &mut ()).unwrap();
                take(&mut tree, found.start.into(), u128::from(found.start) + 3);
                far += usize::from(tree.tree.leaves[tree.tree.path_to(found.start).leaf].is_far());
            }
            tree.validate().unwrap();
            assert!(far <= 32, "{far} of 1,000 regions came to a far leaf: {order:?}, {distance}");
        }
    }
}

/// Places far apart with a number of regions in each.
fn places(count: u128, regions: u128) -> (RegionTree<u32>, Vec<u128>) {
    let starts: Vec<_> = (0..count).flat_map(|at| (0..regions).map(move |of| (at << 40) + of * 10)).collect();
    let mut tree = tree_of(count << 40);
    starts.iter().for_each(|&start| take(&mut tree, start, start + 5));
    (tree, starts)
}

/// A look-up in a far leaf takes twice as long or more.
#[test]
fn few_regions_in_places_far_apart_have_near_leaves() {
    for (count, regions) in [(2, 5), (2, 20), (3, 7), (4, 10), (8, 30)] {
        let (tree, starts) = places(count, regions);
        tree.validate().unwrap();
        let is_far = |start: &&u128| {
            let leaf = &tree.tree.leaves[tree.tree.path_to(**start as u64).leaf];
            leaf.is_far() && leaf.len() > 10
        };
        assert_eq!(starts.iter().filter(is_far).count(), 0, "{count} places of {regions} regions");
    }
}

/// What is cut is not joined at once, nor the other way round: in a space with few leaves, with many, and in between.
#[test]
fn a_region_that_comes_and_goes_moves_no_others() {
    for regions in [2, 5, 9, 20] {
        for count in (1..40).chain([100, 300]) {
            let (mut tree, starts) = places(count, regions);
            for &start in starts.iter().step_by(starts.len() / 40 + 1) {
                let mut leaves = [0; 4];
                for (at, leaves) in leaves.iter_mut().enumerate() {
                    if at % 2 == 0 {
                        tree.remove(start as u64, &mut ()).unwrap();
                    } else {
                        take(&mut tree, start, start + 5);
                    }
                    *leaves = tree.tree.leaves.in_use();
                }
                assert_eq!(leaves[2], leaves[3], "{count} places of {regions} regions, {start:#x}");
            }
            tree.validate().unwrap();
        }
    }
}

/// A leaf that its neighbour had no room for is joined as soon as it has.
#[test]
fn a_leaf_that_loses_its_first_regions_is_joined_in_time() {
    let mut tree = tree_of(1 << 20);
    for at in 0..200 {
        take(&mut tree, at * 10, at * 10 + 5);
    }
    let starts = |tree: &RegionTree<u32>, leaf: u32| -> Vec<u64> {
        let leaf = &tree.tree.leaves[leaf];
        let mut starts: Vec<_> = (0..leaf.len()).map(|slot| leaf.start(slot)).collect();
        starts.sort_unstable();
        starts
    };
    // Not the lowest leaf, which begins with the start of the span.
    let of_first = starts(&tree, tree.tree.path_to(1000).leaf);
    let of_second = starts(&tree, tree.tree.path_to(of_first[of_first.len() - 1] + 10).leaf);
    // The two leaves together have one region more than a joined leaf may when the first has few.
    let (few, joined) = (8, 24);
    for &start in &of_second[joined - few + 1..] {
        tree.remove(start, &mut ()).unwrap();
    }
    let leaves = tree.tree.leaves.in_use();
    let (gone, kept) = of_first.split_at(of_first.len() - few);
    for &start in gone {
        tree.remove(start, &mut ()).unwrap();
    }
    assert_eq!(tree.tree.leaves.in_use(), leaves, "{} regions in the two", kept.len() + joined - few + 1);
    tree.remove(kept[0], &mut ()).unwrap();
    assert_eq!(tree.tree.leaves.in_use(), leaves - 1);
    tree.validate().unwrap();
}
