//! Cases of stress: what passes, fails and must fail.

use super::{Results, freehold, text};

#[test]
fn stress_runs_the_kernels_cases_and_counts_what_must_fail() {
    let args = ["stress", "kva", "--loops", "100", "--repeat", "3", "--n", "200"];
    let engines = ["--engine", "rbtree", "--engine", "gap-list"];
    let results = Results::of(&[&args[..], &engines].concat());
    assert_eq!(results.0["command"], "stress kva");
    let is = |workload: &str, engine: &str, rest: &str, value: f64| {
        results.is(&format!("suite=kva|workload={workload}|engine={engine}|{rest}"), value);
    };
    for case in ["fix_size", "full_fit", "long_busy_list", "random_size", "fix_align", "random_size_align"] {
        let per_loop = if case == "long_busy_list" { 2.0 } else { 1.0 };
        for engine in ["rbtree", "gap-list"] {
            is(case, engine, "op=loop|metric=count", 300.0);
            is(case, engine, "op=loop|metric=passed", 3.0);
            is(case, engine, "op=loop|metric=failed", 0.0);
            is(case, engine, "op=loop|metric=refused", 0.0);
            is(case, engine, "op=alloc|metric=count|n=", 300.0 * per_loop);
            for figure in ["metric=work|stat=mean", "metric=time|stat=p99"] {
                let query = format!("workload={case}|engine={engine}|op=alloc|{figure}");
                assert!(results.value(&query).is_some(), "{query}");
            }
        }
    }
    is("align_shift", "rbtree", "op=loop|metric=passed", 0.0);
    is("align_shift", "rbtree", "op=loop|metric=xfailed", 3.0);
    is("align_shift", "gap-list", "op=loop|metric=refused", 66.0);
    is("pcpu_alloc", "rbtree", "op=loop|metric=passed", 3.0);
    assert!(results.notes().contains("gap-list does not have the requests of: pcpu_alloc"));
    for case in
        ["churn", "holes", "zone", "aligned", "aligned-5", "aligned-20", "aligned-2m", "burst", "seqfill"]
    {
        is(case, "gap-list", "op=loop|metric=passed|n=200", 3.0);
    }
    assert!(results.notes().contains(" failed as expected"));
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
    let args = ["stress", "percpu", "--loops", "300", "--repeat", "1", "--n", "200", "--unit", "64K"];
    let results = Results::of(&args);
    assert_eq!(results.0["command"], "stress percpu");
    for case in ["in-order", "second-half", "aligned", "churn-4-1024", "mixed", "stale-hint", "deletion"] {
        for engine in ["bitmap", "bitmap-linux", "bitmap-linux-fixed", "bitmap-2017", "area-map"] {
            for (metric, value) in [("count", 300.0), ("passed", 1.0), ("failed", 0.0)] {
                let of = format!("suite=percpu|workload={case}|engine={engine}|op=loop|unit_bytes=65536");
                results.is(&format!("{of}|metric={metric}"), value);
            }
        }
    }
    results.is("workload=starved|engine=bitmap|op=loop|metric=passed", 1.0);
    assert!(
        results.notes().contains("area-map does not have the requests of: starved"),
        "{}",
        results.notes()
    );
}

#[test]
fn stress_maple_runs_the_kernels_cases_and_ours() {
    let args = ["stress", "maple", "--loops", "300", "--repeat", "1", "--n", "200"];
    let results = Results::of(&args);
    assert_eq!(results.0["command"], "stress maple");
    for case in ["bench_slot_store", "bench_awalk", "bench_load", "check_seq", "range-store", "spanning"] {
        for engine in ["range-map", "std-btreemap", "rangemap", "nodit"] {
            for (metric, value) in [("count", 300.0), ("passed", 1.0), ("failed", 0.0)] {
                let of = format!("suite=maple|workload={case}|engine={engine}|op=loop");
                results.is(&format!("{of}|metric={metric}"), value);
            }
        }
    }
    for case in ["bench_forking", "bench_mas_for_each", "alloc_cyclic", "transaction", "dup", "mixed"] {
        results.is(&format!("workload={case}|engine=range-map|op=loop|metric=passed"), 1.0);
        results.is(&format!("workload={case}|engine=nodit|op=loop|metric=passed"), 0.0);
    }
    for usage in [["--unit", "64K"], ["--mask", "1"], ["--case", "churn"], ["--engine", "btree"]] {
        assert_eq!(freehold(&[&args[..2], &usage].concat()).status.code(), Some(2), "{usage:?}");
    }
}

/// A sequence that is counted in work, one in instructions, and the strings that are kept.
#[test]
fn the_adversary_tells_how_work_grows() {
    let kva = ["stress", "kva", "--adversary", "--largest", "10000", "--search", "5"];
    let results = Results::of(&[&kva[..], &["--sequence", "refused", "--sequence", "search"]].concat());
    for n in [100, 1000, 10_000] {
        let worst =
            results.value(&format!("workload=refused|part=worst measured|n={n}|metric=work")).unwrap();
        let later =
            results.value(&format!("workload=refused|part=worst later on|n={n}|metric=work")).unwrap();
        assert!(worst > f64::from(n) / 32.0 && later < 8.0, "{n}: {worst}, then {later}");
    }
    assert!(results.find("part=strings, mean of all").next().is_some());
    assert!(results.notes().contains("passed: "), "{}", results.notes());
    if freehold_lab::run::instructions::can_count() {
        let rcu = ["stress", "rcu", "--adversary", "--largest", "10000", "--sequence", "stalled-reader"];
        let results = Results::of(&rcu);
        let of = |n: u32| {
            results.value(&format!("op=retire|part=worst measured|n={n}|metric=instructions")).unwrap()
        };
        assert!(of(100) > 10.0 && of(1000) < 4.0 * of(100), "{} and {}", of(100), of(1000));
    }
}
