//! Checking engines against recorded answers: vectors, streams, worked examples, work anchors.

mod anchors;
pub mod maple;
mod outside;
mod percpu;
pub mod placed;
mod played;
mod recipe;
mod state;
mod talk;
mod vectors;
pub mod vma;

pub use placed::placed;
pub use talk::{Played, play_talk};

use crate::engine::outside::Library;
use crate::kind::{Kind, Suite};
use crate::workload::vma::from_file;
use freehold::units::{Align, Span};
use freehold_trace::{Fnv, TraceError};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

const PAGE: u64 = Align::PAGE.bytes();

/// So many pages from one on; `None` where there are no such addresses.
fn pages(first: u64, pages: u64) -> Option<Span> {
    Span::from_size(first.checked_mul(PAGE)?, pages.checked_mul(PAGE)?)
}

/// What was checked of one file with one engine.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The column, case or workload, and the engine that was held against it.
    pub what: String,
    /// The engine; empty where there is none that could be checked.
    pub engine: &'static str,
    /// Its placement, where it has several.
    pub placement: Option<&'static str>,
    /// Operations whose answers were compared.
    pub operations: u64,
    /// Comparisons made.
    pub comparisons: u64,
    /// Comparisons that differed.
    pub mismatches: u64,
    /// The first that did.
    pub first: Option<Mismatch>,
    /// Why nothing was checked, or what was left out.
    pub note: Option<String>,
}

/// A difference between what was recorded and what an engine does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The line in the file; in a stream the record.
    pub line: u64,
    /// What it says.
    pub expected: String,
    /// What the engine does.
    pub got: String,
}

impl Checked {
    /// Whether an engine was to be held against it, and nothing was compared.
    pub fn lacks_comparisons(&self) -> bool {
        !self.engine.is_empty() && self.comparisons == 0
    }

    fn new(what: impl Into<String>, engine: &'static str) -> Self {
        Self { what: what.into(), engine, ..Self::default() }
    }

    /// Compares what is recorded on a line with what the engine does.
    fn compare(&mut self, line: u64, expected: impl Into<String>, got: impl Into<String>) {
        let (expected, got) = (expected.into(), got.into());
        self.comparisons += 1;
        if expected != got {
            self.mismatches += 1;
            self.first.get_or_insert(Mismatch { line, expected, got });
        }
    }

    /// Compares what is recorded on a line with the same of the engine.
    fn same<T: Debug>(&mut self, line: u64, expected: &T, got: &T) {
        self.compare(line, format!("{expected:?}"), format!("{got:?}"));
    }

    /// The engine's invariants must hold.
    fn valid(&mut self, line: u64, valid: Result<(), String>) {
        self.compare(line, "valid", valid.err().unwrap_or_else(|| "valid".to_owned()));
    }

    /// One comparison more, of which it is known already whether both are the same.
    fn right(&mut self, line: u64, right: bool, texts: impl FnOnce() -> [String; 2]) {
        if right {
            self.comparisons += 1;
        } else {
            let [expected, got] = texts();
            self.compare(line, expected, got);
        }
    }
}

/// The checks of one file.
#[derive(Clone, Debug)]
pub struct FileChecks {
    /// The file.
    pub file: PathBuf,
    /// The hash of what is in it.
    pub content: String,
    /// The family of engines that it is about.
    pub suite: &'static str,
    /// What was checked, by column, workload or case.
    pub checks: Vec<Checked>,
}

impl FileChecks {
    /// Whether something was checked, nothing differed, and no column that has an engine was passed over.
    pub fn passed(&self) -> bool {
        self.checks.iter().any(|check| check.comparisons > 0)
            && self.checks.iter().all(|check| check.mismatches == 0 && !check.lacks_comparisons())
    }

    /// Operations checked, over all columns.
    pub fn operations(&self) -> u64 {
        self.checks.iter().map(|check| check.operations).sum()
    }
}

/// Checks a file, whatever kind it is: against `engines`, which are from outside, or if there are none against those that are listed.
/// `tick` hears now and then that there is progress.
///
/// # Errors
/// The file cannot be read as any kind that can be checked.
pub fn verify_file(
    file: &Path,
    engines: &[&'static Library],
    tick: &mut dyn FnMut(),
) -> Result<FileChecks, TraceError> {
    let kind = Kind::of(file)?;
    let checks = match kind {
        _ if !engines.is_empty() => outside::verify(file, kind, engines, tick),
        Kind::Anchors => anchors::verify(file, tick),
        Kind::Talk => talk::verify(file),
        Kind::Trace(Suite::Maple) | Kind::TreeEvents => vma::verify(file, &from_file(file)?, tick),
        Kind::Trace(Suite::Kva | Suite::Percpu) => Err(TraceError::at(
            file,
            1,
            "a trace of requests, which records no answers to check; see `replay`",
        )),
        Kind::Columns => vectors::verify(file, tick),
        Kind::Placements => percpu::placements::verify(file, tick),
        Kind::Area => percpu::area::verify(file, tick),
        Kind::TreeLog => maple::logs::verify(file, tick),
        Kind::TreeStream => maple::streams::verify(file, tick),
        Kind::TreeExamples => maple::requests::verify(file),
    }?;
    // The content is hashed last, so that nobody waits for that of a file which cannot be checked.
    let (content, suite) = (Fnv::of_file(file)?, kind.suite().name());
    Ok(FileChecks { file: file.to_owned(), content, suite, checks })
}
