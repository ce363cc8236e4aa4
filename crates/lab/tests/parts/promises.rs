use freehold_lab::concurrent::{COUNTERS, MEMORY, POOLS, READERS};
use freehold_lab::promises::{add, parse};
use freehold_lab::record::{Field, Key, Metric, Results, Stat};

const PROMISES: &str = "readers\tkept\top=look-up;engine=one;n=100\top=look-up;engine=other;n=100\tat most 0.4\n\
readers\tbroken\top=look-up;engine=other\top=look-up;engine=one\tat least 3.5\n\
readers\talone\tengine=one\t\tat most 9\n\
readers\talone, at least\tengine=one\t\tat least 9\n\
readers\tleast\tengine=other\tengine=other or engine=one\tat most 2.5\n\
readers\tone is lacking\tengine=one\tengine=one or engine=none\tat most 2\n\
readers\tof another size\tengine=one;n=10000\tengine=other\tat most 0.5\n\
readers\tof another metric\tengine=one;metric=rate\t\tat most 0.5\n";

#[test]
fn a_promise_is_kept_or_not_by_the_figures_of_the_run() {
    let mut results = Results::default();
    for (engine, ns) in [("one", 10.0), ("other", 30.0)] {
        let key = Key::new("readers", "read").op("look-up").engine(engine).param(Field::N, 100u64);
        results.of(key).put(Metric::Time, Stat::Median, ns, 7);
    }
    add(parse(PROMISES).unwrap().iter(), &mut results);
    let of = |what: &str| {
        let found = results.records.iter().find(|record| record.key.op == what);
        found.map(|record| (record.value, record.field(Field::Kept).unwrap(), record.samples))
    };
    assert_eq!(of("kept"), Some((10.0 / 30.0, "yes".to_owned(), 7)));
    assert_eq!(of("broken"), Some((3.0, "no".to_owned(), 7)));
    assert_eq!(of("alone"), Some((10.0, "no".to_owned(), 7)));
    assert_eq!(of("alone, at least"), Some((10.0, "yes".to_owned(), 7)));
    assert_eq!(of("least"), Some((3.0, "no".to_owned(), 7)));
    assert_eq!([of("of another size"), of("one is lacking"), of("of another metric")], [None, None, None]);
    let kept = results.records.iter().find(|record| record.key.op == "kept").unwrap();
    assert_eq!(kept.field(Field::N).as_deref(), Some("100"));
}

#[test]
fn a_promise_on_counts_fails_the_run_and_one_on_time_has_its_spread() {
    let mut results = Results::default();
    for (engine, ns, locks) in [("one", [9.0, 10.0, 11.0], 0.25), ("other", [19.0, 20.0, 21.0], 0.5)] {
        let key = Key::new("readers", "read").op("look-up").engine(engine);
        results.of(key.clone()).rounds(Metric::Time, &ns, 7);
        results.of(key).put(Metric::Locks, Stat::Mean, locks, 7);
    }
    let promised = |bound: &str, of: &str| {
        parse(&format!("readers\tx\tengine=one{of}\tengine=other{of}\t{bound}")).unwrap()
    };
    let (time, locks) = ("", ";metric=locks;stat=mean");
    add(promised("at most 0.1", time).iter(), &mut results);
    assert!(!results.failed, "times differ from machine to machine");
    let record = results.records.last().unwrap();
    assert_eq!((record.value, record.spread), (0.5, Some([9.0 / 21.0, 11.0 / 19.0])));
    add(promised("at most 0.5", locks).iter(), &mut results);
    assert!(!results.failed && results.records.last().unwrap().spread.is_none());
    add(promised("at most 0.49", locks).iter(), &mut results);
    assert!(results.failed && results.notes[0] == "FAILED: x: 0.50, and promised is at most 0.49");
}

#[test]
fn a_promise_has_one_bound() {
    let with = |bound: &str| parse(&format!("readers\tx\tengine=one\t\t{bound}"));
    assert!(with("at most 1").is_ok());
    for wrong in ["", "at most 1\tat least 2", "more 1", "at most x", "1"] {
        assert!(with(wrong).is_err(), "{wrong:?}");
    }
}

/// That workloads and operations are there is seen in each suite's own test: every promise of it has a row. Those of families are
/// run by the gate.
#[test]
fn every_promise_is_of_a_suite_and_its_engines() {
    let suites = [&COUNTERS, &READERS, &POOLS, &MEMORY];
    for promise in parse(include_str!("../../bench/promises.tsv")).unwrap() {
        let Some(suite) = suites.iter().find(|suite| promise.suite == suite.name) else {
            assert!(["kva", "percpu", "maple"].contains(&promise.suite.as_str()), "{promise:?}");
            continue;
        };
        let labels: Vec<String> = (suite.whos)().iter().map(|who| who.label()).collect();
        for figure in std::iter::once(&promise.of).chain(&promise.by) {
            let engine = figure.to_string();
            let engine = engine.split(';').find_map(|field| field.strip_prefix("engine=")).unwrap();
            assert!(labels.iter().any(|label| label == engine), "{engine}: {labels:?}");
        }
    }
}
