use freehold::units::{Align, Span};
use freehold_lab::engine::{Compared, EngineEntry};
use freehold_lab::record::{Results, Series};
use freehold_lab::run::{Fragmentation, Replay, add_replay, measure};
use freehold_lab::workload::{self, Workload, whole_scene};
use freehold_trace::kva::Op;

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

/// Two pages at the low end, and one near the high end, which is behind the largest free block.
#[test]
fn a_span_ends_where_the_largest_free_block_begins() {
    let scene = whole_scene();
    let space = scene.layout[0];
    let high = Span::from_size(space.last() - 0xffff, 4096).unwrap();
    let placed = Op::Alloc { object: 2, size_bytes: 4096, align: Align::PAGE, window: high };
    let ops = vec![Op::alloc(0, 4096), Op::alloc(1, 4096), placed];
    let engines = EngineEntry::find(&["btree:lowest".to_owned()], Compared::Always).unwrap();
    let replay: Replay = measure(Workload::new("high", "", scene, ops, 3), &engines, 0, &mut |_| ()).unwrap();
    let state = replay.runs[0].counted.last_state();
    assert_eq!((state.live, state.free_blocks, state.span_bytes, state.used_bytes), (3, 2, 8192, 8192));
    assert_eq!(state.free_bytes, space.size_bytes() - 3 * 4096);
    assert_eq!(state.largest_free_bytes, space.size_bytes() - 8192 - 0x10000);
    let half =
        Fragmentation { largest_free_bytes: 60, free_bytes: 80, span_bytes: 100, used_bytes: 40, ..state };
    assert_eq!((half.largest_ratio(), half.span_ratio()), (0.75, 2.5));
}
