//! What a store that merges costs in instructions beside the crate rangemap, counted by valgrind's callgrind: the areas of
//! recorded programs, stored and removed as the kernel did, and maps in which nothing merges.
//!
//! The test runs this program again under callgrind. Only what is inside [`measured`] counts. Both maps get the same calls,
//! and must hold the same ranges at the end.
//!
//!     cargo test --manifest-path clients/rangemap/Cargo.toml --release --test instructions [-- FILE.vma.csv.zst..]

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "../../../crates/units/tests/callgrind/mod.rs"]
mod callgrind;

use freehold_maple::RangeMap;
use freehold_trace::maple::{End, Ranges};
use freehold_trace::vma::{AreaMap, Recording, Spaces};
use freehold_trace::{Drive, vma};
use freehold_units::{Align, Span};
use original::RangeInclusiveMap;
use std::cell::RefCell;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// How the program that is counted is told what to do.
const TASK: &str = "FREEHOLD_RANGEMAP_INSTRUCTIONS";
/// The most that a recording may cost, of the crate's instructions: by the beginning of its name.
const MOST_RECORDED: [(&str, f64); 4] = [("selfmaps", 0.9), ("cargo", 0.7), ("chromium", 0.55), ("", 0.9)];
/// The same for maps of so many ranges in which nothing merges.
const MOST_APART: [(u64, f64); 3] = [(100, 0.8), (10_000, 0.8), (100_000, 0.8)];
/// Stores into each of these.
const STORES: u64 = 10_000;

/// One call on one of several maps.
#[derive(Clone, Copy, Debug)]
enum Call {
    Store(usize, Span, u64),
    Clear(usize, Span),
    /// The second map becomes a copy of the first.
    Copy(usize, usize),
}

thread_local! {
    /// What the maps of a recording were asked to do, and how many there are.
    static ASKED: RefCell<(Vec<Call>, usize)> = const { RefCell::new((Vec::new(), 0)) };
}

/// A map of areas that notes what it is asked to change.
struct Noting {
    number: usize,
    map: RangeInclusiveMap<u64, u64>,
}

fn another(map: RangeInclusiveMap<u64, u64>) -> Noting {
    ASKED.with_borrow_mut(|(_, maps)| {
        *maps += 1;
        Noting { number: *maps - 1, map }
    })
}

fn note(call: Call) {
    ASKED.with_borrow_mut(|(calls, _)| calls.push(call));
}

impl Ranges for Noting {
    const GAP_IS_LINEAR: bool = true;

    fn new() -> Self {
        another(RangeInclusiveMap::new())
    }

    fn store(&mut self, span: Span, value: u64) {
        note(Call::Store(self.number, span, value));
        self.map.insert(span.first()..=span.last(), value);
    }

    fn clear(&mut self, span: Span) {
        note(Call::Clear(self.number, span));
        self.map.remove(span.first()..=span.last());
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        self.store(span, value);
        true
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        let (range, &value) = self.map.get_key_value(&index)?;
        self.clear(Span::new(*range.start(), *range.end())?);
        Some(value)
    }

    fn get(&self, index: u64) -> Option<u64> {
        self.map.get(&index).copied()
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.map.iter().map(|(range, &value)| (*range.start(), *range.end(), value))
    }

    /// Nobody compares the answer: what was found is in the recording.
    fn gap(&self, _: End, _: u64, _: Align, _: Span) -> Option<Span> {
        None
    }

    fn duplicate(&self) -> Self {
        let copy = another(self.map.clone());
        note(Call::Copy(self.number, copy.number));
        copy
    }

    fn bytes(&self) -> usize {
        0
    }

    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

impl AreaMap for Noting {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let areas = self.map.overlapping(span.first()..=span.last());
        areas.map(|(range, &value)| (*range.start(), *range.end(), value))
    }
}

/// The changes of a recording's areas, and how many maps they are of.
fn recorded(file: &Path) -> (Vec<Call>, usize) {
    let Recording { kinds, ops, .. } = Recording::read(file).unwrap();
    let mut spaces = Spaces::<Noting>::new(kinds);
    let mut answers = 0;
    for op in &ops {
        let vma::Answer { met, .. } = spaces.run(op, &mut ());
        answers += u64::from(met);
    }
    assert!(answers > 0, "{}: no area was ever met", file.display());
    ASKED.take()
}

/// Stores of 1 to 64 indexes anywhere over `n` ranges, each of a value of its own.
fn apart(n: u64) -> (Vec<Call>, usize) {
    let mut state = n;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let filled = (0..n).map(|at| (Span::from_size(16 * at, 8).unwrap(), at)).collect::<Vec<_>>();
    let stores =
        (n..n + STORES).map(|value| (Span::from_size(random(16 * n), 1 + random(64)).unwrap(), value));
    let stores: Vec<_> = stores.collect();
    (filled.into_iter().chain(stores).map(|(span, value)| Call::Store(0, span, value)).collect(), 1)
}

/// A map that merges equal neighbours.
trait Merging: Clone + Default {
    fn store(&mut self, span: Span, value: u64);
    fn clear(&mut self, span: Span);
    fn all(&self) -> Vec<(u64, u64, u64)>;
}

impl Merging for RangeMap<u64> {
    fn store(&mut self, span: Span, value: u64) {
        self.store_merging(span, value).unwrap();
    }

    fn clear(&mut self, span: Span) {
        self.remove_range(span).unwrap();
    }

    fn all(&self) -> Vec<(u64, u64, u64)> {
        self.iter().map(|(span, &value)| (span.first(), span.last(), value)).collect()
    }
}

impl Merging for RangeInclusiveMap<u64, u64> {
    fn store(&mut self, span: Span, value: u64) {
        self.insert(span.first()..=span.last(), value);
    }

    fn clear(&mut self, span: Span) {
        self.remove(span.first()..=span.last());
    }

    fn all(&self) -> Vec<(u64, u64, u64)> {
        self.iter().map(|(range, &value)| (*range.start(), *range.end(), value)).collect()
    }
}

/// What is inside counts.
#[inline(never)]
fn measured<M: Merging>(maps: &mut [M], calls: &[Call]) {
    for &call in calls {
        match call {
            Call::Store(map, span, value) => maps[map].store(span, value),
            Call::Clear(map, span) => maps[map].clear(span),
            Call::Copy(..) => {}
        }
    }
    black_box(maps);
}

fn play<M: Merging>(calls: &[Call], maps: usize) -> Vec<Vec<(u64, u64, u64)>> {
    let mut maps = vec![M::default(); maps];
    for calls in calls.split_inclusive(|call| matches!(call, Call::Copy(..))) {
        measured(black_box(&mut maps), calls);
        if let Some(&Call::Copy(of, into)) = calls.last() {
            maps[into] = maps[of].clone();
        }
    }
    maps.iter().map(M::all).collect()
}

fn calls_of(subject: &str) -> (Vec<Call>, usize) {
    subject.parse().map_or_else(|_| recorded(Path::new(subject)), apart)
}

/// The instructions of one of the two on a subject.
fn counted(subject: &str, whose: &str, out: &Path) -> f64 {
    let arguments = ["--collect-atstart=no", "--toggle-collect=instructions::measured*"];
    callgrind::run(&arguments, out, (TASK, &format!("{whose} {subject}")));
    callgrind::total(out)
}

fn main() {
    if let Ok(task) = env::var(TASK) {
        let (whose, subject) = task.split_once(' ').unwrap();
        let (calls, maps) = calls_of(subject);
        let held = match whose {
            "ours" => play::<RangeMap<u64>>(&calls, maps),
            _ => play::<RangeInclusiveMap<u64, u64>>(&calls, maps),
        };
        return drop(black_box(held));
    }
    if callgrind::is_missing() {
        return;
    }
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/traces");
    let mut files: Vec<PathBuf> =
        env::args_os().skip(1).map(PathBuf::from).filter(|file| file.exists()).collect();
    files.extend(["selfmaps", "chromium"].map(|name| bundled.join(format!("{name}.vma.csv.zst"))));
    let recorded = files.iter().map(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let most = MOST_RECORDED.iter().find(|(begin, _)| name.starts_with(begin)).unwrap().1;
        (file.to_string_lossy().into_owned(), name, most)
    });
    let apart = MOST_APART.map(|(n, most)| (n.to_string(), format!("{n} ranges, nothing merges"), most));
    let out = env::temp_dir().join(format!("freehold-rangemap-{}", std::process::id()));
    let mut broken = Vec::new();
    for (subject, name, most) in recorded.chain(apart) {
        let (calls, maps) = calls_of(&subject);
        let same = play::<RangeMap<u64>>(&calls, maps) == play::<RangeInclusiveMap<u64, u64>>(&calls, maps);
        assert!(same, "{name}: other ranges than the crate's");
        let [ours, theirs] =
            ["ours", "theirs"].map(|whose| counted(&subject, whose, &out) / calls.len() as f64);
        let (ratio, calls) = (ours / theirs, calls.len());
        let line = format!(
            "{name}: {calls} calls, {ours:.0} instructions, rangemap {theirs:.0}: {ratio:.3} of {most}"
        );
        println!("{line}");
        if ratio > most {
            broken.push(line);
        }
    }
    fs::remove_file(&out).unwrap();
    assert!(broken.is_empty(), "{broken:#?}");
}
