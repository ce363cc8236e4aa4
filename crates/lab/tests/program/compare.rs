//! `freehold compare`: the text in the test robots' columns, and its arithmetic by other means.

use super::{data, freehold, text};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A document of a replay with these records, each `OP METRIC STAT VALUE UNIT` and what else it has.
fn document(file: &Path, records: &[&str]) -> String {
    let record = |words: &&str| {
        let words: Vec<&str> = words.split(' ').collect();
        format!(
            r#"{{"suite":"kva","workload":"storm.kva","engine":"btree","op":"{}","metric":"{}","stat":"{}","value":{},
               "unit":"{}"{},"samples":5,"origin":"measured"}}"#,
            words[0],
            words[1],
            words[2],
            words[3],
            words[4],
            words.get(5).copied().unwrap_or_default()
        )
    };
    let environment = r#"{"version":"0.1.0","commit":"unknown","compiler":"rustc","optimised":true,"cpu":"a CPU","cpus":2,
        "governor":"unknown","clock_step_ns":40,"memory_bytes":1,"system":"linux 6.18","architecture":"x86_64"}"#;
    let records: Vec<String> = records.iter().map(record).collect();
    let json = format!(
        r#"{{"schema":"freehold/2","command":"replay","environment":{environment},"records":[{}],"findings":[],"notes":[],"facts":{{}}}}"#,
        records.join(",")
    );
    fs::write(file, json).unwrap();
    file.display().to_string()
}

/// What is said side by side, without where it was said.
fn side_by_side(args: &[&str]) -> String {
    let output = freehold(args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let all = text(&output.stdout);
    let (_, from) = all
        .split_once("as a part of the figure\n")
        .or_else(|| all.split_once("part of the\nfigure\n"))
        .unwrap_or_else(|| panic!("{all}"));
    from.split_once("\n\n").unwrap().0.to_owned() + "\n"
}

const GOLDEN: &str = "\
old.json         new.json
---------------- ---------------------------
         %stddev     %change         %stddev
             \\          |                \\
kva storm.kva btree:
     43.50 ~ 12%     -50.0%      21.75        alloc.time_ns
    123457          +100.0%     246914 ~  3%  free.time_ns
 1.235e+09            +0.0%  1.235e+09        free.time_ns.p99
         0               +3          3        alloc.refused
        25            +7.50      32.50        whole.metadata_share%
";

#[test]
fn documents_are_set_side_by_side_as_the_test_robots_do() {
    let folder = TempDir::new().unwrap();
    let old = document(
        &folder.path().join("old.json"),
        &[
            r#"alloc time median 43.5 ns ,"lo":40.0,"hi":50.0,"sd":5.22"#,
            r#"free time median 123457 ns ,"lo":123000.0,"hi":124000.0,"sd":100.0"#,
            "free time p99 1234567890 ns",
            "alloc refused total 0 count",
            "whole metadata_share total 0.25 share",
            "whole metadata max 4096 bytes",
        ],
    );
    let new = document(
        &folder.path().join("new.json"),
        &[
            r#"alloc time median 21.75 ns ,"lo":21.7,"hi":21.8,"sd":0.04"#,
            r#"free time median 246914 ns ,"lo":240000.0,"hi":250000.0,"sd":6789.0"#,
            "free time p99 1234567899 ns",
            "alloc refused total 3 count",
            "whole metadata_share total 0.325 share",
            "whole metadata max 4096 bytes",
        ],
    );
    let told = side_by_side(&["compare", &old, &new, "--format", "lkml"]);
    assert_eq!(told, GOLDEN, "{told}");
    let all = text(&freehold(&["compare", &old, &new]).stdout);
    assert!(all.contains("Exact figures: 1 the same, 2 different."), "{all}");
    // Beyond both spreads.
    assert!(all.contains("worse, +100 %") && all.contains("better, -50 %"), "{all}");
}

/// The header is that of the documents, and another machine or build is told.
#[test]
fn documents_of_different_machines_are_told() {
    let folder = TempDir::new().unwrap();
    let old = document(&folder.path().join("old.json"), &["free time median 1 ns"]);
    let all = text(&freehold(&["compare", &old, &old]).stdout);
    assert!(
        all.starts_with("freehold 0.1.0 · a CPU, 2 CPUs") && !all.contains("Times do not compare"),
        "{all}"
    );
    let new = folder.path().join("new.json");
    let other = fs::read_to_string(&old).unwrap();
    let other = other.replace(r#""cpu":"a CPU","cpus":2"#, r#""cpu":"another","cpus":64"#);
    fs::write(&new, other.replace(r#""optimised":true"#, r#""optimised":false"#)).unwrap();
    let all = text(&freehold(&["compare", &old, new.to_str().unwrap()]).stdout).replace('\n', " ");
    assert!(all.starts_with("freehold 0.1.0 · another, 64 CPUs"), "{all}");
    for told in
        ["built: with optimisation, then without", "processor: a CPU, then another; CPUs: 2, then 64."]
    {
        assert!(all.contains(told), "{told}: {all}");
    }
}

#[test]
fn long_names_and_figures_keep_their_columns() {
    let folder = TempDir::new().unwrap();
    let engine = format!("so:/{}.so", "a_long_folder/".repeat(8));
    let made = |name: &str, records: &[&str]| {
        let file = document(&folder.path().join(name), records);
        let json = fs::read_to_string(&file).unwrap();
        fs::write(&file, json.replace("\"btree\"", &format!("{engine:?}"))).unwrap();
        file
    };
    let name = "an_operation_whose_name_goes_on_and_on";
    let old = made(
        "old.json",
        &[
            &format!(r#"{name} time median 1 ns ,"lo":1.0,"hi":1.0,"sd":8.08"#),
            r#"free time median 0 ns ,"lo":0.0,"hi":0.0,"sd":0.0"#,
            "whole metadata_share total 0.5 share",
        ],
    );
    let new = made(
        "new.json",
        &[
            &format!(r#"{name} time median 2e9 ns ,"lo":2e9,"hi":2e9,"sd":4e10"#),
            r#"free time median 5 ns ,"lo":5.0,"hi":5.0,"sd":0.0"#,
            "whole metadata_share total 1.7e308 share",
        ],
    );
    let all = text(&freehold(&["compare", &old, &new, "--format", "lkml"]).stdout);
    assert!(all.lines().all(|line| line.len() <= 72), "{all}");
    for row in [
        "         1 ~808%   +2.0e11%  2.000e+09 ~>9x   an_operation_whose_name_\n",
        "                                              goes_on_and_on.time_ns\n",
        "         0               +5          5        free.time_ns\n",
        "        50        +1.80e308 1.798e+308        whole.metadata_share%\n",
    ] {
        assert!(all.contains(row), "{row} is missing in {all}");
    }
    assert!(all.contains("worse, from 0"), "{all}");
}

#[test]
fn what_documents_hold_is_no_command_for_a_terminal_and_no_line_of_its_own() {
    let folder = TempDir::new().unwrap();
    let made = |name: &str, value: &str| {
        document(
            &folder.path().join(name),
            &[&format!(r#"\u001b[31m\nx time median {value} ns ,"lo":{value},"hi":{value}"#)],
        )
    };
    let (old, new) = (made("old.json", "1"), made("new.json", "1e300"));
    for form in ["lkml", "screen"] {
        let all = text(&freehold(&["compare", &old, &new, "--format", form]).stdout);
        assert!(!all.contains('\u{1b}') && all.contains(r"\u{1b}[31m\nx"), "{all}");
        // A change of a number of 300 digits is told in fewer.
        assert!(all.contains("worse, +1.0e302 %") && all.lines().all(|line| line.len() <= 100), "{all}");
    }
}

/// Names with both figures and the change, by their columns.
fn rows(told: &str) -> BTreeMap<String, [f64; 3]> {
    let mut rows: Vec<(String, [f64; 3])> = Vec::new();
    for line in told.lines().skip(4) {
        let number =
            |part: Option<&str>| -> Option<f64> { part?.trim().trim_end_matches('%').parse::<f64>().ok() };
        let figures = [line.get(..10), line.get(16..27), line.get(28..38)].map(number);
        match (figures, line.get(46..)) {
            ([Some(first), Some(change), Some(second)], Some(name)) => {
                rows.push((name.to_owned(), [first, change, second]));
            }
            // A long name goes on.
            ([None, None, None], Some(name)) if line.starts_with("    ") => {
                rows.last_mut().unwrap().0.push_str(name);
            }
            _ => {}
        }
    }
    rows.into_iter().collect()
}

/// Counts what a trace has, by its lines alone: allocations, frees, purges, and allocations of up to 64 KiB.
fn counted(file: &str) -> [u64; 4] {
    let mut counts = [0; 4];
    let lines = fs::read_to_string(file).unwrap();
    for line in lines.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(',').collect();
        let at = ["A", "F", "P"].iter().position(|op| *op == columns[3]);
        if let Some(at) = at {
            counts[at] += 1;
        }
        let size: u64 = columns[6].parse().unwrap_or(u64::MAX);
        counts[3] += u64::from(columns[3] == "A" && (32 << 10..64 << 10).contains(&size));
    }
    counts
}

/// A trace of `areas` allocations of `pages` pages each, of which all but the last are freed, and `purges` purges.
fn trace(file: &Path, areas: u32, pages: u64, purges: u32) -> String {
    let header = "#vml-trace v1 kind=kva kernel=6.18.1 ncpu=1 pagesize=4096 clock=mono\n#workload w: d\n#lost_records=0\n#dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux\n";
    let mut lines = header.to_owned();
    for object in 1..=areas {
        let at = 0x10_0000 + u64::from(object) * 0x10_0000;
        lines.push_str(&format!("1000,0,1,A,{object},{at:x},{},1,100000,fffffff000,\n", pages * 4096));
    }
    for object in 1..areas {
        let at = 0x10_0000 + u64::from(object) * 0x10_0000;
        lines.push_str(&format!("2000,0,1,F,{object},{at:x},,,,,1/16384\n"));
    }
    lines.push_str(&"10,0,1,P,,,,,,,0\n".repeat(purges as usize));
    fs::write(file, lines).unwrap();
    file.display().to_string()
}

#[test]
fn recordings_are_set_side_by_side_and_the_figures_are_those_of_their_lines() {
    let folder = TempDir::new().unwrap();
    let first = trace(&folder.path().join("a.csv"), 40, 9, 2);
    let second = trace(&folder.path().join("b.csv"), 50, 17, 0);
    let told = side_by_side(&["compare", &first, &second, "--format", "lkml"]);
    assert!(told.lines().all(|line| line.chars().count() <= 72), "{told}");
    assert!(told.starts_with("a.csv            b.csv\n"), "{told}");
    let rows = rows(&told);
    let [old, new] = [&first, &second].map(|file| counted(file));
    let names = ["allocation.count", "free.count", "purge_of_lazily_freed_areas_(not_replayed).count"];
    for (at, name) in names.iter().enumerate() {
        let [was, change, is] = rows[*name];
        assert_eq!([was, is], [old[at] as f64, new[at] as f64], "{name}: {told}");
        let expected = 100.0 * (new[at] as f64 - old[at] as f64) / old[at] as f64;
        assert!((change - expected).abs() <= 0.05, "{name}: {change}, not {expected}");
    }
    // Sizes are by powers of two: nine pages are from 32 KiB on, and the other recording has none of these.
    let [was, change, is] = rows["sizes.32_KiB.count"];
    assert_eq!([was, is, old[3] as f64, new[3] as f64], [40.0, 0.0, 40.0, 0.0], "{told}");
    assert_eq!(change, -100.0);
    for (name, [was, change, is]) in &rows {
        let expected = if name.ends_with('%') || *was == 0.0 { is - was } else { 100.0 * (is - was) / was };
        // Figures are shown with two decimals, or three digits and more.
        let slack = if *was == 0.0 { 0.011 } else { 0.06 + 100.0 * (0.011 / was.abs()).min(0.012) };
        assert!((change - expected).abs() <= slack, "{name}: {was} {change} {is}");
    }
    // Each was predicted in one way or not; how many were in all is a sum of these.
    let ways = || rows.iter().filter(|(name, _)| name.starts_with("predicted.") && name.ends_with(".share%"));
    for side in [0, 2] {
        let parts =
            ways().filter(|(name, _)| *name != "predicted.predicted.share%").map(|(_, row)| row[side]);
        let sum: f64 = parts.sum();
        assert!((sum - 100.0).abs() < 0.1, "{sum}: {told}");
    }
    assert!(rows.contains_key("predicted.unknown.share%") && rows.contains_key("lifetime.time_ns"), "{told}");
}

#[test]
fn figures_of_one_document_alone_are_counted() {
    let folder = TempDir::new().unwrap();
    let made = |name: &str, records: &[&str]| document(&folder.path().join(name), records);
    let told = |old: &str, new: &str, code: i32| {
        let output = freehold(&["compare", old, new]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let old =
        made("old.json", &["alloc refused total 0 count", "a nodes total 7 count", "b nodes total 1 count"]);
    let new = made("new.json", &["alloc refused total 0 count", "c nodes total 4 count"]);
    let other = made("other.json", &["d nodes total 4 count"]);
    let some = told(&old, &new, 0);
    let says =
        "Exact figures: 1 the same, 0 different. Figures of the first document alone: 2; of the second: 1.";
    assert!(some.contains(says), "{some}");
    let none = told(&old, &other, 1);
    let says =
        "Exact figures: 0 the same, 0 different. Figures of the first document alone: 3; of the second: 1.";
    assert!(none.contains(says) && none.contains("FAILED: no figure is in both documents"), "{none}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = TempDir::new().unwrap();
    let trace = trace(&folder.path().join("a.csv"), 4, 9, 0);
    let document = document(&folder.path().join("old.json"), &["free time median 1 ns"]);
    for (one, other) in [(&trace, &document), (&trace, &data("traces/netns.pcpu.csv.zst"))] {
        let output = freehold(&["compare", one, other]);
        assert_eq!(output.status.code(), Some(2), "{one} {other}: {}", text(&output.stderr));
    }
}
