//! Published tables, and what their sources say of them.

use freehold_lab::published::{Figure, records, sources};
use freehold_lab::record::Record;

fn ratios(source: &str) -> Vec<f64> {
    let source = sources().iter().find(|other| other.source == source).unwrap();
    source.figure.iter().filter_map(Figure::ratio).collect()
}

#[test]
fn every_table_is_read_and_its_figures_say_something() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/published");
    assert_eq!(sources().len(), folder.read_dir().unwrap().count());
    for figure in sources().iter().flat_map(|source| &source.figure) {
        assert!(figure.before.is_some() || figure.after.is_some(), "{}", figure.what);
        assert!(figure.ours.is_none() || !figure.of.is_empty(), "{}", figure.what);
    }
    let sides = sources().iter().flat_map(|source| {
        let of_figures = source.figure.iter().filter_map(|figure| figure.ours.as_ref());
        source.ours.iter().chain(of_figures).map(|sides| (&source.source, sides.len()))
    });
    let too_many: Vec<_> = sides.filter(|&(_, sides)| sides > 2).collect();
    assert!(too_many.is_empty(), "a figure or the ratio of two stands beside one: {too_many:?}");
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
    assert_eq!((first.value, first.key.field("size").as_deref()), (335.0, Some("4")));
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
        sources().iter().find(|source| source.histogram.len() == 2 && !source.figure.is_empty()).unwrap();
    let total = |at: usize| bulk.histogram[at].counts.iter().map(|[value, count]| value * count).sum::<u64>();
    assert_eq!([total(0), total(1)], [46_630_160, 37_813_856], "the counts give the totals");
}
