//! Instructions that operations take, which no noisy machine can bend: counted by valgrind's callgrind.
//!
//! The program runs itself under valgrind, for one engine alone, so that no other engine's memory lies in its way; the
//! operations run once for each of their kinds. Of all that happens there only what is inside `measured` is counted:
//! the runs of operations of that one kind. After the last
//! of them callgrind writes out how much that was. (It does so only after functions that were entered while it
//! counted: hence `last` beside `measured`.)
//!
//! The driver's share is in the figures, and that of the few instructions around each run of operations: as much for
//! every engine.

use super::timed::prepared;
use crate::engine::{Facts, Listed};
use crate::failure::Failure;
use crate::family::Family;
use crate::itself;
use crate::workload::Workload;
use anyhow::Context;
use freehold_trace::Driven;
use std::ffi::OsStr;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the program is called with under callgrind, before the workload and the engine.
pub const UNDER_CALLGRIND: &str = "count-instructions";
/// The function whose instructions count, as callgrind finds it.
const MEASURED: &str = "*run::instructions::measured*";
/// The function after which it writes them out.
const LAST: &str = "*run::instructions::last*";

/// Operations of one kind, and the instructions that they took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// How many operations.
    pub operations: u64,
    /// Instructions of all.
    pub total: u64,
}

impl Instructions {
    /// Those of an operation; `None` where there was none.
    pub fn mean(self) -> Option<f64> {
        (self.operations > 0).then(|| self.total as f64 / self.operations as f64)
    }

    /// Several kinds together.
    pub fn sum(kinds: &[Self]) -> Self {
        let add =
            |a: Self, b: &Self| Self { operations: a.operations + b.operations, total: a.total + b.total };
        kinds.iter().fold(Self::default(), add)
    }
}

/// Whether valgrind is installed.
pub fn can_count() -> bool {
    let mut version = Command::new("valgrind");
    version
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The arguments that make the program run a workload of some size on an engine.
pub fn sized(workload: &str, n: u32, engine: &str) -> [String; 5] {
    [UNDER_CALLGRIND, workload, "--n", &n.to_string(), engine].map(str::to_owned)
}

/// Runs the program, with arguments that make it call [`run`] for those operations, under callgrind. Returns the
/// instructions of each kind of operation.
///
/// # Errors
/// Valgrind fails, or does not write what it should.
pub fn count<F: Family>(arguments: &[impl AsRef<OsStr>], ops: &[F::Op]) -> anyhow::Result<Vec<Instructions>> {
    let operations = operations_of_kinds::<F>(ops);
    let mut totals = totals(arguments, operations.iter().filter(|&&n| n > 0).count())?.into_iter();
    let of_kind = |&operations: &u64| {
        let total = if operations > 0 { totals.next().unwrap_or_default() } else { 0 };
        Instructions { operations, total }
    };
    Ok(operations.iter().map(of_kind).collect())
}

/// Runs the program with arguments that make it call [`measured`], under callgrind. Returns the instructions up to
/// each of the `lasts` times that it says that a run is the last.
///
/// # Errors
/// Valgrind fails, or does not write what it should.
pub fn totals(arguments: &[impl AsRef<OsStr>], lasts: usize) -> anyhow::Result<Vec<u64>> {
    events(arguments, lasts, &[], &["Ir"])
}

/// Bytes of the data cache that is simulated for [`lines`].
pub const CACHE_BYTES: usize = 256 << 10;

/// The same of lines of data that are not in a cache of [`CACHE_BYTES`] when they are read or written. The cache is at work
/// outside of what counts, too, so that reading twice its bytes leaves nothing else in it.
///
/// # Errors
/// Valgrind fails, or does not write what it should.
pub fn lines(arguments: &[String], lasts: usize) -> anyhow::Result<Vec<u64>> {
    let cache = format!("--D1={CACHE_BYTES},16,64");
    events(arguments, lasts, &["--cache-sim=yes", &cache], &["D1mr", "D1mw"])
}

/// The same of any of callgrind's events, added up.
fn events(
    arguments: &[impl AsRef<OsStr>],
    lasts: usize,
    options: &[&str],
    names: &[&str],
) -> anyhow::Result<Vec<u64>> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let ran = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg("--collect-atstart=no")
        .arg(format!("--toggle-collect={MEASURED}"))
        .arg(format!("--dump-after={LAST}"))
        .args(options)
        .args(itself::words()?)
        .args(arguments)
        .output()?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        return Err(Failure::Lacking(format!("valgrind failed: {}", said.trim())).into());
    }
    (1..=lasts).map(|file| total(&out.with_extension(file.to_string()), names)).collect()
}

/// The sum of some events of one of callgrind's files. Events at the end that are 0 are left out of its totals.
fn total(file: &Path, names: &[&str]) -> anyhow::Result<u64> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let words = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::split_whitespace);
    let lacking = || anyhow::anyhow!("callgrind wrote no total into {}", file.display());
    let (events, totals) = words("events:").zip(words("totals:")).ok_or_else(lacking)?;
    let mut sum = 0_u64;
    for (event, total) in events.zip(totals) {
        sum += if names.contains(&event) { total.parse()? } else { 0 };
    }
    Ok(sum)
}

/// How many operations there are of each of the family's kinds.
fn operations_of_kinds<F: Family>(ops: &[F::Op]) -> Vec<u64> {
    let of_kind = |kind| ops.iter().filter(|op| F::kind(op) == kind).count() as u64;
    (0..F::KINDS.len()).map(of_kind).collect()
}

/// What the program does under callgrind: sets the engine up and runs the workload's operations, once for each kind
/// that they have.
///
/// # Errors
/// The engine cannot be made, or answers otherwise in another run.
pub fn run<F: Family>(entry: &Listed<F::Facts>, workload: &Workload<F>) -> Result<(), String> {
    let mut expected: Option<Vec<F::Answer>> = None;
    let operations = operations_of_kinds::<F>(&workload.ops);
    for kind in (0..F::KINDS.len()).filter(|&kind| operations.get(kind).is_some_and(|&n| n > 0)) {
        let answers = run_once::<F>(entry, workload, kind)?;
        if expected.as_ref().is_some_and(|expected| !entry.repeats(expected, &answers)) {
            return Err(format!("{} answers otherwise in another run", entry.label()));
        }
        expected = Some(answers);
    }
    Ok(())
}

/// Runs all operations on a fresh engine, one run of a kind after the other; those of one kind count.
fn run_once<F: Family>(
    entry: &Listed<F::Facts>,
    workload: &Workload<F>,
    counted: usize,
) -> Result<Vec<F::Answer>, String> {
    let mut session = prepared(entry, workload)?;
    let mut answers = vec![F::Answer::default(); workload.ops.len()];
    let mut rest = answers.as_mut_slice();
    let mut left = operations_of_kinds::<F>(&workload.ops).get(counted).copied().unwrap_or(0);
    for ops in workload.ops.chunk_by(|a, b| F::kind(a) == F::kind(b)) {
        let (now, later) = rest.split_at_mut(ops.len());
        let counts = ops.first().is_some_and(|op| F::kind(op) == counted);
        left -= if counts { ops.len() as u64 } else { 0 };
        let mut run = || session.run(ops, now);
        match (counts, left) {
            (false, _) => run(),
            (true, left) => measured(&mut run, left == 0),
        }
        rest = later;
    }
    Ok(answers)
}

/// All that is counted; what was counted is written out after a run that is the last.
#[inline(never)]
pub fn measured(run: &mut dyn FnMut(), is_last: bool) {
    if is_last {
        last(run);
    } else {
        run();
    }
    // What follows a call keeps the caller on the stack, where callgrind sees it return.
    black_box(());
}

#[inline(never)]
fn last(run: &mut dyn FnMut()) {
    run();
    black_box(());
}
