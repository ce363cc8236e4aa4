//! Commands: their definitions, and what they add to results.

use freehold::percpu::{Config, FirstFit, Population};
use freehold_lab::commands::bench::percpu::Plan;
use freehold_lab::commands::main_job::growth;
use freehold_lab::commands::{DEFINITIONS, definition, doctor};
use freehold_lab::engine::percpu::{ChunkSetEngine, EngineEntry, PercpuFacts};
use freehold_lab::engine::{Compared, ENGINES, KvaFacts, Listed, Make};
use freehold_lab::family::Percpu;
use freehold_lab::record::{Record, Results};
use freehold_lab::run::stress::{Stress, stress};
use freehold_lab::run::{Replayable, measure};
use freehold_lab::workload::percpu::Kind;
use freehold_lab::workload::suite::{Benched, Params, Suited};
use freehold_lab::{Progress, data_folder};
use freehold_sys::{Ability, rseq};
use freehold_trace::percpu::Driver;

#[test]
fn who_has_no_figure_in_the_table_of_growth_is_named() {
    let make: Make = |_, _| Err("no such space".to_owned());
    let lacking = Listed { engine: "lacking", placement: None, ..ENGINES[0] };
    let lacking = lacking.with(KvaFacts { make, ..ENGINES[0].facts });
    let (mut results, mut progress) = (Results::default(), Progress::silent());
    growth(&[ENGINES[0], lacking], &[1_000], &mut results, &mut progress).unwrap();
    assert_eq!(results.notes, ["growth of churn at 1,000 live objects: lacking left out: no such space"]);
    assert!(results.records.iter().all(|record| record.key.engine == "btree"));
}

#[test]
fn every_definition_is_read() {
    for (command, _) in DEFINITIONS {
        definition(command).map_err(|error| format!("{command}: {error:#}")).unwrap();
    }
}

#[test]
fn each_thing_is_asked_once_and_told_in_both_forms() {
    let checks: Vec<_> = doctor::checks().collect();
    let names: std::collections::BTreeSet<_> = checks.iter().map(|check| check.name).collect();
    assert_eq!(names.len(), checks.len());
    let text: String = checks.iter().map(doctor::text).collect();
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(checks.iter().all(|check| words.contains(check.name) && words.contains(&check.found)), "{text}");
    let document: serde_json::Value = serde_json::from_str(&doctor::json(&checks)).unwrap();
    assert_eq!(document["checks"].as_array().map(Vec::len), Some(checks.len()));
    let heap = checks.iter().find(|check| check.name == "per-CPU heap").unwrap();
    assert_eq!(heap.available, rseq::detect().is_ok(), "{heap:?}");
    // What it says of a kernel is what the libraries go by.
    let checked = |name| checks.iter().find(|check| check.name == name).unwrap().available;
    assert_eq!(checked("guards"), Ability::GuardMarks.is_there().is_ok());
    assert_eq!(checked("page scan"), Ability::PageScan.is_there().is_ok());
    assert_eq!(checks.last().map(|check| check.name), Some("address space"), "what may take long is last");
}

/// Who installs a filter goes by the table; `doctor --systems` runs each type with these calls alone.
#[test]
fn the_readme_lists_the_calls_that_each_crate_needs() {
    let readme = include_str!("../../../sys/README.md");
    for (crates, calls) in freehold_harness::filter::OURS {
        let names: Vec<_> = calls.iter().map(|(name, _)| format!("`{name}`")).collect();
        let line = format!("| {crates} | {} |", names.join(", "));
        assert!(readme.lines().any(|told| told == line), "no line {line}");
    }
}

/// An engine as its list would have it, and a case as its own would: all that either takes.
const MINE: EngineEntry = Listed {
    engine: "mine",
    placement: None,
    about: "an engine that is not in the list",
    linux: false,
    ours: false,
    estimated: false,
    compared: Compared::Always,
    outside: None,
    facts: PercpuFacts {
        grain_bytes: 4,
        knows_pages: true,
        make: |config, balances| {
            Ok(Box::new(Driver::new(ChunkSetEngine::<FirstFit>::new(config)?, balances)))
        },
    },
};
const CASE: Benched<Kind> = Benched { name: "churn-4-32", kind: Kind::Churn(32) };

#[test]
fn as_many_objects_are_live_as_are_asked_for() {
    let live_and_replaced = |objects, exactly, grows| {
        let whole = Config::new(32 << 10, 2);
        let plan =
            Plan { engines: vec![MINE], objects, before: 0, exactly, grows, quick: true, rounds: 2, whole };
        let churn = plan.churn(64);
        (churn.first.len(), churn.pairs.len() / 2)
    };
    assert_eq!(live_and_replaced(300_000, true, false), (300_000, 300_000));
    assert_eq!(live_and_replaced(300_000, true, true), (300_000, 300_000));
    assert_eq!(live_and_replaced(100, true, true), (100, 20_000));
    assert_eq!(live_and_replaced(300_000, false, false), (200_000, 300_000));
}

#[test]
fn an_engine_and_a_case_are_an_entry_each() {
    let whole = Config::new(32 << 10, 2).population(Population::Whole);
    let engines = vec![MINE];
    let (exactly, grows) = (true, false);
    let plan = Plan { engines, objects: 500, before: 0, exactly, grows, quick: true, rounds: 2, whole };
    let mut results = Results::default();
    plan.case(&CASE, &mut results, &mut |_| ()).unwrap();
    let of_mine = |metric: &str| {
        let is_it = |record: &&Record| record.key.engine == "mine" && record.key.workload == "churn-4-32";
        results.records.iter().filter(is_it).any(|record| record.metric.name() == metric)
    };
    assert!(["time", "work", "pages", "bytes_per_item"].into_iter().all(of_mine));

    let file = data_folder().unwrap().join("vectors/percpu/x-min-stale-stock.txt.zst");
    let workload = Percpu::workload(&file).unwrap();
    let replay = measure(workload, &[MINE], 1, &mut |_| ()).unwrap();
    assert_eq!((replay.runs.len(), replay.refused.len()), (1, 0));

    let params = Params { loops: 64, ..Params::default() };
    let cases = Percpu::CASES.iter().map(|info| (info, Some(50))).collect();
    let scene = Percpu::scene(None).unwrap();
    let plan = Stress { cases, scene, params, repeat: 1, duration: None };
    let runs = stress(&plan, &[MINE], &mut |_| ()).unwrap();
    let mut judged = runs.iter().filter(|run| !run.entry.is_floor());
    assert!(judged.all(|run| run.passed == 1), "{runs:?}");
}
