//! Transactions of maps of any value: each change in one does what the same change of the map does, and an undo undoes it.

use freehold_maple::{InsertError, RangeMap};
use freehold_units::Span;
use proptest::prelude::*;
use std::rc::Rc;

type Map = RangeMap<Rc<(u64, u64)>>;

/// What a part of a cut entry becomes: it knows where it began, and how often it was cut.
fn part(whole: Span, kept: Span, value: &Rc<(u64, u64)>) -> Rc<(u64, u64)> {
    Rc::new((value.0 + (kept.first() - whole.first()), value.1 + 1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 200 }))]

    #[test]
    fn a_transaction_does_what_its_changes_do(
        before in prop::collection::vec((0..400u64, 1..30u64), 0..60),
        changes in prop::collection::vec((0..5u8, 0..400u64, 1..60u64), 1..12),
        commits: bool,
    ) {
        let all = Rc::new((0, 0));
        let mut map = Map::new();
        for (first, len) in before {
            map.store_with(first..first + len, all.clone(), part).unwrap();
        }
        let (before, mut alone) = (map.clone(), map.clone());
        let mut together = map.transaction();
        for (kind, first, len) in changes {
            let over = first..first + len;
            let value = || Rc::new((first, 0));
            match kind {
                0 => {
                    together.store(over.clone(), value()).unwrap();
                    alone.store(over, value()).unwrap();
                }
                1 => {
                    together.store_with(over.clone(), value(), part).unwrap();
                    alone.store_with(over, value(), part).unwrap();
                }
                2 => {
                    let cause = |refused: freehold_maple::Rejected<_, InsertError>| refused.cause;
                    let inserted = together.insert(over.clone(), value()).map_err(cause);
                    prop_assert_eq!(inserted, alone.insert(over, value()).map_err(cause));
                }
                3 => {
                    together.remove_range(over.clone()).unwrap();
                    alone.remove_range(over).unwrap();
                }
                _ => {
                    together.remove_range_with(over.clone(), part).unwrap();
                    alone.remove_range_with(over, part).unwrap();
                }
            }
            prop_assert!(*together.map() == alone);
        }
        if commits {
            together.commit();
        } else {
            drop(together);
        }
        map.validate().unwrap();
        let wanted = if commits { &alone } else { &before };
        prop_assert!(map == *wanted);
        drop((before, alone));
        // What was replaced or undone is dropped: each value is in the map alone.
        for value in map.values() {
            let in_map = map.values().filter(|other| Rc::ptr_eq(value, other)).count();
            prop_assert_eq!(Rc::strong_count(value), in_map + usize::from(Rc::ptr_eq(value, &all)));
        }
        map.clear();
        prop_assert_eq!(Rc::strong_count(&all), 1);
    }
}

#[test]
fn an_undo_returns_what_was_changed_in_place() {
    let mut map = RangeMap::from([(0..100, String::from("a"))]);
    let mut together = map.transaction();
    together.store_with(40..50, "b".into(), |_, kept, _| kept.to_string()).unwrap();
    // The lower part is cut a second time.
    together.store_with(10..20, "c".into(), |_, kept, old| format!("{kept} of {old}")).unwrap();
    assert_eq!(together.map().get(5).unwrap(), "0x0..=0x9 of 0x0..=0x27");
    let refused = together.insert(45..46, "d".into()).unwrap_err();
    assert_eq!(refused.cause, InsertError::Occupied { entry: Span::try_from(40..50).unwrap() });
    drop(together);
    assert_eq!(map, RangeMap::from([(0..100, String::from("a"))]));
    map.validate().unwrap();
}
