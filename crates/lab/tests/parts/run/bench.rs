use crate::run::stress::liar::{LEAKS, REFUSES, liar};
use freehold::units::{Align, Span};
use freehold_lab::engine::{ENGINES, KernelEngine, KvaFacts, Make};
use freehold_lab::kind::Subject;
use freehold_lab::record::{Metric, Record};
use freehold_lab::run::bench::{Budget, bench};
use freehold_lab::run::{Options, measure};
use freehold_lab::workload::bench::{BenchWorkload, cases};
use freehold_lab::{Progress, commands};
use freehold_linux::kva::Placement;
use freehold_trace::kva::{Driver, Session};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

const BUDGET: Budget = Budget { setup: [Duration::from_secs(600); 2], rounds: [Duration::from_secs(600); 2] };

/// A case with more operations than the liar needs to lie.
fn sized(name: &str, n: u32) -> BenchWorkload {
    BenchWorkload::new(cases().find(|case| case.name == name).unwrap(), n, 4000, 1).unwrap()
}

fn churn() -> BenchWorkload {
    sized("churn", 100)
}

#[test]
fn a_lost_free_is_found_in_a_bench() {
    let lost = bench(&churn(), &[liar::<LEAKS>()], 1, &BUDGET, &mut |_| ()).err().unwrap().to_string();
    assert!(lost.contains("bytes are free and"), "{lost}");
}

/// In the set-up; of requests that may lie anywhere; and of those in windows, some of which are full.
#[test]
fn a_wrong_refusal_is_found_in_a_bench() {
    let told = |workload: &BenchWorkload| {
        let refused = bench(workload, &[liar::<REFUSES>()], 1, &BUDGET, &mut |_| ()).err();
        refused
            .map(|error| error.to_string())
            .filter(|error| error.contains("was refused, though it fits at"))
    };
    assert!(told(&sized("churn", 1000)).unwrap().contains("set-up operation 999: "));
    assert!(told(&churn()).unwrap().contains(": operation "));
    // There may have been no room where it lies.
    assert!([200, 300, 400, 500].into_iter().any(|n| told(&sized("zone", n)).is_some()));
    let (runs, _) = bench(&sized("zone", 200), &[ENGINES[0]], 1, &BUDGET, &mut |_| ()).unwrap();
    assert!(runs[0].failures > 0, "no window is full");
}

static MADE: AtomicU32 = AtomicU32::new(0);

/// All but that one of the engines that it makes place at the lowest address.
fn one_lies<const WHICH: u32>(layout: &[Span], granule: Align) -> Result<Box<dyn Session>, String> {
    let lies = MADE.fetch_add(1, Relaxed) == WHICH;
    let placement = if lies { Placement::Highest } else { Placement::Lowest };
    let engine: KernelEngine = KernelEngine::new(layout, granule, placement)?;
    Ok(Box::new(Driver::new(engine)))
}

/// The first is checked; in a replay the second is timed operation by operation, and the third in one go.
#[test]
fn another_answer_while_it_is_timed_is_found() {
    let engine = |make: Make| {
        MADE.store(0, Relaxed);
        ENGINES[0].with(KvaFacts { make, ..ENGINES[0].facts })
    };
    let replayed = |make: Make| measure(churn().into_workload(), &[engine(make)], 1, &mut |_| ()).err();
    let benched = bench(&churn(), &[engine(one_lies::<1>)], 1, &BUDGET, &mut |_| ()).err();
    for error in [replayed(one_lies::<1>), replayed(one_lies::<2>), benched] {
        let error = error.unwrap().to_string();
        assert!(error.contains("another answer than in the checked run"), "{error}");
    }
    assert!(replayed(one_lies::<3>).is_none());
    // One that places otherwise from the beginning is held against another that claims the same placement.
    let both = measure(churn().into_workload(), &[ENGINES[0], engine(one_lies::<0>)], 0, &mut |_| ()).err();
    let both = both.unwrap().to_string();
    assert!(both.contains("btree:lowest and btree:lowest differ at operation"), "{both}");
}

/// Batches of both kinds are timed and counted apart, and pairs are as many as either.
#[test]
fn figures_of_a_bench_agree_with_each_other() {
    let figures = |workload: &str| {
        let [engines, workloads] = [vec!["btree:lowest".to_owned()], vec![workload.to_owned()]];
        let options = Options { engines, workloads, sizes: vec![100], ..Options::default() };
        let mut results = commands::bench::run(Subject::Kva, &options, &mut Progress::silent()).unwrap();
        results.records.retain(|record| record.key.engine == "btree");
        move |op: &str, metric: Metric| {
            let is = |record: &&Record| record.key.op == op && record.metric == metric;
            results.records.iter().find(is).cloned().unwrap()
        }
    };
    let zone = figures("zone");
    for metric in [Metric::Time, Metric::Work] {
        let samples = ["alloc", "free"].map(|op| zone(op, metric).samples);
        assert_eq!(samples[0], samples[1], "{}", metric.name());
    }
    assert_eq!(zone("pair", Metric::Time).samples, zone("alloc", Metric::Time).samples);
    let [refused, all] = [Metric::Refused, Metric::Work].map(|metric| zone("alloc", metric));
    let is_some = 0.0 < refused.value && refused.value < all.samples as f64;
    assert!(is_some, "{} of {}: some windows are full", refused.value, all.samples);
    let churn = figures("churn");
    let of = |metric| churn("alloc", metric).value;
    assert_eq!(of(Metric::Refused), 0.0);
    let live = of(Metric::Metadata) / of(Metric::BytesPerItem);
    assert!((live - 100.0).abs() < 1e-6, "{live} objects");
}

#[test]
fn a_lost_free_is_found_in_a_replay() {
    let lost = measure(churn().into_workload(), &[liar::<LEAKS>()], 0, &mut |_| ()).err().unwrap();
    assert!(lost.to_string().contains("bytes are free and"), "{lost}");
}

#[test]
fn a_wrong_refusal_is_found_in_a_replay() {
    let refused = measure(churn().into_workload(), &[liar::<REFUSES>()], 0, &mut |_| ()).err().unwrap();
    assert!(refused.to_string().contains("was refused, though it fits at"), "{refused}");
}
