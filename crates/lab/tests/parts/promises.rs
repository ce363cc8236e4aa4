use freehold_lab::concurrent::{COUNTERS, MEMORY, POOLS, READERS};
use freehold_lab::promises::{add, of, parse};
use freehold_lab::record::{Key, Metric, Results, Stat};

const PROMISES: &str = r#"
[[promise]]
suite = "readers"
what = "kept"
of = { op = "look-up", engine = "one", n = 100 }
by = [{ op = "look-up", engine = "other", n = 100 }]
bound.at_most = 0.4

[[promise]]
suite = "readers"
what = "broken"
of = { op = "look-up", engine = "other" }
by = [{ op = "look-up", engine = "one" }]
bound.at_least = 3.5

[[promise]]
suite = "readers"
what = "alone"
of = { engine = "one" }
bound.at_most = 9

[[promise]]
suite = "readers"
what = "alone, at least"
of = { engine = "one" }
bound.at_least = 9

[[promise]]
suite = "readers"
what = "least"
of = { engine = "other" }
by = [{ engine = "other" }, { engine = "one" }]
bound.at_most = 2.5

[[promise]]
suite = "readers"
what = "one is lacking"
of = { engine = "one" }
by = [{ engine = "one" }, { engine = "none" }]
bound.at_most = 2

[[promise]]
suite = "readers"
what = "of another size"
of = { engine = "one", n = 10000 }
by = [{ engine = "other" }]
bound.at_most = 0.5

[[promise]]
suite = "readers"
what = "of another metric"
of = { engine = "one", metric = "rate" }
bound.at_most = 0.5
"#;

#[test]
fn a_promise_is_kept_or_not_by_the_figures_of_the_run() {
    let mut results = Results::default();
    for (engine, ns) in [("one", 10.0), ("other", 30.0)] {
        let key = Key::new("readers", "read").op("look-up").engine(engine).param("n", 100u64);
        results.of(key).put(Metric::Time, Stat::Median, ns, 7);
    }
    add(parse(PROMISES).unwrap().iter(), &mut results);
    let of = |what: &str| {
        let found = results.records.iter().find(|record| record.key.op == what);
        found.map(|record| (record.value, record.field("kept").unwrap(), record.samples))
    };
    assert_eq!(of("kept"), Some((10.0 / 30.0, "yes".to_owned(), 7)));
    assert_eq!(of("broken"), Some((3.0, "no".to_owned(), 7)));
    assert_eq!(of("alone"), Some((10.0, "no".to_owned(), 7)));
    assert_eq!(of("alone, at least"), Some((10.0, "yes".to_owned(), 7)));
    assert_eq!(of("least"), Some((3.0, "no".to_owned(), 7)));
    assert_eq!([of("of another size"), of("one is lacking"), of("of another metric")], [None, None, None]);
    let kept = results.records.iter().find(|record| record.key.op == "kept").unwrap();
    assert_eq!(kept.field("n").as_deref(), Some("100"));
}

#[test]
fn a_promise_has_one_bound() {
    let with = |bound: &str| {
        parse(&format!(
            "[[promise]]\nsuite = \"readers\"\nwhat = \"x\"\nof = {{ engine = \"one\" }}\n{bound}"
        ))
    };
    assert!(with("bound.at_most = 1").is_ok());
    for wrong in ["", "bound.at_most = 1\nbound.at_least = 2", "bound.more = 1", "at_most = 1", "bound = 1"] {
        assert!(with(wrong).is_err(), "{wrong:?}");
    }
}

/// That workloads and operations are there is seen in each suite's own test: every promise of it has a row.
#[test]
fn every_promise_is_of_a_suite_and_its_engines() {
    let suites = [&COUNTERS, &READERS, &POOLS, &MEMORY];
    let text = include_str!("../../bench/promises.toml");
    let asked_for: usize = suites.iter().map(|suite| of(suite.name).count()).sum();
    assert_eq!(asked_for, parse(text).unwrap().len(), "a promise of a suite that there is not");
    let file: toml::Table = text.parse().unwrap();
    for promise in file["promise"].as_array().unwrap() {
        let suite = suites.iter().find(|suite| promise["suite"].as_str() == Some(suite.name)).unwrap();
        let labels: Vec<String> = (suite.whos)().iter().map(|who| who.label()).collect();
        let by = promise.get("by").and_then(|by| by.as_array()).into_iter().flatten();
        for figure in std::iter::once(&promise["of"]).chain(by) {
            let engine = figure["engine"].as_str().unwrap();
            assert!(labels.iter().any(|label| label == engine), "{engine}: {labels:?}");
        }
    }
}
