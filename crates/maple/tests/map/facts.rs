//! The heights that a planned store states of the nodes above its leaf.

use freehold_maple::{Heights, WordMap};

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
