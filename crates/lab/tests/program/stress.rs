//! Cases of stress: what passes, fails and must fail.

use super::{freehold, text};

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
fn stress_maple_runs_the_kernels_cases_and_ours() {
    let args = ["stress", "maple", "--loops", "300", "--repeat", "1", "--n", "200", "--json"];
    let output = freehold(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["command"], "stress maple");
    let rows = document["rows"].as_array().unwrap();
    let whole = |case: &str, engine: &str| {
        let mine = |row: &&serde_json::Value| {
            row["workload"] == case && row["engine"] == engine && row["op"] == "loop"
        };
        rows.iter().find(mine).unwrap_or_else(|| panic!("no row {case} {engine}")).clone()
    };
    for case in ["bench_slot_store", "bench_awalk", "bench_load", "check_seq", "range-store", "spanning"] {
        for engine in ["range-map", "std-btreemap", "rangemap", "nodit"] {
            let row = whole(case, engine);
            let counts = (&row["suite"], &row["count"], &row["passed"], &row["failed"]);
            assert_eq!(counts, (&"maple".into(), &300.into(), &1.into(), &0.into()), "{row}");
        }
    }
    for case in ["bench_forking", "bench_mas_for_each", "alloc_cyclic", "transaction", "dup", "mixed"] {
        assert_eq!(whole(case, "range-map")["passed"], 1, "{case}");
        assert_eq!(whole(case, "nodit")["note"], "does not have these requests", "{case}");
    }
    for usage in [["--unit", "64K"], ["--mask", "1"], ["--case", "churn"], ["--engine", "btree"]] {
        assert_eq!(freehold(&[&args[..2], &usage].concat()).status.code(), Some(2), "{usage:?}");
    }
}
