use freehold_lab::engine::{Compared, EngineEntry};
use freehold_lab::record::{Results, Series};
use freehold_lab::run::{add_replay, measure};
use freehold_lab::workload;

/// The lines over time of a replay whose operations took as many nanoseconds as their number.
fn lines() -> Vec<Series> {
    let engines = EngineEntry::find(&["rbtree:lowest".to_owned()], Compared::Always).unwrap();
    let mut replay =
        measure(workload::named("churn:200".as_ref()).unwrap(), &engines, 1, &mut |_| ()).unwrap();
    replay.runs[0].timed.least_ns = (0..replay.workload.ops.len() as u64).collect();
    let mut results = Results::default();
    add_replay(&mut results, replay);
    results.series
}

#[test]
fn latency_is_the_median_of_the_stretch() {
    let lines = lines();
    let latency = lines.iter().find(|series| series.id == "latency").unwrap();
    for (at, (median, most)) in latency.at.iter().zip(latency.values[0].iter().zip(&latency.values[1])) {
        let (median, most) = (median.unwrap(), most.unwrap());
        assert!((median - at).abs() <= 8.0 && most > median, "{at}: {median}, {most}");
    }
}

#[test]
fn quantiles_rise_to_one_in_a_thousand() {
    let lines = lines();
    let places = &lines.iter().find(|series| series.id == "distribution").unwrap().at;
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!((places.first(), places.last()), (Some(&1.0), Some(&1000.0)));
}
