use super::TINY;
use freehold_lab::concurrent::Options;
use freehold_lab::concurrent::counters::{COUNTERS, stress};
use freehold_lab::record::Metric;
use freehold_lab::{Progress, promises};

#[test]
fn every_case_has_figures_of_every_engine_and_all_promises_a_row() {
    let results = COUNTERS.bench_of(TINY, &Options::default(), &mut Progress::default()).unwrap();
    for case in COUNTERS.cases {
        assert!(results.records.iter().any(|record| record.key.workload == case.name), "{}", case.name);
    }
    let shown: Vec<String> = results.records.iter().map(|record| record.key.label()).collect();
    let lacking = |label: &str| results.notes.iter().any(|note| note.starts_with(label));
    for label in (COUNTERS.whos)().iter().map(|who| who.label()) {
        assert!(shown.contains(&label) || lacking(&label), "{label}");
    }
    let promised = results.records.iter().filter(|record| record.metric == Metric::Ratio).count();
    assert!(
        promised == promises::of("counters").count()
            || results.notes.iter().any(|note| note.contains("not here"))
    );
}

#[test]
fn what_is_not_there_is_refused() {
    let refused =
        |options: Options| COUNTERS.bench(&options, &mut Progress::default()).unwrap_err().to_string();
    let case = refused(Options { workloads: vec!["ad".to_owned()], ..Options::default() });
    assert!(
        case.contains("no workload \"ad\"; did you mean \"add\"?") && case.contains("add, histogram"),
        "{case}"
    );
    let engine = refused(Options { engines: vec!["percpu:rung-9".to_owned()], ..Options::default() });
    assert!(engine.contains("there are percpu, percpu:mm-cid, percpu:rung-2"), "{engine}");
}

#[test]
fn a_storm_leaves_sums_exact() {
    let storm =
        freehold_lab::run::stress::Options { threads: Some(5), loops: Some(4_000_000), ..Default::default() };
    let results = stress(&storm, &mut Progress::default()).unwrap();
    assert!(!results.failed, "{:?}", results.notes);
    let adds = results.records.iter().filter(|record| record.key.op == "adds");
    assert!(adds.clone().count() > 0);
    assert!(adds.clone().all(|record| record.value == 4e6), "{:?}", adds.collect::<Vec<_>>());
}
