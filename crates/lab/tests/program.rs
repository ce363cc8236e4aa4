//! The program as a user meets it: exit codes, what goes where, errors that say what is wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

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
        &["stress", "maple"],
        &["count-instructions", "fly", "1", "rbtree:lowest"],
        &["count-instructions", "fix_size", "1", "nobody"],
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
fn a_variant_is_run_by_its_full_name_alone() {
    let labels = |engine: &str| {
        let args =
            ["bench", "kva", "--quick", "--workload", "churn", "--n", "100", "--engine", engine, "--json"];
        let output = freehold(&args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = document["rows"].as_array().unwrap();
        let placements = rows.iter().map(|row| row["placement"].as_str().unwrap().to_owned());
        placements.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(Vec::from_iter(labels("rbtree:lowest+hot+lazy")), ["lowest+hot+lazy"]);
    assert!(labels("btree").iter().all(|placement| placement != "lowest-hot"));
}

#[test]
fn all_variants_answer_alike_where_instructions_are_counted() {
    let names =
        ["rbtree:lowest", "rbtree:lowest+hot", "rbtree:lowest+lazy", "btree:lowest-hot", "btree:lowest"];
    for (workload, n) in [("full_fit", "1"), ("churn", "300"), ("zone", "300"), ("burst", "300")] {
        let output = freehold(&[&["count-instructions", workload, n][..], &names].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
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
fn a_publication_is_reproduced_beside_its_figures() {
    let folder = std::env::temp_dir().join(format!("freehold-reproduce-{}", std::process::id()));
    let page = folder.join("page.html");
    let args = ["reproduce", "kva-2019", "--samples", "2", "--report", &page.display().to_string()];
    let output = freehold(&[&args[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["command"], "reproduce kva-2019");
    let rows = document["rows"].as_array().unwrap();
    let row = |workload: &str, engine: &str, op: &str| {
        let wanted = |row: &&serde_json::Value| {
            row["workload"] == workload && row["engine"] == engine && row["op"] == op
        };
        rows.iter().find(wanted).unwrap_or_else(|| panic!("no row {workload} {engine} {op}"))
    };
    let rework = rows.iter().find(|row| row["placement"] == "linux" && row["op"] == "loop").unwrap();
    assert_eq!(rework["published"].as_f64().map(f64::round), Some(53.0));
    for engine in ["gap-list", "rbtree", "btree"] {
        assert!(row("test, all cases together", engine, "loop")["work_mean"].is_f64());
        assert!(row("test, each case by itself", engine, "loop")["ratio"].is_f64());
        assert!(row("playback", engine, "audio")["failures"].is_u64());
        assert!(row("bpfvm.kva", engine, "loop")["ns_median"].is_f64());
    }
    let zones = |note: &str| {
        let notes =
            |row: &&serde_json::Value| row["note"].as_str().is_some_and(|text| text.starts_with(note));
        let row = rows.iter().filter(|row| row["engine"] == "rbtree" && row["n"] == 50).find(notes).unwrap();
        row["pages"].as_u64().unwrap()
    };
    assert_eq!(zones("sequential, nested zone at the high end"), 0);
    assert!(zones("random, nested zone at the high end") > 0);
    let example = rows.iter().find(|row| row["workload"] == "the talk's worked example").unwrap();
    assert_eq!((&example["mismatches"], &example["count"]), (&0.into(), &14.into()));
    let page = std::fs::read_to_string(page).unwrap();
    for section in ["suite", "samples", "zones", "glitches", "example", "later", "traces", "method"] {
        assert!(page.contains(&format!("<section id=\"{section}\"")), "{section}");
    }
    let mail = freehold(&[&args[..], &["--format", "lkml"]].concat());
    let mail = text(&mail.stdout);
    let report = |line: &&str| line.starts_with("report: ");
    assert!(mail.lines().filter(|line| !report(line)).all(|line| line.chars().count() <= 72), "{mail}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_percpu_posting_is_reproduced_beside_its_figures() {
    let folder = std::env::temp_dir().join(format!("freehold-percpu-{}", std::process::id()));
    let page = folder.join("page.html");
    let report = page.display().to_string();
    let args = ["reproduce", "percpu-2017", "--objects", "1000", "--unit", "32K", "--report", &report];
    let output = freehold(&[&args[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["command"], "reproduce percpu-2017");
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.iter().filter(|row| row["engine"].is_string()).all(|row| row["unit"] == 32 << 10));
    let row = |workload: &str, engine: &str, size: Option<u64>, op: Option<&str>| {
        let wanted = |row: &&serde_json::Value| {
            row["workload"] == workload
                && row["engine"] == engine
                && size.is_none_or(|size| row["size"] == size)
                && op.is_none_or(|op| row["op"] == op)
        };
        rows.iter().rfind(wanted).unwrap_or_else(|| panic!("no row {workload} {engine} {op:?}"))
    };
    for engine in ["area-map", "bitmap-2017", "bitmap-linux", "bitmap"] {
        for size in [4, 16, 64, 128, 1024] {
            assert!(row("seed", engine, Some(size), Some("alloc"))["ns_median"].is_f64());
            let worst = row("seed", engine, Some(size), Some("free"));
            assert_eq!(worst["note"], "free, worst of three orders");
            assert!(row("footprint", engine, Some(size), None)["bytes_per_item"].is_f64());
        }
        for workload in ["churn-4-64", "churn-4-1024"] {
            assert!(row(workload, engine, None, Some("pair"))["pages"].is_u64(), "{workload}");
        }
        assert!(row("second-half", engine, Some(256), Some("alloc"))["ns_median"].is_f64());
    }
    assert_eq!(row("seed", "area-map", Some(4), Some("free"))["published"], 4960.0);
    assert_eq!(row("seed", "bitmap-2017", Some(4), Some("free"))["published"], 70.0);
    // Integers are for objects, bits for units: only these weigh more the larger the objects are.
    let metadata =
        |engine, size| row("footprint", engine, Some(size), None)["bytes_per_item"].as_f64().unwrap();
    let grows = |engine| metadata(engine, 1024) / metadata(engine, 4);
    assert!(grows("bitmap") > 10.0 && grows("area-map") < 3.0);
    let million = row("aligned", "area-map", Some(4), Some("loop"));
    assert!(million["note"].as_str().unwrap().starts_with("extrapolated"), "{million}");
    assert_eq!((&million["n"], &million["published"]), (&1_000_000.into(), &52.0.into()));
    let pages = |engine, op| row("stale-hint", engine, None, Some(op))["pages"].as_u64().unwrap();
    assert!(pages("bitmap-linux", "alloc") > pages("bitmap-linux", "free"));
    assert_eq!(pages("bitmap", "alloc"), pages("bitmap", "free"));
    let hints = |engine| row("stale-hint", engine, None, Some("hint"));
    assert_eq!(hints("bitmap")["mismatches"], 0);
    assert!(hints("bitmap-linux")["mismatches"].as_u64().unwrap() > 0);
    assert!(row("deletion", "bitmap", None, Some("balance"))["ratio"].as_f64().unwrap() > 2.0);
    let page = std::fs::read_to_string(page).unwrap();
    for section in
        ["seed", "second-half", "aligned", "footprint", "churn", "stale-hint", "deletion", "later", "method"]
    {
        assert!(page.contains(&format!("<section id=\"{section}\"")), "{section}");
    }
    assert!(page.contains("no kernel of that age recorded answers"), "what is unverified is said to be so");
    let mail = text(&freehold(&[&args[..], &["--format", "lkml"]].concat()).stdout);
    let report = |line: &&str| line.starts_with("report: ");
    assert!(mail.lines().filter(|line| !report(line)).all(|line| line.chars().count() <= 72), "{mail}");
    assert!(mail.contains("* extrapolated from"), "{mail}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_vacancy_series_is_reproduced_beside_recorded_kernels() {
    let folder = std::env::temp_dir().join(format!("freehold-maple-{}", std::process::id()));
    let page = folder.join("page.html");
    let args = ["reproduce", "maple-2025", "--samples", "1", "--report", &page.display().to_string()];
    let output = freehold(&[&args[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let total = |workload: &str, planner: &str, ours: bool| {
        let wanted = |row: &&serde_json::Value| {
            let mine = row["workload"] == workload && row["planner"] == planner && row["op"] == "total";
            mine && row["engine"].is_string() == ours
        };
        rows.iter().find(wanted).unwrap_or_else(|| panic!("no total of {workload} by {planner}"))
    };
    let asked = |workload, planner, ours| total(workload, planner, ours)["nodes_requested"].as_u64().unwrap();
    assert!(asked("stream-6.16", "worst", false) > asked("stream-6.16", "vacancy", false));
    for workload in ["stream-6.16", "stress-mmap", "chromium.vma"] {
        let [worst, vacancy, exact] =
            ["worst", "vacancy", "exact"].map(|planner| asked(workload, planner, true));
        assert!(worst >= vacancy && vacancy > exact && exact > 0, "{workload}: {worst} {vacancy} {exact}");
    }
    let exact = total("stream-6.16", "exact", true);
    assert_eq!(exact["mismatches"], 0);
    assert!(exact["nodes_used"].as_u64() > Some(0));
    let page = std::fs::read_to_string(&page).unwrap();
    for section in ["prealloc", "nodes", "bulk", "latency", "rates", "shape", "programs", "method"] {
        assert!(page.contains(&format!("<section id=\"{section}\"")), "{section}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_reproduced_is_wrong_usage() {
    for args in [
        &["tennis-2019"][..],
        &["kva-2019", "--samples", "0"],
        &["kva-2019", "--samples", "121"],
        &["maple-2025", "--samples", "121"],
        &["kva-2019", "--traces", "no-such-folder"],
        &["kva-2019", "--traces", env!("CARGO_MANIFEST_DIR")],
        &["kva-2019", "--unit", "32K"],
        &["percpu-2017", "--samples", "2"],
        &["percpu-2017", "--unit", "16K"],
        &["percpu-2017", "--unit", "some"],
        &["percpu-2017", "--objects", "10"],
        &["percpu-2017", "--objects", "2000", "--full"],
    ] {
        assert_eq!(freehold(&[&["reproduce"], args].concat()).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn stress_runs_the_kernels_cases_and_counts_what_must_fail() {
    let args = ["stress", "kva", "--loops", "100", "--repeat", "3", "--n", "200", "--json"];
    let engines = ["--engine", "rbtree", "--engine", "gap-list"];
    let output = freehold(&[&args[..], &engines].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["command"], "stress kva");
    let rows = document["rows"].as_array().unwrap();
    let row = |workload: &str, engine: &str, op: &str| {
        let mine = |row: &&serde_json::Value| {
            row["workload"] == workload && row["engine"] == engine && row["op"] == op && row["suite"] == "kva"
        };
        rows.iter().find(mine).unwrap_or_else(|| panic!("no {op} of {workload} on {engine}"))
    };
    for case in ["fix_size", "full_fit", "long_busy_list", "random_size", "fix_align", "random_size_align"] {
        let per_loop = if case == "long_busy_list" { 2 } else { 1 };
        for engine in ["rbtree", "gap-list"] {
            let whole = row(case, engine, "loop");
            assert_eq!(
                (&whole["count"], &whole["passed"], &whole["failed"]),
                (&300.into(), &3.into(), &0.into())
            );
            assert!(whole["ns_median"].is_f64() && whole["n"].is_null(), "{whole}");
            let alloc = row(case, engine, "alloc");
            assert_eq!(
                (&alloc["count"], &alloc["failures"]),
                (&(300 * per_loop).into(), &0.into()),
                "{case}"
            );
            assert!(alloc["work_mean"].is_f64() && alloc["ns_p99"].is_u64(), "{alloc}");
        }
    }
    let shift = row("align_shift", "rbtree", "loop");
    assert_eq!((&shift["passed"], &shift["failed"], &shift["xfailed"]), (&0.into(), &0.into(), &3.into()));
    assert_eq!(row("align_shift", "gap-list", "alloc")["failures"], 3 * 22);
    assert_eq!(row("pcpu_alloc", "rbtree", "loop")["passed"], 3);
    assert_eq!(row("pcpu_alloc", "gap-list", "loop")["note"], "does not have these requests");
    for case in ["churn", "holes", "zone", "aligned", "aligned-2m", "burst", "seqfill"] {
        assert_eq!(row(case, "gap-list", "loop")["passed"], 3, "{case}");
        assert_eq!(row(case, "rbtree", "loop")["n"], 200, "{case}");
    }
    assert!(document["notes"].to_string().contains(" failed as expected"));
}

#[test]
fn stress_takes_masks_and_times_and_fails_if_nothing_was_run() {
    let args = ["stress", "kva", "--loops", "100", "--repeat", "1", "--format", "lkml"];
    let output = freehold(&[&args[..], &["--mask", "0x105", "--duration", "1h"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.contains("fix_size") && said.contains("long_busy_list") && !said.contains("full_fit"),
        "{said}"
    );
    assert!(said.contains("0x100 is no case") && said.contains("Summary: btree:lowest"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 72), "{said}");

    let lacking = freehold(&[&args[..], &["--case", "pcpu_alloc", "--engine", "gap-list"]].concat());
    assert_eq!(lacking.status.code(), Some(1));
    assert!(text(&lacking.stdout).contains("nothing was run"), "{}", text(&lacking.stdout));

    for usage in [
        ["--case", "fix_sise"],
        ["--mask", "256"],
        ["--mask", "0"],
        ["--mask", "all"],
        ["--loops", "0"],
        ["--repeat", "0"],
        ["--n", "0"],
        ["--engine", "combustion"],
        ["--mode", "idle"],
        ["--duration", "30"],
        ["--duration", "0s"],
        ["--duration", "s"],
    ] {
        assert_eq!(freehold(&[&args[..2], &usage].concat()).status.code(), Some(2), "{usage:?}");
    }
}

#[test]
fn stress_percpu_runs_its_cases_on_every_engine() {
    let args =
        ["stress", "percpu", "--loops", "300", "--repeat", "1", "--n", "200", "--unit", "64K", "--json"];
    let output = freehold(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["command"], "stress percpu");
    let rows = document["rows"].as_array().unwrap();
    for case in ["in-order", "second-half", "aligned", "churn-4-1024", "mixed", "stale-hint", "deletion"] {
        for engine in ["bitmap", "bitmap-linux", "bitmap-linux-fixed", "bitmap-2017", "area-map"] {
            let whole = |row: &&serde_json::Value| {
                row["workload"] == case && row["engine"] == engine && row["op"] == "loop"
            };
            let row = rows.iter().find(whole).unwrap_or_else(|| panic!("no row {case} {engine}"));
            let counts = (&row["suite"], &row["count"], &row["passed"], &row["failed"]);
            assert_eq!(counts, (&"percpu".into(), &300.into(), &1.into(), &0.into()), "{row}");
        }
    }
    let starved = |engine: &str| {
        let row = |row: &&serde_json::Value| {
            row["workload"] == "starved" && row["engine"] == engine && row["op"] == "loop"
        };
        rows.iter().find(row).unwrap().clone()
    };
    assert_eq!(starved("bitmap")["passed"], 1);
    assert_eq!(starved("area-map")["note"], "does not have these requests");
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
