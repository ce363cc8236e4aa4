//! What a planned store states: its kind, and the heights of the nodes above its leaf.

use freehold_maple::{Heights, StoreType, WordMap};

/// A tree of two levels grows: its root has few children, then enough to lose one, then as many as it has room for.
#[test]
fn a_root_that_fills_has_children_to_spare_and_then_no_room() {
    let mut map: WordMap<u32> = WordMap::new();
    let mut seen = Vec::new();
    for range in 0_u32.. {
        let first = u64::from(range) * 16;
        map.store(first..=first + 7, range).unwrap();
        let Heights { height, vacant, sufficient } =
            map.plan_store(first..=first + 3).unwrap().facts().heights;
        match height {
            1 => assert_eq!((vacant, sufficient), (0, 0)),
            2 if seen.last() == Some(&(vacant, sufficient)) => {}
            2 => seen.push((vacant, sufficient)),
            _ => break,
        }
    }
    assert_eq!(seen, [(1, 0), (1, 1), (0, 1)]);
}

/// One leaf with three entries side by side, a gap, and another entry.
#[test]
fn each_kind_of_store_within_a_leaf_is_told() {
    let mut map: WordMap<u32> = WordMap::new();
    let mut kind = |first: u64, last: u64, is_stored: bool| {
        let found = map.plan_store(first..=last).unwrap().facts().store_type;
        if is_stored {
            map.store(first..=last, 1).unwrap();
        }
        found
    };
    assert_eq!(kind(10, 19, true), StoreType::StoreRoot);
    for first in [20, 30, 100] {
        assert_eq!(kind(first, first + 9, true), StoreType::Append);
    }
    assert_eq!(kind(20, 29, false), StoreType::ExactFit);
    // The entries at both ends become shorter, and the one in between goes, or a slot is cut in two or three.
    assert_eq!(kind(20, 34, false), StoreType::SlotStore);
    assert_eq!(kind(15, 35, false), StoreType::SlotStore);
    for (first, last) in [(20, 24), (15, 24), (12, 14), (50, 60), (10, 39)] {
        assert_eq!(kind(first, last, false), StoreType::NodeStore, "{first} to {last}");
    }
    // The last gap, in whole and in part.
    assert_eq!(kind(110, u64::MAX, false), StoreType::ExactFit);
    assert_eq!(kind(200, u64::MAX, false), StoreType::Append);
    assert_eq!(kind(0, u64::MAX, false), StoreType::NewRoot);
}

/// An entry at the end of a leaf grows into the gap with which the next leaf begins: then that gap is its own leaf's, and what makes it
/// grow further is no matter of two leaves.
#[test]
fn an_entry_that_grows_over_the_end_of_its_leaf_does_so_once() {
    let mut map: WordMap<u32> = WordMap::new();
    for range in 0..100_u32 {
        let first = u64::from(range) * 100;
        map.store(first..=first + 9, range).unwrap();
    }
    // Leaves have room.
    for range in (0..100).step_by(5) {
        map.erase(range * 100);
    }
    let spans = |map: &mut WordMap<u32>, first: u64, last: u64| {
        map.plan_store(first..=last).unwrap().facts().store_type == StoreType::Spanning
    };
    let (mut over_an_edge, mut again) = (0, 0);
    for range in 0..100_u32 {
        let first = u64::from(range) * 100;
        if spans(&mut map, first, first + 19) {
            map.store(first..=first + 19, range).unwrap();
            over_an_edge += 1;
            again += u32::from(spans(&mut map, first, first + 29));
        }
    }
    assert!(over_an_edge > 5 && again == 0, "{over_an_edge} at the end of a leaf, {again} a second time");
    map.validate().unwrap();
}
