//! The program as a user meets it: exit codes, what goes where, errors that say what is wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod reproduce;
mod stress;

use freehold_lab::commands::main_job::data_folder;
use std::process::{Command, Output};

fn freehold(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_freehold")).args(args).output().unwrap()
}

fn data(file: &str) -> String {
    data_folder().unwrap().join(file).display().to_string()
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
        text(&output.stdout).contains("passed: 2 files, 6_014 operations checked, 0 mismatches"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn a_file_that_is_cut_off_or_unknown_fails_with_its_line() {
    let folder = std::env::temp_dir().join(format!("freehold-program-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let cut = folder.join("cut.txt");
    std::fs::write(&cut, "# kva-vectors 1\nunit 4096\ninit 1 9\nzone z0 1 9\ncols k\nbegin\na 1 1 z0 L1\n")
        .unwrap();
    let half = folder.join("half.txt.zst");
    let whole = std::fs::read(data("vectors/kva/talk.txt")).unwrap();
    std::fs::write(&half, &whole[..40]).unwrap();
    for (file, says) in [(&cut, "cut.txt:8: the file is cut off"), (&half, "half.txt.zst:1: cannot be read")]
    {
        let output = freehold(&["verify", &file.display().to_string()]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stdout).contains(says), "{}", text(&output.stdout));
    }
    std::fs::remove_dir_all(folder).unwrap();
    let output = freehold(&["inspect", "no-such-file"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no-such-file"));
}

#[test]
fn a_file_that_cannot_be_read_is_of_the_suite_that_its_beginning_tells() {
    let folder = std::env::temp_dir().join(format!("freehold-suites-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let unit = "# unit 32768 page 4096 cpus 1 variant stock balance off seed 1 digest_every 10\n";
    for (begins, suite) in [
        (unit, Some("percpu")),
        ("@run unit 32768 size 4\n", Some("percpu")),
        ("# kva-vectors 1\n", Some("kva")),
        ("neither\n", None),
    ] {
        let file = folder.join("cut.txt");
        std::fs::write(&file, begins).unwrap();
        let output = freehold(&["verify", &file.display().to_string(), "--json"]);
        assert_eq!(output.status.code(), Some(1), "{begins}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let row = &document["rows"][0];
        assert_eq!((row["suite"].as_str(), row["mismatches"].as_u64()), (suite, Some(1)), "{row}");
    }
    std::fs::remove_dir_all(folder).unwrap();
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
        &["bench", "maple", "--wishes"],
        &["bench", "maple", "--n", "0"],
        &["bench", "maple", "--engine", "naive"],
        &["bench", "maple", "--workload", "fly"],
        &["stress", "maple", "--unit", "64K"],
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
fn json_is_one_document_of_flat_rows() {
    let output = freehold(&["replay", "churn:200", "--rounds", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "freehold/1");
    assert_eq!(document["command"], "replay");
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["default"] == true).count(), 3);
    for row in rows {
        assert!(row.as_object().unwrap().values().all(|value| !value.is_object()), "{row}");
    }
    let work = |engine: &str, placement: Option<&str>| {
        let mine = |row: &&serde_json::Value| {
            row["engine"] == engine
                && row["op"] == "alloc"
                && placement.is_none_or(|name| row["placement"] == name)
        };
        rows.iter().find(mine).unwrap()["work_mean"].as_f64().unwrap()
    };
    assert!(work("gap-list", None) > work("rbtree", Some("lowest")));
}

#[test]
fn the_floor_is_in_every_run_and_no_rival() {
    let bench = ["bench", "kva", "--quick", "--workload", "churn", "--n", "100", "--engine", "rbtree:lowest"]
        .as_slice();
    let replay = ["replay", "churn:200", "--rounds", "1", "--engine", "rbtree:lowest"].as_slice();
    for (args, ops) in [(replay, ["alloc", "free", "loop"]), (bench, ["alloc", "free", "pair"])] {
        let output = freehold(&[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = document["rows"].as_array().unwrap();
        let floor: Vec<_> = rows.iter().filter(|row| row["engine"] == "floor").collect();
        assert_eq!(floor.iter().map(|row| row["op"].as_str().unwrap()).collect::<Vec<_>>(), ops);
        let count = |engine: &str| {
            let of = rows.iter().filter(|row| row["engine"] == engine);
            of.map(|row| row["count"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(count("floor"), count("rbtree"));
        for row in floor {
            assert!(row["note"].as_str().unwrap().contains("not judged"), "{row}");
            let judged = ["ratio", "default", "work_mean", "failures", "metadata_peak_bytes"];
            assert!(judged.iter().all(|key| row[key].is_null()), "{row}");
        }
        let tables = text(&freehold(args).stdout);
        let lines = tables.lines().filter(|line| line.contains("floor (not judged)")).count();
        assert_eq!(lines, if args[0] == "bench" { 2 } else { 1 }, "{tables}");
        assert!(tables.contains(freehold_lab::family::FLOOR_NOTE));
    }
    // It is no engine that could be named, so that nothing verifies or stresses it.
    assert_eq!(freehold(&["replay", "churn:200", "--engine", "floor"]).status.code(), Some(2));
    assert_eq!(freehold(&["stress", "kva", "--mode", "smoke", "--engine", "floor"]).status.code(), Some(2));
}

#[test]
fn a_variant_is_run_by_its_full_name_alone() {
    let labels = |engine: &str| {
        let args =
            ["bench", "kva", "--quick", "--workload", "churn", "--n", "100", "--engine", engine, "--json"];
        let output = freehold(&args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = document["rows"].as_array().unwrap();
        let placements = rows.iter().filter(|row| row["engine"] != "floor");
        let placements = placements.map(|row| row["placement"].as_str().unwrap().to_owned());
        placements.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(Vec::from_iter(labels("rbtree:lowest+hot+lazy")), ["lowest+hot+lazy"]);
    assert!(labels("rbtree").iter().all(|placement| !placement.contains('+')));
}

#[test]
fn an_engine_of_one_tree_says_what_nodes_it_takes() {
    let args = ["replay", "churn:1000", "--rounds", "1", "--engine", "btree:lowest", "--engine", "range-map"];
    let output = freehold(&[&args[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let row = |engine: &str| rows.iter().find(|row| row["engine"] == engine && row["op"] == "alloc").unwrap();
    let taken = row("range-map")["nodes_used"].as_u64().unwrap();
    assert!(taken > 0 && row("btree")["nodes_used"].is_null());
    let note = document["notes"].to_string();
    assert!(note.contains(&format!("range-map took {taken} nodes in 2_000 x alloc, ")), "{note}");
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
    if !freehold_lab::measure::instructions::can_count() {
        println!("not run: valgrind is not installed");
        return;
    }
    let rows = |args: &[&str]| {
        let output = freehold(&[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        document["rows"].as_array().unwrap().clone()
    };
    let (alone, with_another) = (rows(&args), rows(&both));
    let of = |rows: &[serde_json::Value], engine: &str, op: &str| {
        let row = rows.iter().find(|row| row["engine"] == engine && row["op"] == op).unwrap();
        (row["count"].as_f64().unwrap(), row["instructions_mean"].as_f64().unwrap())
    };
    let figure = |engine: &str, op: &str| {
        let figures = of(&alone, engine, op);
        assert_eq!(figures, of(&with_another, engine, op), "{engine}");
        figures
    };
    for engine in ["rbtree", "floor"] {
        let [alloc, free, all] = ["alloc", "free", "all"].map(|op| figure(engine, op));
        let sum = alloc.0 * alloc.1 + free.0 * free.1;
        assert!((sum - all.0 * all.1).abs() < 0.5 && alloc.0 + free.0 == all.0, "{engine}");
    }
    for op in ["alloc", "free"] {
        assert!(figure("floor", op).1 > 1.0 && figure("rbtree", op).1 > 2.0 * figure("floor", op).1, "{op}");
    }
}

#[test]
fn every_map_does_every_workload() {
    let output = freehold(&["bench", "maple", "--quick", "--n", "50", "--n", "300", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    for engine in ["range-map", "std-btreemap", "rangemap", "nodit"] {
        let of = |workload: &str, n: u64| {
            let mine = |row: &&serde_json::Value| {
                row["suite"] == "maple"
                    && row["engine"] == engine
                    && row["workload"] == workload
                    && row["n"] == n
            };
            rows.iter().filter(mine).collect::<Vec<_>>()
        };
        for case in freehold_lab::workload::maple::CASES.iter().filter(|case| case.name != "footprint") {
            for n in [50, 300] {
                let rows = of(case.name, n);
                assert!(!rows.is_empty(), "{engine} did no {}", case.name);
                for row in rows {
                    assert!(row["ns_median"].as_f64().is_some_and(|ns| ns > 0.0), "{row}");
                    assert!(row["count"].as_u64().is_some_and(|count| count > 1000), "{row}");
                }
            }
        }
        for n in 1..=4 {
            let bytes = of("footprint", n)[0]["bytes_per_item"].as_f64().unwrap();
            assert!(bytes >= 16.0, "{engine}: {bytes} bytes for each of {n} ranges");
        }
    }
}

#[test]
fn an_engine_that_lacks_an_operation_is_left_out_and_named() {
    let output = freehold(&["replay", &data("vectors/kva/pcpu_tight.txt.zst"), "--rounds", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["rows"].as_array().unwrap().iter().all(|row| row["engine"] != "gap-list"));
    assert!(document["notes"].to_string().contains("gap-list left out"));
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
fn hostile_tables_and_traces_are_refused() {
    let folder = std::env::temp_dir().join(format!("freehold-hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let trace = "#vml-trace v1 kind=kva kernel=6 ncpu=2 pagesize=4096 clock=mono\n#workload w: d\n#lost_records=0\n\
                 #dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux\n";
    for (name, content, command, says) in [
        (
            "a.tsv",
            "workload\tseed\tN\tM\tanswers_fnv\nchurn\t1\t99999999999\t1\t0\n".to_owned(),
            "verify",
            "a.tsv:2: N must be",
        ),
        (
            "b.tsv",
            "workload\tseed\tN\tM\nchurn\t1\t10\t1\n".to_owned(),
            "verify",
            "b.tsv:2: answers_fnv is missing",
        ),
        (
            "c.csv",
            format!("{trace}0,0,0,A,1,1000,5,1,1000,ffffffff,x\n"),
            "inspect",
            "c.csv:5: a size of 5 bytes",
        ),
        (
            "d.csv",
            format!("{trace}0,0,0,A,1,1000,4096,1,1000,ffffffff,x\n0,0,0,I,2,5000,4096,,,,x\n"),
            "inspect",
            "d.csv:6: an object live at the start",
        ),
    ] {
        let file = folder.join(name);
        std::fs::write(&file, content).unwrap();
        let output = freehold(&[command, &file.display().to_string()]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains(says), "{name}: {said}");
    }
    // One object with an enormous name is one object.
    let file = folder.join("e.csv");
    std::fs::write(&file, format!("{trace}0,0,0,A,4294967295,1000,4096,1,1000,ffffffff,x\n")).unwrap();
    assert_eq!(freehold(&["replay", &file.display().to_string(), "--rounds", "1"]).status.code(), Some(0));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn bench_times_every_engine_and_says_who_is_left_out() {
    let args = ["bench", "kva", "--quick", "--n", "300", "--json"];
    let workloads = ["--workload", "zone", "--workload", "holes", "--workload", "full_fit"];
    let output = freehold(&[&args[..], &workloads].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let has = |workload: &str, engine: &str, op: &str| {
        rows.iter().any(|row| {
            row["workload"] == workload
                && row["engine"] == engine
                && row["op"] == op
                && row["ns_median"].is_f64()
        })
    };
    let notes = document["notes"].to_string();
    for engine in ["rbtree", "btree", "gap-list", "splay", "rangemap", "offset-allocator", "mmap"] {
        for (workload, op) in [("holes", "alloc"), ("holes", "free"), ("full_fit", "pair")] {
            // On a busy machine an engine may take more time than there is, which is then said.
            let late = engine != "rbtree" && notes.contains(&format!("{workload}: {engine} left out"));
            assert!(late || has(workload, engine, op), "{workload}, {op}: {engine}; {notes}");
        }
    }
    assert!(has("zone", "rbtree", "alloc") && !has("zone", "range-alloc", "alloc"));
    let default = rows.iter().find(|row| row["default"] == true && row["op"] == "alloc").unwrap();
    assert_eq!((&default["ratio"], &default["suite"]), (&1.0.into(), &"kva".into()));
    assert!(notes.contains("zone: range-alloc left out"), "{notes}");
    for usage in [["--n", "0"], ["--workload", "tennis"], ["--engine", "combustion"]] {
        assert_eq!(freehold(&[&args[..3], &usage].concat()).status.code(), Some(2), "{usage:?}");
    }
}

#[test]
fn one_replay_takes_files_of_several_families() {
    let folder = std::env::temp_dir().join(format!("freehold-families-{}", std::process::id()));
    let page = folder.join("report.html");
    let (kva, percpu) =
        (data("vectors/kva/kt_fix_size.txt.zst"), data("vectors/percpu/x-min-stale-stock.txt.zst"));
    let report = page.display().to_string();
    let output = freehold(&["replay", &kva, &percpu, "--rounds", "1", "--json", "--report", &report]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let of = |suite: &str, engine: &str| {
        let row = |row: &&serde_json::Value| {
            row["suite"] == suite && row["engine"] == engine && row["op"] == "alloc"
        };
        rows.iter().find(row).unwrap_or_else(|| panic!("no row {suite} {engine}")).clone()
    };
    assert!(of("kva", "gap-list")["free_blocks"].is_u64());
    let ours = of("percpu", "bitmap");
    assert_eq!(
        (&ours["default"], &ours["ratio"], &ours["unit"]),
        (&true.into(), &1.0.into(), &(1 << 20).into())
    );
    for engine in ["bitmap", "bitmap-linux", "bitmap-linux-fixed", "bitmap-2017", "area-map"] {
        let row = of("percpu", engine);
        for key in ["pages", "pages_mean", "metadata_peak_bytes", "work_mean", "ns_median", "bytes_per_item"]
        {
            assert!(row[key].is_number(), "{key} is missing in {row}");
        }
    }
    // Pages that are all there from the start are more than those that are there on demand.
    assert!(of("percpu", "area-map")["pages"].as_u64() > ours["pages"].as_u64());
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

#[test]
fn mail_text_is_72_columns_wide() {
    let output = freehold(&["replay", "churn:200", "--rounds", "1", "--format", "lkml"]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output.stdout);
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    assert!(text.contains("gap-list"));
}

#[test]
fn inspect_tells_the_shape_of_a_trace() {
    let output = freehold(&["inspect", &data("traces/bpfvm.kva.csv.zst")]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output.stdout);
    for part in ["10_769", "10_791", "sizes of allocations", "lifetime", "live objects over time"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn inspect_tells_what_a_percpu_trace_asks_for() {
    let output = freehold(&["inspect", &data("traces/netns.pcpu.csv.zst")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let parts = ["124_050", "124_027", "free of an unknown object (not replayed)", "5_380", "most in 100 ms"];
    for part in parts.into_iter().chain(["sizes and alignments", "lifetime", "live objects over time"]) {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    let output = freehold(&["inspect", &data("traces/netns.pcpu.csv.zst"), "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let asked = |note: &str| {
        let of = rows.iter().filter(|row| row["note"] == note && row["size"].is_u64());
        of.map(|row| row["count"].as_u64().unwrap()).sum::<u64>()
    };
    let atomic = asked("allocation that cannot wait");
    assert!(atomic > 0);
    assert_eq!(asked("allocation") + atomic, 124_050);
}

#[test]
fn completions_and_manual_come_from_the_command_line() {
    assert!(text(&freehold(&["completions", "bash"]).stdout).contains("_freehold"));
    assert!(text(&freehold(&["man"]).stdout).contains(".TH freehold"));
}
