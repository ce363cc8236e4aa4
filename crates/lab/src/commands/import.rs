//! `freehold import`: recordings of other tools, and folders of `record`, as traces.

use crate::failure::usage;
use crate::output;
use crate::record::{count, counted, of_number};
use crate::view::plain;
use crate::workload::shown;
use anyhow::Context;
use freehold_record::convert::Summary;
use freehold_record::import::{Options, import};
use freehold_trace::{FileKind, Form, Kind};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What became of a recording.
#[derive(Debug, Serialize)]
pub struct Imported {
    /// The trace.
    pub file: String,
    /// What it is of, as its header says.
    pub kind: &'static str,
    /// Events read.
    pub events: u64,
    /// Rows written.
    pub rows: u64,
    /// Events lost while recording.
    pub lost: u64,
    /// What was freed or changed and was there before the recording.
    pub unknown_at_start: u64,
    /// Frees that were not seen.
    pub implied_frees: u64,
    /// Differences from the last snapshot, if there is one.
    pub differences: Option<u64>,
    /// What is missing or odd.
    pub warnings: Vec<String>,
}

/// Reads recordings and writes the trace, to `into` or beside where the program runs under the recording's name.
///
/// # Errors
/// A file cannot be read as what it is, or the trace not be written.
pub fn run(
    files: &[PathBuf],
    into: Option<&Path>,
    vmallocinfo: &[PathBuf],
    kind: Option<Kind>,
) -> anyhow::Result<Imported> {
    let named = files.first().and_then(|file| file.file_name()).and_then(|name| name.to_str());
    // Standard input has no name, and one that begins like an option is no name for other commands.
    let is_name = |name: &&str| !name.is_empty() && !name.starts_with('-');
    let named = named.and_then(|name| name.split('.').next()).filter(is_name);
    let file = into.map_or_else(|| format!("{}.csv.zst", named.unwrap_or("imported")).into(), Path::to_owned);
    check_form(&file)?;
    output::keep(files.iter().chain(vmallocinfo), &file)?;
    let options = Options { vmallocinfo: vmallocinfo.to_vec(), kind };
    let summary = output::write_with(&file, |out| -> anyhow::Result<_> {
        Form::of(&file).write(out, |mut text| Ok(import(files, &options, &mut text)?))
    })?;
    Ok(Imported::new(&file, summary))
}

/// Whether a file is a trace already, which can be written in another form.
pub fn is_trace(file: &Path) -> bool {
    let kind = if file.is_dir() { None } else { FileKind::of(file).ok() };
    matches!(kind, Some(FileKind::Trace(_) | FileKind::TreeEvents))
}

/// Writes a trace in another form, as the name of the file that it goes to says: the same lines, plain, compressed or in Parquet.
///
/// # Errors
/// It cannot be read or written, or is no trace.
pub fn rewrite(trace: &Path, into: &Path) -> anyhow::Result<()> {
    check_form(into)?;
    let reader = freehold_trace::open(trace);
    let mut reader = reader.with_context(|| format!("{} cannot be read", trace.display()))?;
    let written = output::write_with(into, |out| {
        Form::of(into).write(out, |mut text| Ok(std::io::copy(&mut reader, &mut text).map(drop)?))
    });
    written.with_context(|| format!("{} cannot be written in another form", trace.display()))
}

/// That a trace can be written in the form that a file's name asks for.
///
/// # Errors
/// In Parquet it cannot, by this program.
pub fn check_form(file: &Path) -> anyhow::Result<()> {
    Form::of(file).check().or_else(|why| usage(format!("{}: {why}", file.display())))
}

impl Imported {
    /// What became of it.
    pub fn new(file: &Path, summary: Summary) -> Self {
        let Summary { kind, events, rows, lost, unknown, implied_frees, differences, warnings } = summary;
        let (file, kind, unknown_at_start) = (shown(file), kind.map_or("", Kind::name), unknown);
        Self { file, kind, events, rows, lost, unknown_at_start, implied_frees, differences, warnings }
    }

    /// For people: what was found, a line each, and what to run next.
    #[must_use]
    pub fn text(&self) -> String {
        let line =
            |number, thing, more: &str| format!("{:>12} {}{more}", count(number), of_number(number, thing));
        let rows = counted(self.rows, "row");
        let mut lines = vec![
            line(self.events, "event", &format!(" of kind {}, {rows}", self.kind)),
            format!("{:>12} lost while recording", count(self.lost)),
            format!("{:>12} unknown: was there before the recording", count(self.unknown_at_start)),
        ];
        if self.implied_frees > 0 {
            lines.push(line(self.implied_frees, "free", " not seen: the place was handed out again"));
        }
        lines.extend(self.differences.map(|number| {
            let more = if number == 0 { ": the last snapshot agrees" } else { " from the last snapshot" };
            line(number, "difference", more)
        }));
        lines.extend(self.warnings.iter().map(|warning| format!("warning: {}", plain(warning))));
        if self.rows > LONGEST {
            lines.push(format!("warning: replay reads {LONGEST} rows of a file at most"));
        }
        let next = if self.kind == Kind::Mt.name() { "inspect" } else { "replay" };
        lines.push(format!("next: freehold {next} {}", plain(&self.file)));
        // Last, so that it is not overlooked.
        if self.lost > 0 {
            lines.push(format!(
                "warning: {} {} lost: what a replay says of agreement means nothing",
                counted(self.lost, "event"),
                if self.lost == 1 { "is" } else { "are" }
            ));
        }
        lines.join("\n") + "\n"
    }

    /// One JSON document.
    #[must_use]
    pub fn json(&self) -> String {
        format!("{}\n", serde_json::json!({ "schema": "freehold-import/1", "import": self }))
    }
}

/// Rows of a trace that are read back at most.
const LONGEST: u64 = freehold_trace::MOST_LINES - 16;
