//! `bench FAMILY --cold`.

use super::{Results, freehold, text};
use freehold_lab::run::instructions::can_count;

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn cold_operations_are_timed_and_their_lines_counted() {
    for (bench, engines, ops) in [
        (
            "kva --engine btree:lowest --engine rbtree:linux --engine offset-allocator",
            &["btree", "rbtree", "offset-allocator"][..],
            &["alloc", "free"][..],
        ),
        ("percpu --engine bitmap --engine bitmap-linux", &["bitmap", "bitmap-linux"], &["alloc", "free"]),
        (
            "maple --engine range-map --engine std-btreemap",
            &["range-map", "std-btreemap"],
            &["lookup", "erase", "insert"],
        ),
    ] {
        let words = words(bench);
        let results = Results::of(&[&["bench", "--cold", "--n", "60"], &words[..]].concat());
        for (engine, op) in engines.iter().flat_map(|engine| ops.iter().map(move |op| (engine, op))) {
            let of = format!("suite={}|workload=cold|engine={engine}|op={op}|n=60", words[0]);
            let time = results.value(&format!("{of}|metric=time|stat=median"));
            assert!(time.is_some_and(|ns| ns > 0.0), "{of}");
            let lines = |engine: &str| {
                let of = format!("workload=cold|engine={engine}|op={op}|metric=lines|stat=mean");
                results.value(&of).unwrap()
            };
            if can_count() {
                // At least what the operation is and where its answer goes; at most a few in each of a few nodes.
                assert!((1.0..200.0).contains(&lines(engine)), "{of}: {}", lines(engine));
                assert!(words[0] == "maple" || lines(engine) > lines("floor"), "{of}");
            }
        }
    }
}

#[test]
fn what_is_not_done_cold_is_refused() {
    for usage in [
        "bench readers --cold",
        "bench kva --cold --workload churn",
        "bench maple --cold --engine naive",
        "bench percpu --cold --engine nobody",
        "bench kva --cold --n 0",
        "count-instructions cold/fly --n=16 btree:lowest",
    ] {
        let output = freehold(&words(usage));
        assert_eq!(output.status.code(), Some(2), "{usage}: {}", text(&output.stderr));
    }
}
