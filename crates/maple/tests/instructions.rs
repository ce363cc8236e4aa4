//! What work on a whole map costs in instructions an entry, counted by valgrind's callgrind. Each case is held against going
//! through the map once, and stands beside what it costs in a `BTreeMap` from first index to last index and value.
//!
//! The test runs this program again under callgrind. Only what is inside [`measured`] counts.
//!
//!     cargo test -p freehold-maple --release --test instructions

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "../../units/tests/callgrind/mod.rs"]
mod callgrind;

use freehold_maple::RangeMap;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::{env, fs};

type Ours = RangeMap<u64>;
type Theirs = BTreeMap<u64, (u64, u64)>;

const ENTRIES: u64 = 2000;
/// How the program that is counted is told whose maps to work on.
const TASK: &str = "FREEHOLD_MAPLE_INSTRUCTIONS";
/// The cases, and the most that each may cost, in passes over the map.
const CASES: [(&str, f64); 9] = [
    ("go through", 1.0),
    ("from the back", 2.0),
    ("by value", 4.5),
    ("collect in order", 10.0),
    ("keep all", 4.0),
    ("keep half", 20.0),
    ("merge nothing", 2.5),
    ("clear", 0.5),
    ("remove each", 27.0),
];

fn bounds(at: u64) -> RangeInclusive<u64> {
    at * 8192..=at * 8192 + 4095
}

/// What is inside counts.
#[inline(never)]
fn measured<M>(map: M, work: impl FnOnce(M) -> M) {
    let map = black_box(work(black_box(map)));
    // It is dropped outside.
    std::mem::forget(map);
    black_box(());
}

/// A `for` loop, as most people write it: `fold` may go another way.
#[inline] // so that the loop is the case's own, as a user's is
fn pass<T>(entries: impl Iterator<Item = T>, seen: impl Fn(u64, T) -> u64) {
    let mut all = 0;
    for entry in entries {
        all = seen(all, entry);
    }
    black_box(all);
}

fn on_ours(case: &str) {
    let mut map = Ours::new();
    (0..ENTRIES).map(|at| at * 1237 % ENTRIES).for_each(|at| map.insert(bounds(at), at).unwrap());
    let seen = |all, (span, value): (freehold_units::Span, u64)| all ^ span.last() ^ value;
    match case {
        "go through" => measured(map, |map| {
            pass(map.iter(), |all, (span, &value)| seen(all, (span, value)));
            map
        }),
        "from the back" => measured(map, |map| {
            pass(map.iter().rev(), |all, (span, &value)| seen(all, (span, value)));
            map
        }),
        "by value" => measured(map, |map| {
            black_box(map.into_iter().fold(0, seen));
            Ours::new()
        }),
        "collect in order" => measured(map, |_| (0..ENTRIES).map(|at| (bounds(at), at)).collect()),
        "keep all" => measured(map, |mut map| {
            map.retain(|_, &mut value| value < ENTRIES);
            map
        }),
        "keep half" => measured(map, |mut map| {
            map.retain(|_, &mut value| value.is_multiple_of(2));
            map
        }),
        "merge nothing" => measured(map, |mut map| {
            map.merge_adjacent();
            map
        }),
        "clear" => measured(map, |mut map| {
            map.clear();
            map
        }),
        "remove each" => measured(map, |mut map| {
            (0..ENTRIES).for_each(|at| _ = black_box(map.erase(*bounds(at).start())));
            map
        }),
        other => panic!("no case {other}"),
    }
}

/// The same, but for what a `BTreeMap` has no operation for.
fn on_theirs(case: &str) {
    let map: Theirs = (0..ENTRIES).map(|at| (*bounds(at).start(), (*bounds(at).end(), at))).collect();
    let seen = |all, (_, (last, value)): (u64, (u64, u64))| all ^ last ^ value;
    match case {
        "go through" => measured(map, |map| {
            pass(map.iter(), |all, (&first, &rest)| seen(all, (first, rest)));
            map
        }),
        "from the back" => measured(map, |map| {
            pass(map.iter().rev(), |all, (&first, &rest)| seen(all, (first, rest)));
            map
        }),
        "by value" => measured(map, |map| {
            black_box(map.into_iter().fold(0, seen));
            Theirs::new()
        }),
        "collect in order" => {
            measured(map, |_| (0..ENTRIES).map(|at| (*bounds(at).start(), (*bounds(at).end(), at))).collect())
        }
        "keep all" => measured(map, |mut map| {
            map.retain(|_, &mut (_, value)| value < ENTRIES);
            map
        }),
        "keep half" => measured(map, |mut map| {
            map.retain(|_, &mut (_, value)| value.is_multiple_of(2));
            map
        }),
        "clear" => measured(map, |mut map| {
            map.clear();
            map
        }),
        "remove each" => measured(map, |mut map| {
            (0..ENTRIES).for_each(|at| _ = black_box(map.remove(bounds(at).start())));
            map
        }),
        _ => {}
    }
}

/// The instructions of each case for an entry, on our maps or on theirs; 0 where there is no such operation.
fn counted(whose: &str) -> Vec<f64> {
    let folder = env::temp_dir().join(format!("freehold-maple-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let out = folder.join("out");
    // What was counted before is written to a file of its own.
    let dumps = "--dump-before=*instructions::next_case*";
    callgrind::run(&["--toggle-collect=*instructions::measured*", dumps], &out, (TASK, whose));
    let total = |nth: usize| callgrind::total(&out.with_extension(nth.to_string())) / ENTRIES as f64;
    let counts = (1..=CASES.len()).map(total).collect();
    fs::remove_dir_all(&folder).unwrap();
    counts
}

/// Between two cases.
#[inline(never)]
fn next_case() {
    black_box(());
}

fn hold_to_the_bounds() {
    if callgrind::is_missing() {
        return;
    }
    let (ours, theirs, mut broken) = (counted("ours"), counted("theirs"), Vec::new());
    println!("instructions for each of {ENTRIES} entries");
    for (((case, most), count), their) in CASES.into_iter().zip(&ours).zip(&theirs) {
        let passes = count / ours[0];
        let line = format!("{case}: {count:.0}, {passes:.1} passes of {most}; BTreeMap {their:.0}");
        println!("{line}");
        assert!(*count > 0.0, "{line}");
        if passes > most {
            broken.push(line);
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Not a test of the usual harness, which runs tests in threads: callgrind counts the first thread's.
fn main() {
    let Ok(whose) = env::var(TASK) else { return hold_to_the_bounds() };
    for (case, _) in CASES {
        if whose == "ours" {
            on_ours(case)
        } else {
            on_theirs(case)
        }
        next_case();
    }
}
