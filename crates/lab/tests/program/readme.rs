//! The exact counts that stand in README and the book, against the commands that are named for them. `.ci/readme` checks the one
//! that takes the release build; times are ratios, and not checked.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use freehold_lab::data_folder;
use freehold_lab::predict::{Kind, Settings, Way, predict};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// README and the chapters of the book, by their paths.
pub(super) fn pages() -> Vec<String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let names = fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let chapters = names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    std::iter::once("README.md".to_owned()).chain(chapters).collect()
}

/// A text with each run of blanks one space: a sentence is found however its lines are broken.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A file of the repository, as one line.
pub(super) fn document(path: &str) -> String {
    one_line(&root_file(path))
}

/// A text file of the repository.
pub(super) fn root_file(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Whether README or the book says it.
pub(super) fn readme_has(text: &str) -> bool {
    static ALL: LazyLock<Vec<String>> = LazyLock::new(|| pages().iter().map(|page| document(page)).collect());
    ALL.iter().any(|page| page.contains(text))
}

/// A number as README writes it.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

/// Of the allocations of a recorded kernel, how many `linux-lazy` predicts.
#[test]
fn addresses_of_a_recorded_kernel_that_are_predicted() {
    for name in ["drained/bpfstorm.kva.csv.zst", "traces/bpfvm.kva.csv.zst"] {
        let file = data_folder().unwrap().join(name);
        let predicted = predict(&file, &Settings::default(), Way::default()).unwrap();
        let (right, all) = (predicted.right() as usize, predicted.allocations() as usize);
        let sentence = format!("{} of {} addresses", grouped(right), grouped(all));
        println!("{sentence}");
        assert!(readme_has(&sentence), "README does not say: {sentence}");
        let known = all - predicted.kinds[Kind::Unknown as usize] as usize;
        let part =
            format!("{sentence}, which is {:.1} % of what can be known", 100.0 * right as f64 / known as f64);
        assert!(known == all || readme_has(&part), "README does not say: {part}");
    }
}

/// The mean work of an allocation that `freehold replay` prints for engines of kva.
#[test]
fn work_of_a_recorded_workload() {
    let trace = data_folder().unwrap().join("traces/bpfvm.kva.csv.zst");
    let output = Command::new(env!("CARGO_BIN_EXE_freehold"))
        .args(["replay", "--json", "--rounds", "1", "--engine", "btree:lowest", "--engine", "gap-list"])
        .arg(trace)
        .output()
        .unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let work = |engine: &str| {
        let is_mean = |record: &&serde_json::Value| {
            record["engine"] == engine
                && record["op"] == "alloc"
                && record["metric"] == "work"
                && record["stat"] == "mean"
        };
        document["records"].as_array().unwrap().iter().find(is_mean).unwrap()["value"].as_f64().unwrap()
    };
    let sentence =
        format!("{:.1} nodes; the list before Linux 5.2: {:.0} steps", work("btree"), work("gap-list"));
    assert!(readme_has(&sentence), "README does not say: {sentence}");
}

/// The ratios in the third column of the first row that begins with this.
fn ratios(page: &str, start: &str) -> Vec<f64> {
    let text = root_file(page);
    let row = text.lines().find(|line| line.starts_with(&format!("| {start}")));
    let row = row.unwrap_or_else(|| panic!("{page} has no row {start}"));
    let cell = row.split(" | ").nth(2).unwrap();
    cell.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|part| part.parse().ok()).collect()
}

/// A ratio that stands in README's table and in the book's is the same in both. `.ci/ratios` prints them beside a run.
#[test]
fn ratios_are_those_of_the_page_of_comparisons() {
    for start in ["`offset-allocator`", "`BTreeMap` by hand |", "`prometheus-client`"] {
        let [short, long] = ["README.md", "docs/compare.md"].map(|page| ratios(page, start));
        assert!(
            short.len() > 1 && short.iter().all(|ratio| long.contains(ratio)),
            "{start}: {short:?}, {long:?}"
        );
    }
    // There ours is divided by theirs.
    let [theirs, ours] = ["README.md", "docs/compare.md"].map(|page| ratios(page, "`vm-device`"));
    let agrees = |(theirs, ours): (&f64, &f64)| (theirs - 1.0 / ours).abs() < 0.05;
    assert!(theirs.len() == 2 && theirs.iter().zip(&ours).all(agrees), "{theirs:?}, {ours:?}");
}

/// What README says in prose of rivals that are faster is what the table of the book has.
#[test]
fn prose_has_the_ratios_of_the_page_of_comparisons() {
    let of = |start| ratios("docs/compare.md", start);
    let [offset, buddy] = ["`offset-allocator`", "`buddy_system_allocator`"].map(of);
    assert!(offset.len() == 2 && buddy.len() == 2 && offset[1] == buddy[1], "{offset:?}, {buddy:?}");
    let sentence = format!(
        "allocate in {:.2} and {:.2} of the time; their frees take {} times as long",
        offset[0], buddy[0], offset[1]
    );
    assert!(document("README.md").contains(&sentence), "README does not say: {sentence}");
    // There ours is divided by theirs; here the part of our time that theirs takes.
    assert!(
        document("README.md").contains("makes and drops one in three quarters to four fifths of the time")
    );
    let parts: Vec<f64> = of("`wasmtime`, memories").iter().map(|ratio| 1.0 / ratio).collect();
    assert!(
        parts.len() == 2 && (parts[0] - 0.75).abs() < 0.025 && (parts[1] - 0.8).abs() < 0.025,
        "{parts:?}"
    );
}
