//! Published tables, and what their sources say of them.

use freehold_lab::published::{Beside, Figure, Reproduced, SOURCES, conclude, parse, records};
use freehold_lab::record::{Field, Key, Metric, Record, Results, Stat};

fn ratios(source: &str) -> Vec<f64> {
    let source = SOURCES.iter().find(|other| other.source == source).unwrap();
    source.figure.iter().filter_map(Figure::ratio).collect()
}

#[test]
fn every_table_is_read_and_its_figures_say_something() {
    for figure in SOURCES.iter().flat_map(|source| &source.figure) {
        let what = &figure.what;
        assert!(figure.before.is_some() || figure.after.is_some(), "{what}");
        assert!(figure.ours.is_empty() || !figure.of.is_empty(), "{what}");
        assert!(figure.ours.len() <= 2, "a figure or the ratio of two stands beside one: {what}");
        assert_eq!(
            figure.ours.is_empty(),
            figure.note.starts_with("not comparable"),
            "{what}: {}",
            figure.note
        );
    }
    // Two figures of one thing under one name would stand for each other.
    for suite in ["kva", "percpu", "maple"] {
        let records = records(suite);
        for (at, one) in records.iter().enumerate() {
            let same = |other: &&Record| {
                (other.metric, other.stat) == (one.metric, one.stat) && other.key == one.key
            };
            assert!(!records.iter().skip(at + 1).any(|other| same(&other)), "{one:?}");
        }
    }
    let seed = records("percpu");
    let of = |record: &&Record| record.key.engine == "v1 area map" && record.key.op == "alloc";
    let first = seed.iter().find(of).unwrap();
    assert_eq!((first.value, first.key.field(Field::Size).as_deref()), (335.0, Some("4")));
}

/// What the sources say of their own figures in words.
#[test]
fn ratios_are_what_the_sources_say() {
    let talk = ratios("talk, LPC 2019")[0];
    assert!((53.0..54.0).contains(&talk), "\"maybe 30 times; I think it's more\": {talk}");
    let rework = ratios("rework letter v3, Apr 2019");
    let rounded: Vec<f64> = rework.iter().map(|ratio| (ratio * 10.0).round() / 10.0).collect();
    assert_eq!(rounded, [3.3, 7.5, 107.1, 326.0]);
    let nodes = ratios("per-node letter v3, Jan 2024");
    assert!(nodes.iter().any(|ratio| (12.0..13.0).contains(ratio)), "\"~12x\": {nodes:?}");
    let depopulation = ratios("depopulation, 2021");
    assert_eq!(depopulation[0], 1.0);
    assert!((3.5..3.6).contains(&depopulation[1]), "\"3.5 times less\": {depopulation:?}");
    let aligned = ratios("percpu bitmap v1, aligned");
    assert!((222.0..223.0).contains(&aligned[0]), "52 minutes and 14 seconds: {aligned:?}");
    let bulk =
        SOURCES.iter().find(|source| source.histogram.len() == 2 && !source.figure.is_empty()).unwrap();
    let total = |at: usize| bulk.histogram[at].counts.iter().map(|[value, count]| value * count).sum::<u64>();
    assert_eq!([total(0), total(1)], [46_630_160, 37_813_856], "the counts give the totals");
}

fn figure(source: &str, what: &str) -> &'static Figure {
    let source = SOURCES.iter().find(|other| other.source == source).unwrap();
    source.figure.iter().find(|figure| figure.what == what).unwrap()
}

fn beside(text: &str, reproduced: Reproduced) -> Result<Option<Beside>, String> {
    Ok(Some(Beside { text: text.to_owned(), reproduced }))
}

/// Cells computed by hand: nanoseconds of one object are milliseconds of a million, a pair's stay what they are.
#[test]
fn ours_stands_in_the_unit_that_was_published() {
    let mut results = Results::default();
    let key = |workload: &str, op: &str| Key::new("percpu", workload).engine("bitmap-linux").op(op);
    results.of(key("seed", "alloc").param(Field::Size, 4u64)).rounds(Metric::Time, &[54.0, 55.0, 56.0], 9);
    for (order, ns) in [("in-order", 40.0), ("alternating", 90.0), ("reverse", 50.0), ("random", 700.0)] {
        let key = key("seed", "free").param(Field::Size, 4u64).param(Field::Order, order);
        results.of(key).rounds(Metric::Time, &[ns], 9);
    }
    results.of(key("churn-4-64", "pair")).rounds(Metric::Time, &[540.0], 9);
    results.of(key("aligned", "alloc all").param(Field::N, 1_000_000u64)).put(
        Metric::Time,
        Stat::Total,
        2361e6,
        9,
    );
    for (op, pages) in [("free", 1000.0), ("alloc", 1500.0)] {
        results.of(key("stale-hint", op)).put(Metric::Pages, Stat::Total, pages, 1);
    }
    let cell = |what| figure("Linux 6.12 in User Mode Linux, 32-KiB units", what).beside(&results.records);
    assert_eq!(cell("4 B, alloc"), beside("55.0 ms", Reproduced::Yes), "55 ns, 81 ms");
    assert_eq!(
        cell("4 B, free, worst of three"),
        beside("90.0 ms", Reproduced::No),
        "the worst of 40, 90, 50; 36 ms"
    );
    assert_eq!(cell("4..=64 B, a free and an alloc"), beside("540 ns", Reproduced::Yes), "649 ns");
    assert_eq!(cell("4 B aligned to 8, a million allocated"), beside("2,361 ms", Reproduced::Yes), "2862 ms");
    assert_eq!(
        cell("stale hint, before and after"),
        beside("0.67x", Reproduced::Yes),
        "984 pages, 1464 pages"
    );
    assert!(cell("16 B, alloc").is_err(), "a figure that the run lacks");
    results.of(key("churn-4-64", "pair").param(Field::N, 1u64)).rounds(Metric::Time, &[1.0], 9);
    let error = figure("Linux 6.12 in User Mode Linux, 32-KiB units", "4..=64 B, a free and an alloc")
        .beside(&results.records)
        .unwrap_err();
    assert!(
        error.contains("2 records instead of 1 are workload=churn-4-64;engine=bitmap-linux;op=pair"),
        "{error}"
    );
    assert!(conclude("percpu", &mut results).is_err(), "a run that lacks figures fails");
}

#[test]
fn a_ratio_is_reproduced_in_part_if_it_goes_the_same_way() {
    let says = |published: &str, before: f64, after: f64| {
        let line = format!(
            "source\tkva\ts\t\t\nfigure\tw\top=x\ttime:total\t{published}\tengine=a over engine=b\tn"
        );
        let mut results = Results::default();
        for (engine, ns) in [("a", before), ("b", after)] {
            results.of(Key::new("kva", "w").op("x").engine(engine)).put(Metric::Time, Stat::Total, ns, 1);
        }
        parse(&line).unwrap()[0].figure[0].beside(&results.records).unwrap().unwrap().reproduced
    };
    assert_eq!(says("10 s\t1 s", 60.0, 10.0), Reproduced::Yes);
    assert_eq!(says("10 s\t1 s", 40.0, 10.0), Reproduced::InPart);
    assert_eq!(says("10 s\t1 s", 900.0, 10.0), Reproduced::InPart);
    assert_eq!(says("10 s\t1 s", 9.0, 10.0), Reproduced::No);
    assert_eq!(says("> 10 s\t1 s", 900.0, 10.0), Reproduced::Yes);
    assert_eq!(says("1 s\t1 s", 10.0, 10.0), Reproduced::Yes);
}

#[test]
fn what_is_no_table_is_refused_with_its_line() {
    for (text, says) in [
        ("figure\ta\t\t\t\t\t\tn", "line 1: no \"figure\" can stand here"),
        ("source\tkva\ts\t\t\nfigure\tx", "line 2: 1 fields instead of 7"),
        ("source\tkva\ts\t\t\nfigure\tw\t\t\t1 x\t\t\tn", "line 2: no unit \"x\""),
        ("source\tkva", "line 1: no 4 fields"),
    ] {
        assert_eq!(parse(text).unwrap_err(), says);
    }
}
