//! A file or folder of any kind becomes a trace.
//!
//! The kind of a file is found from its content. Cost: one pass; memory as [`crate::convert`] says; a compressed file of a binary
//! kind is decompressed into a temporary one.

use crate::Error;
use crate::convert::{Summary, convert};
use crate::event::What;
use crate::folder::{Meta, Origin, RECORDING};
use crate::recording::{Recording, check_events, open_folder};
use crate::snapshot::Snapshots;
use crate::source::Events;
use crate::text::Text;
use crate::text::line::{Shared, head};
use crate::text::strace::{self, Strace};
use crate::text::{maps, vmallocinfo};
use crate::{perf_data, trace_dat};
use freehold_trace::{Kind, Lines};
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes of a decompressed binary file at most.
const MOST_BYTES: u64 = 4 << 30;
/// Lines that are looked at to tell what a text is.
const LOOKED_AT: usize = 1 << 10;
/// Events without a kind before the first that has one, at most.
const MOST_UNDECIDED: usize = 1 << 16;

/// What an import is told besides its files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `/proc/vmallocinfo` before and, if there is a second one, after the events.
    pub vmallocinfo: Vec<PathBuf>,
    /// Which events are wanted of a file that has several kinds; else those of the first.
    pub kind: Option<Kind>,
}

/// Reads a recording, whose kind is found from its content, and writes the trace. Files of `/proc/vmallocinfo` may be among the
/// others.
///
/// # Errors
/// A file cannot be read as what it is, or `out` not be written.
pub fn import(files: &[PathBuf], options: &Options, out: &mut impl Write) -> Result<Summary, Error> {
    let (mut recordings, mut snapshots) = (Vec::new(), options.vmallocinfo.clone());
    for file in files {
        match looked_at(file)? {
            Looks::Areas => snapshots.push(file.clone()),
            looks => recordings.push((file, looks)),
        }
    }
    let (file, looks) = match (recordings.pop(), recordings.pop()) {
        (Some(one), None) => one,
        (Some((file, _)), Some(_)) => {
            return Err(Error::unfit(
                file,
                "one recording at a time; other files may be of /proc/vmallocinfo",
            ));
        }
        (None, _) => {
            let file = files.first().map_or(Path::new("-"), PathBuf::as_path);
            return Err(Error::unfit(file, "no recording: /proc/vmallocinfo alone is none"));
        }
    };
    // Held until all is read.
    let mut unpacked = None;
    let mut recording = open(file, looks, &mut unpacked)?;
    read_snapshots(&snapshots, &mut recording.snapshots)?;
    let (mut meta, mut events) = (recording.meta, recording.events);
    let kind = match (meta.kind, options.kind) {
        (Some(kind), Some(wanted)) if kind != wanted => {
            let what = format!("a recording of kind {}, not {}", kind.name(), wanted.name());
            return Err(Error::unfit(file, what));
        }
        (Some(kind), _) | (None, Some(kind)) => kind,
        (None, None) => kind_of(&mut events, file)?,
    };
    if !meta.page_bytes.is_power_of_two() {
        return Err(Error::unfit(file, format!("a page of {} bytes is no power of two", meta.page_bytes)));
    }
    if meta.command.is_empty() {
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        name.split('.').next().unwrap_or_default().clone_into(&mut meta.command);
    }
    let mut summary = convert(kind, &meta, &recording.snapshots, &mut events, out)?;
    summary.warnings.extend(events.warnings());
    if summary.rows == 0 && meta.kind.is_some() {
        summary.warnings.push("nothing was recorded".to_owned());
    } else if summary.rows == 0 {
        check_events(kind, file, &meta, |_| false)?;
    }
    Ok(summary)
}

/// What a file looks like.
enum Looks {
    Folder,
    PerfData,
    TraceDat,
    /// Lines of the shared grammar.
    Text(Origin),
    Strace,
    /// `/proc/vmallocinfo`.
    Areas,
}

fn looked_at(file: &Path) -> Result<Looks, Error> {
    if file.is_dir() {
        return Ok(Looks::Folder);
    }
    let mut reader = opened(file)?;
    let first = reader.fill_buf().map_err(Error::open(file))?;
    if first.starts_with(perf_data::MAGIC) {
        return Ok(Looks::PerfData);
    }
    if first.starts_with(trace_dat::MAGIC) {
        return Ok(Looks::TraceDat);
    }
    let (mut lines, mut origin) = (Lines::open(file)?.lossy(), Origin::Perf);
    for _ in 0..LOOKED_AT {
        let Some(text) = lines.advance()? else { break };
        if text.starts_with("#vml-trace") {
            return Err(Error::unfit(file, "a trace already: replay it"));
        }
        if text.starts_with(crate::folder::TITLE) {
            return Err(Error::unfit(file, format!("the file `{RECORDING}` of a folder: import the folder")));
        }
        if text.starts_with("# tracer:") {
            origin = Origin::Tracefs;
        }
        if text.starts_with("cpus=") {
            origin = Origin::TraceCmd;
        }
        if text.trim().is_empty() || text.starts_with('#') || text.starts_with("cpus=") {
            continue;
        }
        if vmallocinfo::looks_like(text) {
            return Ok(Looks::Areas);
        }
        if maps::line(text).is_some() {
            return Err(Error::unfit(file, "mappings of a process, without events"));
        }
        if let Some(head) = head(text) {
            return Ok(Looks::Text(if head.whole { Origin::Bpftrace } else { origin }));
        }
        if strace::looks_like(text) {
            return Ok(Looks::Strace);
        }
        if ["CPU:", "version =", "CPU "].iter().any(|start| text.starts_with(start)) {
            continue;
        }
        if text.split(' ').nth(3) == Some("type:") {
            return Ok(Looks::Text(Origin::Tracefs));
        }
        let kinds = "perf.data, perf script, trace.dat, trace-cmd report, ftrace text, bpftrace rows, strace";
        let what = format!("of no known kind: neither a folder of `record` nor {kinds}");
        return Err(lines.error(what).into());
    }
    Err(Error::unfit(file, "no event in the first lines"))
}

fn opened(file: &Path) -> Result<Box<dyn BufRead>, Error> {
    freehold_trace::open(file).map_err(Error::open(file))
}

fn open(
    file: &Path,
    looks: Looks,
    unpacked: &mut Option<tempfile::NamedTempFile>,
) -> Result<Recording, Error> {
    let of_text = |origin, events| {
        let (meta, snapshots) = (Meta::unknown(origin), Snapshots::default());
        Recording { meta, snapshots, events }
    };
    Ok(match looks {
        Looks::Folder => open_folder(file)?,
        Looks::PerfData => perf_data::open(plain(file, perf_data::MAGIC, unpacked)?)?,
        Looks::TraceDat => trace_dat::open(plain(file, trace_dat::MAGIC, unpacked)?)?,
        Looks::Text(origin) => {
            of_text(origin, Events::new(Text::new(Lines::open(file)?.lossy(), Shared::default())))
        }
        Looks::Strace => {
            of_text(Origin::Strace, Events::new(Text::new(Lines::open(file)?.lossy(), Strace::default())))
        }
        Looks::Areas => return Err(Error::unfit(file, "no recording")),
    })
}

/// The file itself, or what it is decompressed to.
fn plain<'a>(
    file: &'a Path,
    magic: &[u8],
    unpacked: &'a mut Option<tempfile::NamedTempFile>,
) -> Result<&'a Path, Error> {
    let mut first = vec![0; magic.len()];
    let read = fs::File::open(file).and_then(|mut file| file.read_exact(&mut first));
    if read.is_ok() && first == magic && !freehold_trace::is_pipe(file) {
        return Ok(file);
    }
    let mut into = tempfile::NamedTempFile::new()?;
    let copied = io::copy(&mut opened(file)?.take(MOST_BYTES), &mut into)
        .map_err(|error| Error::unfit(file, format!("cannot be read: {error}")))?;
    if copied == MOST_BYTES {
        return Err(Error::unfit(file, format!("more than {} GiB", MOST_BYTES >> 30)));
    }
    Ok(unpacked.insert(into).path())
}

fn read_snapshots(files: &[PathBuf], snapshots: &mut Snapshots) -> Result<(), Error> {
    let mut moments = [&mut snapshots.start, &mut snapshots.end].into_iter();
    for file in files {
        let Some(moment) = moments.next() else {
            return Err(Error::unfit(file, "more than two files of /proc/vmallocinfo"));
        };
        moment.areas = Some(vmallocinfo::read(Lines::open(file)?)?);
    }
    Ok(())
}

/// The kind of the first event that has one.
fn kind_of(events: &mut Events, file: &Path) -> Result<Kind, Error> {
    let kind = events.find(MOST_UNDECIDED, |event| match event.what {
        What::AreaAlloc { .. } | What::AreaFree { .. } | What::AreaPurge { .. } => Some(Kind::Kva),
        What::ObjectAlloc { .. } | What::ObjectFree { .. } | What::ObjectFail { .. } => Some(Kind::Pcpu),
        What::Call { .. } | What::GapSearch { .. } => Some(Kind::Vma),
        What::Tree { .. } => Some(Kind::Mt),
        _ => None,
    })?;
    let wanted = "vmalloc, percpu, maple_tree, mmap or memory calls";
    kind.ok_or_else(|| Error::unfit(file, format!("none of the events that are of use: {wanted}")))
}
