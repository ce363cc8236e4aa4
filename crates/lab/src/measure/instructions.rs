//! Instructions that operations take, which no noisy machine can bend: counted by valgrind's callgrind.
//!
//! The program runs itself under valgrind, on one workload and several engines in turn. Of all that it does there, only
//! what happens inside `measured` is counted; after each return from what it calls, callgrind writes out how much that
//! was. (It does so only after functions that were entered while it counted: hence two.)

use crate::engine::{EngineEntry, Session};
use crate::failure::Failure;
use crate::workload::bench::BenchWorkload;
use freehold::units::Align;
use freehold_trace::kva::{Answer, Op};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The function whose instructions count, as callgrind finds it.
const MEASURED: &str = "*measure::instructions::measured*";
/// The function after which it writes them out.
const RAN: &str = "*measure::instructions::run_all*";

/// Whether valgrind is installed.
#[must_use]
pub fn can_count() -> bool {
    let mut version = Command::new("valgrind");
    version
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs the program, with arguments that make it call [`run`], under callgrind. Returns the instructions of each of
/// the `engines`, in their order.
///
/// # Errors
/// Valgrind fails, or does not write what it should.
pub fn count(arguments: &[String], engines: usize) -> anyhow::Result<Vec<u64>> {
    let folder = Scratch::new()?;
    let out = folder.0.join("out");
    let ran = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg("--collect-atstart=no")
        .arg(format!("--toggle-collect={MEASURED}"))
        .arg(format!("--dump-after={RAN}"))
        .arg(std::env::current_exe()?)
        .args(arguments)
        .output()?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        return Err(Failure::Lacking(format!("valgrind failed: {}", said.trim())).into());
    }
    (1..=engines).map(|number| total(&out.with_extension(number.to_string()))).collect()
}

/// The instructions of one of callgrind's files.
fn total(file: &Path) -> anyhow::Result<u64> {
    let text = fs::read_to_string(file)?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals:"));
    let total = total.and_then(|total| total.trim().parse().ok());
    total.ok_or_else(|| anyhow::anyhow!("callgrind wrote no total into {}", file.display()))
}

/// What the program does under callgrind: each engine in turn is set up and runs the workload's operations once.
///
/// # Errors
/// An engine cannot be made, or answers otherwise than the first.
pub fn run(engines: &[EngineEntry], workload: &BenchWorkload) -> Result<(), String> {
    let mut expected: Option<Vec<Answer>> = None;
    for entry in engines {
        let mut session = (entry.make)(&workload.layout, Align::PAGE)?;
        session.expect_objects(workload.objects);
        session.run(&workload.placed, &mut vec![Answer::default(); workload.placed.len()]);
        let mut answers = vec![Answer::default(); workload.ops.len()];
        measured(session.as_mut(), &workload.ops, &mut answers);
        match &expected {
            Some(expected) if *expected != answers => {
                return Err(format!("{} answers otherwise than the first engine", entry.label()));
            }
            _ => expected = Some(answers),
        }
    }
    Ok(())
}

/// All that is counted.
#[inline(never)]
fn measured(session: &mut dyn Session, ops: &[Op], answers: &mut [Answer]) {
    run_all(session, ops, answers);
    // What follows a call keeps the caller on the stack, where callgrind sees it return.
    std::hint::black_box(answers);
}

#[inline(never)]
fn run_all(session: &mut dyn Session, ops: &[Op], answers: &mut [Answer]) {
    session.run(ops, answers);
    std::hint::black_box(answers);
}

/// A folder that goes with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("freehold-instructions-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever clears the folder of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
