//! Publications beside ours: every row, every section, and what cannot be asked.

use super::{freehold, text};

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
    // A bound that is raised at once and lowered in passing is more than the truth, now and then; were it made from the truth, it
    // never would be.
    assert!(hints("bitmap")["mismatches"].as_u64().unwrap() > 0);
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
