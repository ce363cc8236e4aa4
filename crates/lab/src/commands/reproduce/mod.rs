//! `freehold reproduce`: what others have published, measured again beside ours.
//!
//! A publication is a folder with a file for each of its parts. A part measures, and tells it as a section of the
//! page, with its tables for the terminal, its rows and its notes; this file puts them together.

mod beside;
pub mod kva_2019;
pub mod maple_2025;
pub mod percpu_2017;

use super::Progress;
use crate::engine::{Compared, EngineEntry, find_engines};
use crate::failure::Failure;
use crate::output::{Document, Row, Table};
use crate::report::{Key, Section, Study};
use freehold::units::Bytes;
use std::path::{Path, PathBuf};

/// What can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Publication {
    /// "Reworking of KVA allocator in Linux kernel", Linux Plumbers Conference 2019.
    #[value(name = "kva-2019")]
    Kva2019,
    /// "percpu: replace area map allocator with bitmap allocator", 2017.
    #[value(name = "percpu-2017")]
    Percpu2017,
    /// "Track node vacancy to reduce worst case allocation counts", 2025.
    #[value(name = "maple-2025")]
    Maple2025,
}

impl Publication {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kva2019 => "kva-2019",
            Self::Percpu2017 => "percpu-2017",
            Self::Maple2025 => "maple-2025",
        }
    }
}

/// How it is reproduced.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// As long as it was published: of the talk 120 samples, of about a second of the slowest engine each; of the
    /// posting 2^20 objects; of the series both recorded streams.
    #[arg(long)]
    pub full: bool,
    /// Of kva-2019 and maple-2025: stop after so many of its samples, 120 at most; what is measured beside them becomes
    /// shorter, too.
    #[arg(long, value_name = "N")]
    pub samples: Option<usize>,
    /// Of kva-2019 and maple-2025: a folder with traces (*.kva.csv.zst, *.vma.csv.zst) beside the bundled ones.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Of percpu-2017: bytes of a chunk for each CPU, like 32K, 256K (if not said otherwise) or 1M. The area map's
    /// times grow with it, so that 1M takes longer than a minute.
    #[arg(long, value_name = "BYTES")]
    pub unit: Option<Bytes>,
    /// Of percpu-2017: so many objects; what is measured beside them becomes less, too.
    #[arg(long, value_name = "N", conflicts_with = "full")]
    pub objects: Option<u32>,
}

impl Options {
    /// What is asked for can be had of the publication.
    fn check(&self, what: Publication) -> Result<(), Failure> {
        let percpu = [("--unit", self.unit.is_some()), ("--objects", self.objects.is_some())];
        let foreign = match what {
            Publication::Kva2019 | Publication::Maple2025 => percpu.to_vec(),
            Publication::Percpu2017 => {
                vec![("--samples", self.samples.is_some()), ("--traces", self.traces.is_some())]
            }
        };
        match foreign.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::Usage(format!("{option}: {} has no such thing", what.name()))),
            None => Ok(()),
        }
    }
}

/// What came of it.
pub struct Outcome {
    /// What is printed.
    pub document: Document,
    /// The page.
    pub study: Study,
}

/// One part of a publication.
#[derive(Default)]
struct Part {
    section: Section,
    /// Tables for the terminal alone: what the page draws.
    printed: Vec<Table>,
    rows: Vec<Row>,
    notes: Vec<String>,
    /// What of it is to be remembered.
    keys: Vec<Key>,
    /// Something was not as it should be.
    failed: bool,
}

/// Reproduces a publication.
///
/// # Errors
/// Data cannot be read, or an engine answers wrong.
pub fn run(what: Publication, options: &Options, progress: &mut Progress) -> anyhow::Result<Outcome> {
    options.check(what)?;
    match what {
        Publication::Kva2019 => kva_2019::run(options, progress),
        Publication::Percpu2017 => percpu_2017::run(options, progress),
        Publication::Maple2025 => maple_2025::run(options, progress),
    }
}

/// Puts parts together, in their order.
fn together(study: Study, parts: Vec<Part>) -> Outcome {
    let mut outcome = Outcome { document: Document::default(), study };
    for part in parts {
        outcome.document.tables.extend(part.printed);
        outcome.document.tables.extend(part.section.tables.iter().cloned());
        outcome.document.rows.extend(part.rows);
        outcome.document.notes.extend(part.notes);
        outcome.document.failed |= part.failed;
        outcome.study.keys.extend(part.keys);
        outcome.study.sections.push(part.section);
    }
    outcome
}

/// The files of a folder whose names end so.
fn traces_in(folder: &Path, ending: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.path();
        if file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ending)) {
            files.push(file);
        }
    }
    Ok(files)
}

/// The engines of these names, in this order.
fn engines(names: &[&str]) -> anyhow::Result<Vec<EngineEntry>> {
    let mut entries = Vec::new();
    for name in names {
        entries.extend(find_engines(&[(*name).to_owned()], Compared::IfNamed)?);
    }
    Ok(entries)
}

/// A row of an engine.
fn row(workload: &str, entry: &EngineEntry, op: &'static str) -> Row {
    Row {
        suite: "kva",
        workload: Some(workload.to_owned()),
        engine: Some(entry.engine),
        placement: entry.placement,
        default: super::default_mark(entry),
        op: Some(op),
        ..Row::default()
    }
}

/// How many times as much `before` is.
fn times(before: f64, after: f64) -> String {
    if after > 0.0 { format!("{}x", crate::output::fixed(before / after)) } else { "-".to_owned() }
}
