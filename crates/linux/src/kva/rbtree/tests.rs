mod policies;

use super::{Colour, Placement, Plain, Policy, RbTree};
use crate::ends::all_of;
use freehold_kva::{CheckedRequest, Fit, Merge};
use freehold_units::{Align, OutOfMemory, Span, Tally, Work};
use std::vec::Vec;

const PAGE: u64 = 4096;

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

fn request(size: u64, align: u64, window: Span) -> CheckedRequest {
    CheckedRequest { size_bytes: size * PAGE, align: Align::new(align * PAGE).unwrap(), window }
}

fn empty<P: Policy>() -> RbTree<P> {
    RbTree::new(Align::PAGE).unwrap()
}

/// The five blocks of the talk.
fn talk<P: Policy>() -> RbTree<P> {
    let mut tree = empty();
    tree.reserve(5).unwrap();
    for (first, size) in [(30, 4), (6, 3), (40, 11), (2, 2), (14, 12)] {
        tree.release_span(pages(first, size), &mut ()).unwrap();
    }
    tree
}

#[test]
fn the_picture_in_the_module_is_true() {
    let tree = talk::<Plain>();
    let nodes =
        tree.preorder().map(|node| (node.span.first() / PAGE, node.subtree_max_size / PAGE, node.depth));
    assert_eq!(all_of(nodes), [(30, 12, 0), (6, 12, 1), (2, 2, 2), (14, 12, 2), (40, 11, 1)]);
    assert_eq!(tree.preorder().next().unwrap().colour, Colour::Black);
}

#[test]
fn the_four_fits_and_merges() {
    let mut tree = talk::<Plain>();
    tree.reserve(2).unwrap();
    let mut take = |size, align, window| {
        let (block, span) =
            tree.find_block(Placement::Lowest, &request(size, align, window), &mut ()).unwrap();
        (tree.carve_node(block, span, &mut ()), span)
    };
    assert_eq!(take(2, 1, Span::ALL), (Fit::Full, pages(2, 2)));
    assert_eq!(take(1, 1, Span::ALL), (Fit::LeftEdge, pages(6, 1)));
    assert_eq!(take(2, 1, pages(24, 2)), (Fit::RightEdge, pages(24, 2)));
    assert_eq!(take(2, 8, Span::ALL), (Fit::NoEdge, pages(16, 2)));
    tree.check_nodes().unwrap();
    let mut give = |first, size| tree.release_span(pages(first, size), &mut ());
    assert_eq!(give(16, 2), Ok(Merge::Both));
    assert_eq!(give(26, 2), Ok(Merge::None));
    assert_eq!(give(24, 2), Ok(Merge::Both));
    assert_eq!(give(6, 1), Ok(Merge::Next));
    assert_eq!(give(9, 1), Ok(Merge::Previous));
    assert_eq!(give(20, 1), Err(pages(14, 14)));
    tree.check_nodes().unwrap();
}

#[test]
fn linux_passes_over_a_tight_fit_and_lowest_does_not() {
    let mut tree = empty::<Plain>();
    tree.reserve(3).unwrap();
    // The tight block is a child of the root, too small for size + align, so the walk does not step on it.
    for (first, size) in [(100, 2), (8, 4), (200, 64)] {
        tree.release_span(pages(first, size), &mut ()).unwrap();
    }
    let tight = request(4, 8, Span::ALL);
    let at = |placement| tree.find_block(placement, &tight, &mut ()).map(|(_, span)| span);
    assert_eq!(at(Placement::Lowest), Some(pages(8, 4)));
    assert_eq!(at(Placement::Linux), Some(pages(200, 4)));
}

#[test]
fn a_step_of_work_is_a_step_counted() {
    let tree = talk::<Plain>();
    let mut tally = Tally::default();
    tree.find_block(Placement::Lowest, &request(4, 1, Span::ALL), &mut tally);
    assert_eq!(tally.of(Work::NodeVisited), 3);
    assert_eq!(tally.of(Work::NodeClimbed), 0);
}

#[test]
fn floors() {
    let tree = talk::<Plain>();
    assert_eq!(tree.floor(13 * PAGE).unwrap().1, pages(6, 3));
    assert_eq!(tree.floor(6 * PAGE - 1).unwrap().1, pages(2, 2));
    assert!(tree.floor(2 * PAGE - 1).is_none());
    assert_eq!(all_of(tree.iter().map(|span| span.first() / PAGE)), [2, 6, 14, 30, 40]);
}

#[test]
fn a_window_from_a_blocks_first_byte_enters_its_right_subtree_twice_as_linux_does() {
    let mut tree = empty::<Plain>();
    tree.reserve(2).unwrap();
    for (first, size) in [(0, 1), (3, 6)] {
        tree.release_span(pages(first, size), &mut ()).unwrap();
    }
    let mut tally = Tally::default();
    assert!(tree.find_block(Placement::Lowest, &request(6, 4, Span::ALL), &mut tally).is_none());
    assert_eq!((tally.of(Work::NodeVisited), tally.of(Work::NodeClimbed)), (5, 2));
}

/// The numbers of nodes have 32 bits, so this is no question of memory.
#[test]
fn more_nodes_than_there_are_numbers_are_refused_before_any_is_made() {
    let mut tree = empty::<Plain>();
    tree.reserve(3).unwrap();
    let before = tree.metadata_bytes();
    for changes in [usize::MAX, u32::MAX as usize] {
        assert_eq!(tree.reserve(changes), Err(OutOfMemory));
    }
    assert_eq!(tree.metadata_bytes(), before);
    tree.reserve(3).unwrap();
    assert_eq!(tree.metadata_bytes(), before);
}
