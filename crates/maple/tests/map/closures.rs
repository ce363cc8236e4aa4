//! Closures of a caller's that panic, at each of their calls: the map is valid, and every value lives once.

use freehold_maple::RangeMap;
use freehold_units::Span;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

type Map = RangeMap<Rc<u32>>;

/// Entries of ten indexes in pairs of equal values; every third pair is followed by a gap.
fn start(values: &[Rc<u32>]) -> Map {
    let mut map = RangeMap::new();
    for at in 0..60 {
        let first = 10 * at + at / 6 * 5;
        map.store(first..first + 10, Rc::clone(&values[at as usize / 2 % 2])).unwrap();
    }
    map
}

/// Each value is held once for each of its entries, and once by `values`.
fn check(map: &Map, values: &[Rc<u32>]) {
    map.validate().unwrap();
    for value in values {
        let entries = map.values().filter(|held| Rc::ptr_eq(held, value)).count();
        assert_eq!(Rc::strong_count(value), 1 + entries, "of value {value}");
    }
}

/// Runs an operation once for each call of its closures, which panics there; returns how many calls there are. `keeps`
/// says whether nothing may have changed then. The operation calls the function that it gets in its closures.
fn at_each_call(keeps: bool, operation: impl Fn(&mut Map, &[Rc<u32>], &dyn Fn())) -> u32 {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // An interpreter takes seconds for a map of this size.
        for panicking in (0..).step_by(if cfg!(miri) { 64 } else { 1 }) {
            let values: Vec<_> = (0..4).map(Rc::new).collect();
            let mut map = start(&values);
            let before: Vec<_> = map.iter().map(|(span, value)| (span, **value)).collect();
            let calls = Cell::new(0);
            let called = || {
                assert_ne!(calls.replace(calls.get() + 1), panicking, "a closure that panics");
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| operation(&mut map, &values, &called)));
            check(&map, &values);
            if outcome.is_ok() {
                return calls.get();
            }
            if keeps {
                assert!(map.iter().map(|(span, value)| (span, **value)).eq(before), "call {panicking}");
            }
        }
        unreachable!("an operation that calls its closures without end")
    }));
    std::panic::set_hook(hook);
    outcome.unwrap_or_else(|cause| std::panic::resume_unwind(cause))
}

#[test]
fn a_store_that_merges() {
    let stores = [(5..8, 1), (5..12, 2), (10..20, 2), (15..400, 2), (60..65, 2), (700..705, 0)];
    for (over, calls) in stores.into_iter().step_by(if cfg!(miri) { 3 } else { 1 }) {
        let called = at_each_call(true, |map, values, called| {
            let same = |new: &Rc<u32>, old: &Rc<u32>| {
                called();
                new == old
            };
            map.store_merging_by(over.clone(), Rc::clone(&values[0]), same).unwrap();
        });
        assert_eq!(called, calls, "{over:?}");
    }
}

#[test]
fn merging_on_request() {
    let called = at_each_call(false, |map, _, called| {
        let same = |a: &Rc<u32>, b: &Rc<u32>| {
            called();
            a == b
        };
        map.merge_adjacent_in_by(.., same);
    });
    assert!(called > 40, "{called} calls");
    let called = at_each_call(false, |map, values, called| {
        let same = |(low, a): (Span, &Rc<u32>), (high, b): (Span, &Rc<u32>)| {
            called();
            low.touches(high) && a == b
        };
        map.merge_adjacent_in_with(.., same, |span, kept, _| {
            called();
            *kept = Rc::clone(&values[if span.size_bytes() > 20 { 3 } else { 2 }]);
        });
    });
    assert!(called > 40, "{called} calls");
}

#[test]
fn changes_of_slots() {
    let called = at_each_call(false, |map, values, called| {
        let change = |part: Span, _: Option<&mut Rc<u32>>| {
            called();
            (!part.first().is_multiple_of(3)).then(|| Rc::clone(&values[3]))
        };
        map.update_slots(55..500, change).unwrap();
    });
    assert!(called > 40, "{called} calls");
}

#[test]
fn overlays() {
    let called = at_each_call(true, |map, values, called| {
        let other = RangeMap::from([(5..95, ()), (200..201, ())]);
        let union = map.union_with(&other, |_, a, _| {
            called();
            Rc::clone(a.unwrap_or(&values[3]))
        });
        assert!(union.unwrap().len() > 60);
        map.intersection_with(&other, |_, a, ()| {
            called();
            Rc::clone(a)
        })
        .unwrap();
    });
    assert!(called > 60, "{called} calls");
}
