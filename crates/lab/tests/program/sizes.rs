//! Sizes that `bench` is asked for.

use super::{Results, freehold, text};
use std::collections::BTreeSet;

/// Where nothing is of a size, none is asked for; and a size of which an engine does as much as of the one before adds nothing.
#[test]
fn each_size_is_measured_once_and_only_where_it_counts() {
    let output = freehold(&["bench", "maple", "--quick", "--n", "100000000", "--workload", "footprint"]);
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("none of these workloads has sizes"), "{said}");
    let bench = "bench percpu --quick --n 6000 --n 5000 --n 6000 --engine bitmap --engine area-map --workload aligned \
                 --workload mass-free";
    let results = Results::of(&bench.split_whitespace().collect::<Vec<_>>());
    let sizes =
        |query| results.find(query).filter_map(|record| record["n"].as_u64()).collect::<BTreeSet<_>>();
    assert_eq!(sizes("engine=bitmap|workload=aligned"), [5000, 6000].into());
    assert_eq!(sizes("engine=area-map|workload=aligned"), [4000].into());
    assert_eq!(sizes("engine=area-map|workload=mass-free"), [5000, 6000].into());
}

#[test]
fn a_growth_has_each_size() {
    let results = Results::of(&["bench", "percpu", "--growth", "--quick", "--engine", "bitmap"]);
    let pages: Vec<(u64, f64)> = results
        .records()
        .filter(|record| record["metric"] == "pages")
        .map(|record| (record["n"].as_u64().unwrap(), record["value"].as_f64().unwrap()))
        .collect();
    assert_eq!(pages.iter().map(|&(n, _)| n).collect::<Vec<_>>(), [100, 1000, 10_000, 100_000]);
    // 34 bytes each in the mean.
    assert!(pages.iter().all(|&(n, pages)| pages * 4096.0 > 30.0 * n as f64), "{pages:?}");
}
