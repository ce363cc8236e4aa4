use freehold_lab::engine::{Compared, EngineEntry};
use freehold_lab::run::{EngineRun, Replay, Spread, measure};
use freehold_lab::workload::{Batches, Piece};
use freehold_trace::kva::Op;
use std::time::Duration;

/// Fills single pages, then frees them, in batches of one operation. The last ten frees are not sampled.
fn measured(keep: usize, limit: Duration, rounds: usize) -> Replay {
    let mut batches = Batches::default();
    for at in 0..200 {
        let (op, part) = match at {
            0..100 => (Op::alloc(at, 4096), Piece::Part("fill")),
            100..190 => (Op::Free { object: at - 100 }, Piece::Part("empty")),
            _ => (Op::Free { object: at - 100 }, Piece::Around),
        };
        batches.ops.push(op);
        batches.end(part);
    }
    let mut workload = batches.sampled("fill", 100, 7, keep);
    workload.cut.limit = Some(limit);
    let names = ["rbtree:lowest".to_owned(), "gap-list".to_owned()];
    let engines = EngineEntry::find(&names, Compared::Always).unwrap();
    measure(workload, &engines, rounds, &mut |_| ()).unwrap()
}

#[test]
fn samples_hold_every_operation_once() {
    let replay = measured(100, Duration::from_secs(60), 2);
    assert_eq!(replay.common(), 7, "190 operations, 28 in each sample");
    for run in replay.runs.iter().chain(&replay.floor) {
        let all = replay.costs(run, 0..200, None);
        let [fill_and_empty, rest] = replay.sums(run);
        assert!(replay.complete(run) && fill_and_empty.ns > 0);
        if run.entry.is_floor() {
            continue;
        }
        assert_eq!((fill_and_empty.ops, rest.ops, all.len(), run.counted.failures), (190, 10, 100, 0));
        assert!(fill_and_empty.work > 0 && (fill_and_empty + rest).ops == 200);
        let live: Vec<u64> = run.counted.buckets.iter().map(|bucket| bucket.state.live).collect();
        assert_eq!(live, [28, 56, 84, 88, 60, 32, 0]);
        assert!(all.iter().all(|cost| cost.ns < u32::MAX), "every allocation was timed");
        // What has no allocation has no work of one.
        let works = run.counted.buckets.iter().map(|bucket| (bucket.work_mean > 0.0, bucket.work_max > 0));
        assert_eq!(works.collect::<Vec<_>>()[4..], [(false, false); 3]);
        let by_sample: Vec<usize> = replay.costs_by_sample(run).map(|costs| costs.len()).collect();
        assert_eq!(by_sample, [28, 28, 28, 16, 0, 0, 0]);
        assert_eq!([replay.costs(run, 0..200, Some("fill")).len(), all.len()], [100; 2]);
        assert_eq!((run.timed.loop_ns.len(), run.timed.samples_ns.len()), (2, 7));
    }
    assert_eq!(replay.parts(), ["fill", "empty"]);
    // The whole run takes what its samples take, and of those the least of the rounds is told.
    let once = measured(100, Duration::from_secs(60), 1);
    for (run, once) in replay.runs.iter().zip(&once.runs) {
        let sum = |run: &EngineRun| run.timed.samples_ns.iter().flatten().sum::<u64>() as f64;
        assert!((once.timed.loop_ns[0] * 200.0 - sum(once)).abs() < 1e-3, "{:?}", once.timed);
        assert!(run.timed.loop_ns.iter().all(|ns| sum(run) < ns * 200.0 + 1e-3), "{:?}", run.timed);
    }
    // When it is empty again, an engine may hold less than at its fullest, which is what counts.
    let fullest = measured(4, Duration::from_secs(60), 2);
    for (whole, fullest) in replay.runs.iter().zip(&fullest.runs) {
        let [whole, fullest] = [whole, fullest].map(|run| run.counted.metadata_peak_bytes);
        assert!(whole >= fullest, "{whole} bytes, and {fullest} on the way");
    }
}

#[test]
fn a_run_can_be_cut_short_and_says_so() {
    let short = measured(2, Duration::from_secs(60), 2);
    assert!(short.workload.cut.more && short.common() == 2);
    assert!(!short.complete(&short.runs[0]));
    let slow = measured(100, Duration::ZERO, 2);
    assert_eq!(slow.common(), 1);
    assert!(slow.runs.iter().all(|run| run.counted.out_of_time && run.timed.samples_ns.len() == 1));
}

#[test]
fn spreads_are_exact() {
    let spread = Spread::of([4.0, 1.0, 7.0].into_iter()).unwrap();
    assert_eq!((spread.least, spread.mean, spread.greatest), (1.0, 4.0, 7.0));
    assert_eq!(Spread::of(std::iter::empty()), None);
}
