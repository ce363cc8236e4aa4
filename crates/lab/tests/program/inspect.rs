//! What `inspect` tells of traces.

use super::{Results, data, freehold, text};

#[test]
fn inspect_tells_the_shape_of_a_trace() {
    let output = freehold(&["inspect", &data("traces/bpfvm.kva.csv.zst")]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output.stdout);
    for part in ["10,769", "10,791", "sizes of allocations", "lifetime", "live objects over time"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn inspect_tells_what_a_percpu_trace_asks_for() {
    let output = freehold(&["inspect", &data("traces/netns.pcpu.csv.zst")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let parts = ["124,050", "124,027", "free of an unknown object (not replayed)", "5,380", "100 ms"];
    for part in parts.into_iter().chain(["sizes and alignments", "lifetime", "live objects over time"]) {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    let results = Results::of(&["inspect", &data("traces/netns.pcpu.csv.zst")]);
    let asked = |op: &str| {
        let query = format!("op={op}|metric=count");
        results.find(&query).map(|record| record["value"].as_f64().unwrap()).sum::<f64>()
    };
    assert!(asked("cannot wait") > 0.0);
    assert_eq!(asked("can wait") + asked("cannot wait"), 124_050.0);
}
