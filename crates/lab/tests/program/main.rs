//! The program as a user meets it: exit codes, what goes where, errors that say what is wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod bad_files;
mod bad_luck;
mod bundled;
mod cold;
mod commands;
mod compare;
mod constants;
mod emit_c;
mod features;
mod frozen;
mod import;
mod inspect;
mod links;
mod look_ups;
mod outside;
mod parquet;
mod readme;
mod readme_types;
mod record;
mod reproduce;
mod shrink;
mod sizes;
mod stress;
mod systems;
mod versions;

use freehold_lab::data_folder;
use freehold_lab::record::{Environment, Record};
use freehold_lab::workload::suite::MAPS_BENCHED;
use std::collections::{BTreeSet, HashSet};
use std::process::{Command, Output};
use std::sync::LazyLock;

fn freehold(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_freehold")).args(args).output().unwrap()
}

fn data(file: &str) -> String {
    data_folder().unwrap().join(file).display().to_string()
}

/// A document, which every record of must be of the schema.
struct Results(serde_json::Value);

impl Results {
    /// Of a command that must succeed.
    fn of(args: &[&str]) -> Self {
        let output = freehold(&[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        Self::read(&output.stdout)
    }

    fn read(stdout: &[u8]) -> Self {
        let document: serde_json::Value = serde_json::from_slice(stdout).unwrap();
        assert_eq!(document["schema"], freehold_lab::record::SCHEMA);
        let fields: Vec<&String> = document.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["command", "environment", "facts", "findings", "notes", "records", "schema"]);
        let environment: Environment = serde_json::from_value(document["environment"].clone()).unwrap();
        assert_eq!(serde_json::to_value(&environment).unwrap(), document["environment"]);
        for finding in document["findings"].as_array().unwrap() {
            let fields: Vec<&String> = finding.as_object().unwrap().keys().collect();
            let all = ["linux", "metric", "ours", "rival", "stat", "theirs", "verdict", "what"];
            assert_eq!(fields, all, "{finding}");
        }
        let mut keys = HashSet::new();
        for record in document["records"].as_array().unwrap() {
            let parsed: Record =
                serde_json::from_value(record.clone()).unwrap_or_else(|error| panic!("{error:#}: {record}"));
            assert_eq!(&serde_json::to_value(&parsed).unwrap(), record);
            let mut key = record.as_object().unwrap().clone();
            key.retain(|field, _| !["value", "lo", "hi", "samples"].contains(&field.as_str()));
            assert!(keys.insert(format!("{key:?}")), "two records have the key of {record}");
        }
        Self(document)
    }

    fn records(&self) -> impl Iterator<Item = &serde_json::Value> {
        self.0["records"].as_array().unwrap().iter()
    }

    /// The records whose fields are these, separated by spaces as `field=value`; an empty value is an absent field.
    fn find<'a>(&'a self, query: &'a str) -> impl Iterator<Item = &'a serde_json::Value> {
        let is = |record: &serde_json::Value, field: &str, value: &str| match &record[field] {
            serde_json::Value::String(text) => text == value,
            serde_json::Value::Null => value.is_empty(),
            other => value == format!("{other}"),
        };
        let fields = move || query.split('|').filter_map(|part| part.split_once('='));
        self.records().filter(move |record| fields().all(|(field, value)| is(record, field, value)))
    }

    fn value(&self, query: &str) -> Option<f64> {
        self.find(query).next()?["value"].as_f64()
    }

    fn is(&self, query: &str, value: f64) {
        assert_eq!(self.value(query), Some(value), "{query}");
    }

    fn notes(&self) -> String {
        self.0["notes"].to_string()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn verify_says_what_it_checked() {
    let output =
        freehold(&["verify", &data("vectors/kva/talk.txt"), &data("vectors/kva/gap_fix_size.txt.zst")]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output.stdout).contains("passed: 2 files, 6,014 operations checked, 0 mismatches"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn one_file_that_cannot_be_checked_is_not_several() {
    let talk = data("vectors/kva/talk.txt");
    assert_eq!(freehold(&["verify", &talk, &talk]).status.code(), Some(2));
    let output = freehold(&["verify", "/dev/null"]);
    assert_eq!(output.status.code(), Some(1));
    let said = "FAILED: 1 file, 0 operations checked, 0 mismatches, 1 file cannot be checked";
    assert!(text(&output.stdout).contains(said), "{}", text(&output.stdout));
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for args in [
        &["verify"][..],
        &["replay", "x", "--rounds", "0"],
        &["fly"],
        &["--format", "poem"],
        &["replay", "churn:0"],
        &["--report", "r.html", "inspect", "x"],
        &["bench", "kva", "--wishes", "--quick"],
        &["bench", "percpu", "--wishes"],
        &["bench", "percpu", "--n", "0"],
        &["stress", "percpu", "--mask", "1"],
        &["stress", "percpu", "--nr-pages", "2"],
        &["stress", "percpu", "--case", "fix_size"],
        &["stress", "percpu", "--unit", "8G"],
        &["stress", "kva", "--unit", "64K"],
        &["stress", "percpu", "--unit", "0"],
        &["stress", "counters", "--mode", "performance"],
        &["stress", "counters", "--seed", "2"],
        &["stress", "maple", "--threads", "3", "--mode", "performance"],
        &["stress", "kva", "--case", "fix_size", "--n", "100"],
        &["stress", "kva", "--case", "holes", "--nr-pages", "2"],
        &["bench", "percpu", "--unit", "0"],
        &["bench", "kva", "--unit", "64K"],
        &["bench", "kva", "--workload", "fix_size", "--n", "100"],
        &["bench", "kva", "--workload", "fix_size", "--growth"],
        &["bench", "kva", "--wishes", "--instructions"],
        &["replay", "churn:100", "churn:100"],
        &["replay", "-", "--instructions"],
        &["show", "--all", "--json"],
        &["man", "--json"],
        &["man", "fly"],
        &["completions", "bash", "--format", "lkml"],
        &["doctor", "--systems", "--json"],
        &["bench", "maple", "--wishes"],
        &["bench", "maple", "--n", "0"],
        &["bench", "maple", "--engine", "naive"],
        &["bench", "maple", "--workload", "fly"],
        &["stress", "maple", "--unit", "64K"],
        &["stress", "maple", "--threads", "1"],
        &["stress", "maple", "--threads", "3", "--loops", "5"],
        &["stress", "percpu", "--mode", "stress"],
        &["stress", "kva", "--threads", "2"],
        &["stress", "kva", "--mode", "stress", "--engine", "btree"],
        &["stress", "readers"],
        &["bench", "readers", "--n", "1"],
        &["bench", "readers", "--growth"],
        &["bench", "pools", "--n", "100"],
        &["bench", "pools", "--workload", "fly"],
        &["bench", "memory", "--n", "4096"],
        &["bench", "memory", "--engine", "nobody"],
        &["bench", "memory", "--growth"],
        &["stress", "memory"],
        &["stress", "memory", "--adversary", "--sequence", "fly"],
        &["stress", "counters", "--adversary"],
        &["stress", "rcu"],
        &["stress", "kva", "--largest", "10000"],
        &["stress", "kva", "--adversary", "--sequence", "fly"],
        &["stress", "kva", "--adversary", "--loops", "5"],
        &["measure-resident", "idle:1:1", "nobody"],
        &["count-instructions", "fly", "--n=1", "rbtree:lowest"],
        &["count-instructions", "fix_size", "--n=1", "nobody"],
        &["count-instructions", "churn:100", "rbtree"],
        &["replay", "churn:100", "--instructions", "--rounds", "3"],
    ] {
        assert_eq!(freehold(args).status.code(), Some(2), "{args:?}");
    }
    let output = freehold(&["replay", "churn:100", "--engine", "nobody"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there are btree:lowest"));
}

#[test]
fn json_is_one_document_of_flat_records() {
    let results = Results::of(&["replay", "churn:200", "--rounds", "1"]);
    assert_eq!(results.0["command"], "replay");
    for record in results.records() {
        assert!(record.as_object().unwrap().values().all(|value| !value.is_object()), "{record}");
    }
    assert!(results.find("default=true").all(|record| record["engine"] == "btree"));
    let work = |of: &str| results.value(&format!("{of}|op=alloc|metric=work|stat=mean")).unwrap();
    assert!(work("engine=gap-list") > work("engine=rbtree|placement=lowest"));
}

#[test]
fn the_floor_is_in_every_run_and_no_rival() {
    let bench = ["bench", "kva", "--quick", "--workload", "churn", "--n", "100", "--engine", "rbtree:lowest"]
        .as_slice();
    let replay = ["replay", "churn:200", "--rounds", "1", "--engine", "rbtree:lowest"].as_slice();
    for (args, ops) in [(replay, ["alloc", "free", "loop"]), (bench, ["alloc", "free", "pair"])] {
        let results = Results::of(args);
        assert!(results.find("engine=floor").all(|record| record["metric"] == "time"));
        for op in ops {
            let samples = |engine: &str| {
                let query = format!("engine={engine}|op={op}|metric=time|stat=median");
                results.find(&query).next().unwrap()["samples"].as_u64()
            };
            // On a busy machine an engine may do less than the whole; the floor is never cut.
            assert!(samples("floor") >= samples("rbtree") && samples("rbtree") > Some(0), "{op}");
        }
        assert!(!results.0["findings"].to_string().contains("floor"));
        let tables = text(&freehold(args).stdout);
        assert!(tables.contains("floor (not judged)"), "{tables}");
        assert!(results.notes().contains("`floor` does no work"));
    }
    // It is no engine that could be named, so that nothing verifies or stresses it.
    assert_eq!(freehold(&["replay", "churn:200", "--engine", "floor"]).status.code(), Some(2));
    assert_eq!(freehold(&["stress", "kva", "--mode", "smoke", "--engine", "floor"]).status.code(), Some(2));
}

#[test]
fn a_variant_is_run_by_its_full_name_alone() {
    let labels = |engine: &str| {
        let args = ["bench", "kva", "--quick", "--workload", "churn", "--n", "100", "--engine", engine];
        let results = Results::of(&args);
        let placements = results.records().filter(|record| record["engine"] != "floor");
        let placements = placements.map(|record| record["placement"].as_str().unwrap().to_owned());
        placements.collect::<BTreeSet<_>>()
    };
    assert_eq!(Vec::from_iter(labels("rbtree:lowest+hot+lazy")), ["lowest+hot+lazy"]);
    assert!(labels("rbtree").iter().all(|placement| !placement.contains('+')));
}

#[test]
fn an_engine_of_one_tree_says_what_nodes_it_takes() {
    let args = ["replay", "churn:1000", "--rounds", "1", "--engine", "btree:lowest", "--engine", "range-map"];
    let results = Results::of(&args);
    assert!(results.value("engine=range-map|op=alloc|metric=nodes_used").unwrap() > 0.0);
    assert_eq!(results.value("engine=btree|op=alloc|metric=nodes_used"), None);
}

#[test]
fn every_variant_runs_where_instructions_are_counted() {
    for engine in [
        "rbtree:lowest",
        "rbtree:lowest+hot",
        "rbtree:lowest+lazy",
        "rbtree:lowest+hot+lazy",
        "btree:lowest",
        "splay",
    ] {
        for (workload, n) in [("full_fit", "--n=1"), ("churn", "--n=300"), ("zone", "--n=300")] {
            let output = freehold(&["count-instructions", workload, n, engine]);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        }
    }
}

#[test]
fn instructions_are_counted_by_kind_and_the_same_again() {
    let args = ["replay", "churn:100", "--engine", "rbtree:linux", "--instructions"];
    let both = ["replay", "churn:100", "--engine", "gap-list", "--engine", "rbtree:linux", "--instructions"];
    let lacking = Command::new(env!("CARGO_BIN_EXE_freehold")).args(args).env("PATH", "").output().unwrap();
    assert_eq!(lacking.status.code(), Some(4));
    assert!(text(&lacking.stderr).contains("valgrind is not installed"), "{}", text(&lacking.stderr));
    if !freehold_lab::run::instructions::can_count() {
        println!("not run: valgrind is not installed");
        return;
    }
    let (alone, with_another) = (Results::of(&args), Results::of(&both));
    let of = |results: &Results, engine: &str, op: &str| {
        let query = format!("engine={engine}|op={op}|metric=instructions");
        let record = results.find(&query).next().unwrap();
        (record["samples"].as_f64().unwrap(), record["value"].as_f64().unwrap())
    };
    let figure = |engine: &str, op: &str| {
        let figures = of(&alone, engine, op);
        assert_eq!(figures, of(&with_another, engine, op), "{engine}");
        figures
    };
    for engine in ["rbtree", "floor"] {
        let [alloc, free, all] = ["alloc", "free", "loop"].map(|op| figure(engine, op));
        let sum = alloc.0 * alloc.1 + free.0 * free.1;
        assert!((sum - all.0 * all.1).abs() < 0.5 && alloc.0 + free.0 == all.0, "{engine}");
    }
    // Documents of instructions are of the schema, too.
    let wishes = Results::of(&["bench", "kva", "--wishes", "--workload", "fix_size"]);
    for engine in ["btree", "splay"] {
        let counted = format!("engine={engine}|workload=fix_size|op=loop|metric=instructions");
        assert!(wishes.value(&counted).is_some_and(|each| each > 10.0), "{engine}");
        assert!(wishes.value(&format!("engine={engine}|workload=fix_size|op=loop|metric=work")).is_some());
    }
    let maps = ["bench", "maple", "--instructions", "--n", "10", "--workload", "overwrite"];
    let maps = Results::of(&[&maps[..], &["--engine", "std-btreemap"]].concat());
    assert!(maps.value("workload=overwrite|n=10|op=store|metric=instructions").is_some());
    for op in ["alloc", "free"] {
        assert!(figure("floor", op).1 > 1.0 && figure("rbtree", op).1 > 2.0 * figure("floor", op).1, "{op}");
    }
}

#[test]
fn threads_that_share_are_checked_and_shown() {
    let maple = ["stress", "maple", "--threads", "2", "--duration", "200ms"].as_slice();
    let kva =
        ["stress", "kva", "--mode", "stress", "--loops", "20", "--n", "50", "--threads", "2"].as_slice();
    let readers = ["bench", "readers", "--quick", "--workload", "guard", "--engine", "rcu"].as_slice();
    for (args, query) in [
        (maple, "engine=maple-tree|op=reads|metric=count"),
        (kva, "engine=pooled-space|op=operations|metric=count"),
        (readers, "engine=rcu|placement=handle|metric=time|stat=median"),
    ] {
        let results = Results::of(args);
        assert!(results.value(query).is_some_and(|value| value > 0.0), "{args:?}");
        assert!(results.find("metric=mismatches").all(|record| record["value"] == 0.0), "{args:?}");
        let screen = text(&freehold(args).stdout);
        assert!(screen.lines().all(|line| line.chars().count() <= 100), "{screen}");
    }
}

/// Maps of two sizes on every workload, made once for all tests.
fn benched_maps() -> &'static Results {
    static BENCHED: LazyLock<Results> =
        LazyLock::new(|| Results::of(&["bench", "maple", "--quick", "--n", "100", "--n", "300"]));
    &BENCHED
}

#[test]
fn every_map_does_every_workload() {
    let results = benched_maps();
    for engine in ["range-map", "std-btreemap", "rangemap", "nodit"] {
        for case in MAPS_BENCHED.iter().filter(|case| case.name != "footprint") {
            for n in [100, 300] {
                let query = format!("engine={engine}|workload={}|n={n}|metric=time|stat=median", case.name);
                let timed: Vec<_> = results.find(&query).collect();
                assert!(!timed.is_empty(), "{engine} did no {}", case.name);
                for record in timed {
                    assert!(record["value"].as_f64().is_some_and(|ns| ns > 0.0), "{record}");
                    assert!(record["samples"].as_u64().is_some_and(|count| count > 1000), "{record}");
                }
            }
        }
        for n in 1..=4 {
            let bytes =
                results.value(&format!("engine={engine}|workload=footprint|n={n}|metric=bytes_per_item"));
            assert!(bytes.is_some_and(|bytes| bytes >= 16.0), "{engine}: {bytes:?} for each of {n} ranges");
        }
    }
}

#[test]
fn an_engine_that_lacks_an_operation_is_left_out_and_named() {
    let results = Results::of(&["replay", &data("vectors/kva/pcpu_tight.txt.zst"), "--rounds", "1"]);
    assert!(results.find("engine=gap-list").next().is_none());
    assert!(results.notes().contains("gap-list left out"));
    let output =
        freehold(&["replay", "churn:200", "--rounds", "1", "--engine", "rbtree", "--engine", "mmap"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("mmap left out: it cannot place objects"));
}

#[test]
fn a_failure_is_a_failure_though_nobody_reads_it() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_freehold"))
        .args(["verify", "no-such-file"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn bench_times_every_engine_and_says_who_is_left_out() {
    let args = ["bench", "kva", "--quick", "--n", "300"];
    let workloads = ["--workload", "zone", "--workload", "holes", "--workload", "full_fit"];
    let results = Results::of(&[&args[..], &workloads].concat());
    let has = |workload: &str, engine: &str, op: &str| {
        results.value(&format!("workload={workload}|engine={engine}|op={op}|metric=time")).is_some()
    };
    let notes = results.notes();
    for engine in ["rbtree", "btree", "gap-list", "splay", "rangemap", "offset-allocator", "mmap"] {
        for (workload, op) in [("holes", "alloc"), ("holes", "free"), ("full_fit", "pair")] {
            // On a busy machine an engine may take more time than there is, which is then said.
            let late = notes.contains(&format!("{workload}: {engine}")) && notes.contains("left out");
            assert!(late || has(workload, engine, op), "{workload}, {op}: {engine}; {notes}");
        }
    }
    assert!(has("zone", "rbtree", "alloc") && !has("zone", "range-alloc", "alloc"));
    assert!(results.find("default=true").all(|record| record["engine"] == "btree"));
    assert!(notes.contains("zone: range-alloc left out"), "{notes}");
    for usage in [["--n", "0"], ["--workload", "tennis"], ["--engine", "combustion"]] {
        assert_eq!(freehold(&[&args[..3], &usage].concat()).status.code(), Some(2), "{usage:?}");
    }
}

#[test]
fn resident_memory_is_told_by_processes_of_their_own() {
    let results =
        Results::of(&["bench", "memory", "--quick", "--workload", "resident", "--engine", "vmalloc"]);
    let resident = |query: &str| results.value(&format!("engine=vmalloc|metric=resident|{query}")).unwrap();
    let [peak, late] =
        ["peak", "after twice the decay"].map(|op| resident(&format!("workload=idle|op={op}")));
    // 4,000 blocks of 64 KiB, most of them given back.
    assert!(peak >= 262e6 && late < peak / 2.0, "{peak}, then {late}");
    assert_eq!(results.find("workload=promise").count(), 1);
    // Stacks of 16 KiB, and what was there before, thousands at once.
    let [peak, end] = ["peak", "end"].map(|op| resident(&format!("workload=pthread.kva|op={op}")));
    assert!(peak >= 64e6 && end <= peak, "{peak}, {end}");
}

#[test]
fn one_replay_takes_files_of_several_families() {
    let folder = std::env::temp_dir().join(format!("freehold-families-{}", std::process::id()));
    let page = folder.join("report.html");
    let (kva, percpu) =
        (data("vectors/kva/kt_fix_size.txt.zst"), data("vectors/percpu/x-min-stale-stock.txt.zst"));
    let report = page.display().to_string();
    let results = Results::of(&["replay", &kva, &percpu, "--rounds", "1", "--report", &report]);
    assert!(results.value("suite=kva|engine=gap-list|metric=free_blocks").is_some());
    let whole = |engine: &str, metric: &str| {
        let value = results.value(&format!("suite=percpu|engine={engine}|{metric}"));
        value.unwrap_or_else(|| panic!("{metric} of {engine} is missing"))
    };
    assert!(results.find("suite=percpu|engine=bitmap").all(|record| record["unit_bytes"] == 1 << 20));
    for engine in ["bitmap", "bitmap-linux", "bitmap-linux-fixed", "bitmap-2017", "area-map"] {
        for metric in ["pages", "metadata", "work", "time", "bytes_per_item"] {
            whole(engine, &format!("metric={metric}"));
        }
    }
    // Pages that are all there from the start are more than those that are there on demand.
    assert!(whole("area-map", "metric=pages|stat=max") > whole("bitmap", "metric=pages|stat=max"));
    let html = std::fs::read_to_string(&page).unwrap();
    for part in
        ["kt_fix_size", "x-min-stale-stock", "Free blocks", "Pages that have memory", "Fill of the pages"]
    {
        assert!(html.contains(part), "{part}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    // An engine of the other family is no engine of this one.
    let usage = freehold(&["replay", &percpu, "--engine", "gap-list"]);
    assert_eq!(usage.status.code(), Some(2));
    assert!(text(&usage.stderr).contains("there are bitmap, bitmap-linux"));
    for other in ["vectors/kva/talk.txt", "vectors/percpu/area-32k.txt.zst"] {
        assert_eq!(freehold(&["replay", &data(other)]).status.code(), Some(1), "{other}");
    }
}

/// The mean over recordings is what the last line says; recordings that are short, and what was not recorded, do not count.
#[test]
fn replay_ends_with_the_mean_over_recordings() {
    let (trace, vectors) = (data("traces/bpfvm.kva.csv.zst"), data("vectors/kva/kt_fix_size.txt.zst"));
    let (ours, linux) = (["--engine", "btree:lowest"], ["--engine", "rbtree:linux"]);
    let args = ["replay", &trace, &vectors, "churn:1000", "--rounds", "1"];
    let results = Results::of(&[&args[..], &ours, &linux].concat());
    let mean = results.value("workload=recordings|op=loop, by rbtree:linux|metric=ratio").unwrap();
    let time = |engine: &str| {
        let of = format!("engine={engine}|op=loop|metric=time|stat=median|file={trace}");
        results.value(&of).unwrap()
    };
    assert!((mean - time("btree") / time("rbtree")).abs() < 1e-6, "{mean}");
    let output = text(&freehold(&[&args[..], &ours, &linux].concat()).stdout);
    let last = output.lines().last().unwrap();
    let begins = "1 kva recording of 1,000 operations and more: ";
    assert!(last.starts_with(begins) && last.ends_with(" of rbtree:linux's time (geometric mean)"), "{last}");
    // Nothing to compare with.
    let alone = text(&freehold(&[&args[..], &ours].concat()).stdout);
    assert!(!alone.contains("geometric mean"), "{alone}");
}

#[test]
fn mail_text_is_72_columns_wide() {
    let output = freehold(&["replay", "churn:200", "--rounds", "1", "--format", "lkml"]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output.stdout);
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    assert!(text.contains("gap-list"));
}

#[test]
fn completions_and_manual_come_from_the_command_line() {
    assert!(text(&freehold(&["completions", "bash"]).stdout).contains("_freehold"));
    assert!(text(&freehold(&["man"]).stdout).contains(".TH freehold"));
}

/// The commands that other tests have no documents of.
#[test]
fn what_is_shown_again_and_compared_is_of_the_schema_too() {
    let folder = std::env::temp_dir().join(format!("freehold-again-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("bench.json").display().to_string();
    let bench = "bench kva --quick --n 100 --n 300 --workload churn --engine btree --engine gap-list --json";
    let output = freehold(&bench.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let made = Results::read(&output.stdout);
    assert!(made.records().count() > 0);
    std::fs::write(&file, &output.stdout).unwrap();
    let page = folder.join("growth.html").display().to_string();
    let shown = Results::of(&["show", &file, "--report", &page]);
    let page = std::fs::read_to_string(page).unwrap();
    for grows in ["Time of an allocation", "Work of an allocation", "Bytes"] {
        assert!(page.contains(&format!("<h4>{grows} as live objects grow</h4>")), "{grows}");
    }
    assert_eq!(shown.0, made.0, "with the environment in which it was measured");
    let compared = Results::of(&["compare", &file, &file]);
    assert!(compared.records().count() > 0);
    std::fs::remove_dir_all(folder).unwrap();
}
