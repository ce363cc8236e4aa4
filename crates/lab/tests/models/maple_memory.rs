//! The bytes that maps of ranges report are their own and those that they allocated.

use freehold::units::Span;
use freehold_lab::engine::maple::find_maps;
use freehold_trace::maple::Steps;

#[test]
fn bytes_are_what_was_allocated() {
    let maps = find_maps(&[]).unwrap();
    assert!(maps.len() >= 4);
    for entry in maps {
        let make = entry.map.unwrap();
        for n in [0, 1, 2, 4, 11, 12, 13, 100, 5000, 40_000_u64] {
            // In order, in reverse, and at random: 7919 is a prime that divides none of the numbers.
            let orders: [&dyn Fn(u64) -> u64; 3] = [&|at| at, &|at| n - 1 - at, &|at| at * 7919 % n];
            for (order, start) in orders.iter().enumerate() {
                let range = |at| (Span::new(16 * start(at), 16 * start(at) + 7).unwrap(), 1 + at as u32);
                let filled = Steps::Insert((0..n).map(range).collect());
                let erased = Steps::Erase((0..n).filter(|at| at % 3 > 0).map(|at| 16 * at).collect());
                // In a box, so that the map's own bytes are allocated too.
                let mut made = None;
                let mut held = allocation_counter::measure(|| made = Some(make())).bytes_current;
                let mut map = made.unwrap();
                for (steps, what) in [(&filled, "filled"), (&erased, "erased"), (&filled, "filled again")] {
                    held += allocation_counter::measure(|| {
                        map.perform(steps);
                    })
                    .bytes_current;
                    assert_eq!(
                        map.metadata_bytes() as i64,
                        held,
                        "{}: {n} in order {order}, {what}",
                        entry.engine
                    );
                }
            }
        }
    }
}
