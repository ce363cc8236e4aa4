//! The exact counts that stand in README and the book, against the commands that are named for them. `.ci/readme` checks the one
//! that takes the release build; times are ratios, and not checked.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use freehold::kva::Request;
use freehold_lab::{data_folder, workload};
use freehold_linux::kva::{KernelSpace, Placement};
use freehold_trace::kva::{Event, EventKind, Events, Op};
use std::collections::BTreeMap;
use std::process::Command;

const PAGES: [&str; 3] = [
    include_str!("../../../../README.md"),
    include_str!("../../../../docs/start.md"),
    include_str!("../../../../docs/claims.md"),
];

/// Whether README or the book says it, each run of blanks one space: a sentence is found however its lines are broken.
pub(super) fn readme_has(text: &str) -> bool {
    PAGES.iter().any(|page| page.split_whitespace().collect::<Vec<_>>().join(" ").contains(text))
}

/// A number as README writes it.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

/// Of the allocations of a recorded kernel, how many the placement of Linux puts where that kernel put them.
#[test]
fn addresses_of_a_recorded_kernel_that_its_placement_gives_again() {
    let file = data_folder().unwrap().join("traces/bpfvm.kva.csv.zst");
    let recorded: Vec<u64> = Events::open(&file)
        .unwrap()
        .map(Result::unwrap)
        .filter(|event: &Event| event.kind == EventKind::Alloc)
        .map(|event| event.span.unwrap().first())
        .collect();
    let workload = workload::from_file(&file).unwrap();
    let space = workload.scene.layout[0];
    let mut linux: KernelSpace = KernelSpace::new(space, workload.scene.granule, Placement::Linux).unwrap();
    let (mut live, mut answers) = (BTreeMap::new(), Vec::new());
    for (at, op) in workload.setup.iter().chain(&workload.ops).enumerate() {
        match op {
            Op::Alloc { object, size_bytes, align, window } => {
                let request = Request::new(*size_bytes).align(*align).window(*window);
                let first = linux.alloc(&request, ()).unwrap().first();
                live.insert(*object, first);
                answers.extend((at >= workload.setup.len()).then_some(first));
            }
            Op::Free { object } => drop(linux.free(live.remove(object).unwrap()).unwrap()),
            Op::Congruent { .. } => panic!("no recording has any"),
        }
    }
    assert_eq!(recorded.len(), answers.len());
    let same = recorded.iter().zip(&answers).filter(|(a, b)| a == b).count();
    let sentence = format!("{} of {} addresses", grouped(same), grouped(recorded.len()));
    println!("{sentence}");
    assert!(readme_has(&sentence), "README does not say: {sentence}");
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
