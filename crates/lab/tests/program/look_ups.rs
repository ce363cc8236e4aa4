//! Look-ups of `bench kva`, `bench maple` and `bench readers`, and loops over two maps of `bench maple`.

use super::{Results, freehold, text};
use freehold_lab::run::instructions::can_count;

/// A bench of each family, and its engines.
const FAMILIES: [(&str, &[&str]); 3] = [
    ("kva --n 16 --workload lookup-random --workload lookup-hot", &["btree", "std-btreemap", "rangemap"]),
    (
        "maple --n 300 --workload lookup-random",
        &["range-map", "range-map-any", "maple-tree", "std-btreemap", "rangemap"],
    ),
    (
        "readers --n 300 --workload lookup-hot",
        &["maple-tree", "shared-space", "rwlock-btreemap", "range-map", "std-btreemap", "rangemap"],
    ),
];

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn every_engine_of_a_family_looks_up() {
    for (bench, engines) in FAMILIES {
        let words = words(bench);
        let results = Results::of(&[&["bench", "--quick"], &words[..]].concat());
        for engine in engines {
            for workload in words.iter().filter(|word| word.starts_with("lookup-")) {
                let of = format!("suite={}|n={}|workload={workload}|engine={engine}", words[0], words[2]);
                let time = results.value(&format!("{of}|op=look-up|metric=time"));
                assert!(time.is_some_and(|ns| ns > 0.0), "{of}");
            }
        }
        // No engine beside, and no other workload.
        let others = results.records().filter(|record| {
            let engine = record["engine"].as_str();
            engine.is_some_and(|engine| engine != "floor" && !engines.contains(&engine))
        });
        assert_eq!(others.count(), 0, "{bench}");
    }
    let two = Results::of(&words("bench maple --quick --n 300 --workload iterate-two"));
    for engine in ["range-map", "range-map-any", "std-btreemap", "rangemap", "nodit"] {
        let query = format!("workload=iterate-two|engine={engine}|op=iterate|n=300|metric=time");
        assert!(two.value(&query).is_some_and(|ns| ns > 0.0), "{engine}");
    }
}

#[test]
fn instructions_of_look_ups_are_counted_and_the_same_again() {
    for usage in [
        "bench kva --instructions",
        "bench kva --instructions --workload lookup-hot --workload churn",
        "bench kva --workload lookup-hot --engine gap-list",
        "bench readers --instructions --workload read",
        "bench percpu --instructions",
        "count-instructions look-ups/fly/lookup-hot --n=16 btree:lowest",
        "count-instructions look-ups/kva/lookup-hot --n=16 nobody",
    ] {
        let output = freehold(&words(usage));
        assert_eq!(output.status.code(), Some(2), "{usage}: {}", text(&output.stderr));
    }
    if !can_count() {
        println!("not run: valgrind is not installed");
        return;
    }
    for (family, engine) in [("kva", "btree:lowest"), ("maple", "std-btreemap"), ("readers", "shared-space")]
    {
        let bench =
            format!("bench {family} --instructions --n 100 --workload lookup-random --engine {engine}");
        let once = || Results::of(&words(&bench)).value("op=look-up|n=100|metric=instructions").unwrap();
        let counted = once();
        assert!(counted > 10.0 && counted == once(), "{engine}: {counted}");
    }
    let two = "bench maple --instructions --n 100 --workload iterate-two --engine range-map";
    let counted = Results::of(&words(two)).value("workload=iterate-two|op=iterate|metric=instructions");
    assert!(counted.is_some_and(|each| each > 3.0), "{counted:?}");
}
