//! A space in one tree.

use freehold::units::{Align, Span, Tally, Work};
use freehold_lab::engine::OneTree;
use freehold_trace::kva::Engine;

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first << 12, pages << 12).unwrap()
}

#[test]
fn what_is_outside_is_neither_free_nor_freed() {
    let mut space = OneTree::new(&[pages(8, 4), pages(1, 3)], Align::PAGE).unwrap();
    let mut blocks = Vec::new();
    space.free_blocks(&mut |block| blocks.push(block));
    assert_eq!(blocks, [pages(1, 3), pages(8, 4)]);
    assert_eq!(space.alloc(4 << 12, Align::ONE, Span::ALL, &mut ()), Some(8 << 12));
    for not_there in [0, 4 << 12, 12 << 12, 9 << 12, u64::MAX] {
        assert!(!space.free(not_there, &mut ()), "{not_there:#x}");
    }
    assert!(space.free(8 << 12, &mut ()) && !space.free(8 << 12, &mut ()));
    assert_eq!(space.validate(), Ok(()));
    assert!(OneTree::new(&[Span::new(1, 4096).unwrap()], Align::PAGE).is_err());
}

#[test]
fn the_whole_space_is_a_space() {
    let mut space = OneTree::new(&[Span::ALL], Align::PAGE).unwrap();
    let top = Span::new(u64::MAX - 4095, u64::MAX).unwrap();
    assert_eq!(space.alloc(4096, Align::PAGE, top, &mut ()), Some(top.first()));
    assert_eq!(space.alloc(4096, Align::PAGE, Span::ALL, &mut ()), Some(0));
    assert!(space.free(top.first(), &mut ()) && space.free(0, &mut ()));
    assert_eq!(space.validate(), Ok(()));
}

#[test]
fn every_node_is_counted_where_it_is_taken() {
    let mut space = OneTree::new(&[pages(1, 10_000)], Align::PAGE).unwrap();
    let before = space.map.nodes_taken();
    let (mut allocs, mut frees) = (Tally::default(), Tally::default());
    for _ in 0..1000 {
        assert!(space.alloc(4096, Align::ONE, Span::ALL, &mut allocs).is_some());
    }
    for page in (1..=1000).step_by(2) {
        assert!(space.free(page << 12, &mut frees));
    }
    assert!(allocs.of(Work::NodeTaken) > 0);
    let taken = allocs.of(Work::NodeTaken) + frees.of(Work::NodeTaken);
    assert_eq!(taken, space.map.nodes_taken() - before);
    assert_eq!(space.validate(), Ok(()));
}
