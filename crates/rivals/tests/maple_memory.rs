//! The bytes that maps of ranges report are those that they allocated.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use freehold_rivals::maple::{BTreeMapRanges, NoditRanges, RangemapRanges};
use freehold_trace::maple::Ranges;
use freehold_units::Span;

fn filled<R: Ranges>(starts: impl Iterator<Item = u64>) -> R {
    let mut map = R::new();
    for at in starts {
        assert!(map.insert(Span::new(16 * at, 16 * at + 7).unwrap(), at + 1));
    }
    map
}

fn reports_what_it_holds<R: Ranges>() {
    for n in [0, 1, 2, 11, 12, 13, 100, 5000, 40_000_u64] {
        // In order, in reverse, and at random: 7919 is a prime that divides none of the numbers.
        let orders: [&dyn Fn(u64) -> u64; 3] = [&|at| at, &|at| n - 1 - at, &|at| at * 7919 % n];
        for (order, start) in orders.iter().enumerate() {
            let mut map = None;
            let counted = allocation_counter::measure(|| map = Some(filled::<R>((0..n).map(start))));
            let mut map = map.unwrap();
            assert_eq!(i64::try_from(map.bytes()).unwrap(), counted.bytes_current, "{n} in order {order}");
            let before = map.bytes() as i64;
            let erased = allocation_counter::measure(|| {
                (0..n).filter(|at| at % 3 > 0).for_each(|at| {
                    map.erase(16 * at);
                });
            });
            assert_eq!(map.bytes() as i64, before + erased.bytes_current, "{n} in order {order}, erased");
        }
    }
}

#[test]
fn bytes_are_what_was_allocated() {
    reports_what_it_holds::<BTreeMapRanges<u64>>();
    reports_what_it_holds::<RangemapRanges>();
    reports_what_it_holds::<NoditRanges>();
}
