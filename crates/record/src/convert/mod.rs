//! Events and snapshots become rows of a trace.
//!
//! Each kind has its own converter, which knows what is live. Cost: a look-up for each event; memory for what is live, the names
//! of tasks, and the events that happened while the first snapshot was taken.

mod cover;
mod kva;
mod mt;
mod percpu;
mod vma;

use crate::Error;
use crate::event::{Event, What};
use crate::folder::Meta;
use crate::snapshot::Snapshots;
use freehold_trace::{EventWriter, Kind, Stamp, TraceHeader};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::rc::Rc;

/// Tasks whose names are kept, at most.
const MOST_TASKS: usize = 1 << 20;

/// What became of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// What was recorded, as it stands in the trace's header.
    pub kind: Option<Kind>,
    /// Events read.
    pub events: u64,
    /// Rows written.
    pub rows: u64,
    /// Events lost while recording.
    pub lost: u64,
    /// Frees and changes of what was there before the recording and is not known.
    pub unknown: u64,
    /// Frees that were not seen: the place was handed out again.
    pub implied_frees: u64,
    /// Differences between what is live after the last event and the last snapshot; nothing without such a snapshot.
    pub differences: Option<u64>,
    /// What is missing or odd, a sentence each.
    pub warnings: Vec<String>,
}

/// Writes a whole trace of these events as those of a kind, which come in order of time; of an event that is earlier than the one before, the
/// time is that one's. The rows go through a temporary file, since the header says how many events were lost.
///
/// # Errors
/// An event cannot be read, or `out` not be written.
pub fn convert(
    kind: Kind,
    meta: &Meta,
    snapshots: &Snapshots,
    events: impl Iterator<Item = Result<Event, Error>>,
    out: &mut impl Write,
) -> Result<Summary, Error> {
    let rows = Rows::new(kind, meta).and_then(|rows| match kind {
        Kind::Kva => kva::convert(snapshots, meta, events, rows),
        Kind::Pcpu => percpu::convert(snapshots, events, rows),
        Kind::Vma => vma::convert(snapshots, meta, events, rows),
        Kind::Mt => mt::convert(events, rows),
    });
    let finished = rows.and_then(|rows| Ok((rows.cpus, rows.finish()?)));
    let (cpus, (summary, mut written)) = finished.map_err(|error| match error {
        Error::Write(reason) => {
            Error::unfit(&std::env::temp_dir(), format!("a temporary file cannot be written: {reason}"))
        }
        error => error,
    })?;
    header(kind, meta, cpus, summary.lost).write(out)?;
    written.rewind()?;
    io::copy(&mut written, out)?;
    out.flush()?;
    Ok(summary)
}

/// The header of the trace.
fn header(kind: Kind, meta: &Meta, seen_cpus: u32, lost_records: u64) -> TraceHeader {
    let mut words = Vec::new();
    let mut word = |key: &str, value: Option<String>| {
        words.extend(value.filter(|value| !value.is_empty()).map(|value| (key.to_owned(), value)));
    };
    let cpus = |number: u32| (number > 0).then(|| number.to_string());
    word("possible", cpus(meta.possible));
    word("online", cpus(meta.online));
    if kind == Kind::Kva {
        word("pools", Some(meta.pools.name().to_owned()));
    }
    word("source", Some(meta.source.name().to_owned()));
    word("arch", Some(meta.arch.clone()));
    word("boot", Some(if meta.boot { "yes" } else { "no" }.to_owned()));
    word("overcommit", meta.overcommit.map(|value| value.to_string()));
    word("mmap_min_addr", meta.mmap_min_addr.map(|value| value.to_string()));
    word("stack_limit", meta.stack_limit.map(|value| value.to_string()));
    let program = meta.command.split_ascii_whitespace().next().unwrap_or("recording");
    let program = program.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("recording");
    TraceHeader {
        kind,
        kernel: meta.release.clone(),
        cpus: meta.online.max(meta.possible).max(seen_cpus),
        page_bytes: meta.page_bytes,
        workload: program.replace(':', "_"),
        description: meta.command.clone(),
        lost_records,
        words,
    }
}

/// What all converters write through.
struct Rows {
    writer: EventWriter<BufWriter<File>>,
    /// When the recording began; the first event's time where that is not known.
    start: Option<u64>,
    /// The time of the last event.
    now: u64,
    tasks: BTreeMap<u32, Rc<str>>,
    /// Lost events by CPU, as the rows say; no number where one gap does not tell.
    gaps: BTreeMap<u32, u64>,
    /// Lost events by CPU, as the recorder says.
    lost: BTreeMap<u32, u64>,
    /// Events of other kinds, which are left out.
    others: u64,
    /// One more than the highest CPU that an event is of.
    cpus: u32,
    summary: Summary,
}

impl Rows {
    fn new(kind: Kind, meta: &Meta) -> Result<Self, Error> {
        Ok(Self {
            writer: EventWriter::new(BufWriter::new(tempfile::tempfile()?)),
            start: (meta.start_ns > 0).then_some(meta.start_ns),
            now: 0,
            tasks: BTreeMap::new(),
            gaps: BTreeMap::new(),
            lost: meta.lost.clone(),
            others: 0,
            cpus: 1,
            summary: Summary { kind: Some(kind), ..Summary::default() },
        })
    }

    /// Counts an event, and says when and where it was. A gap is written here.
    fn take(&mut self, event: &Event) -> Result<Stamp, Error> {
        let at = event.at;
        event.what.check().map_err(|what| Error::Odd { at, what })?;
        self.summary.events += 1;
        // What a tool tells of the time before has no time.
        let start = if event.at == 0 { self.start.unwrap_or(0) } else { *self.start.get_or_insert(event.at) };
        self.now = self.now.max(event.at);
        self.cpus = self.cpus.max(event.cpu.saturating_add(1));
        if let Some(comm) = &event.comm
            && (self.tasks.len() < MOST_TASKS || self.tasks.contains_key(&event.tid))
        {
            self.tasks.insert(event.tid, Rc::clone(comm));
        }
        if let What::Lost { count } = event.what {
            self.summary.events -= 1;
            let gap = self.gaps.entry(event.cpu).or_default();
            *gap = gap.saturating_add(count.unwrap_or(1));
            self.writer.lost(count, event.cpu)?;
        }
        Ok(Stamp { at_ns: self.now.saturating_sub(start), cpu: event.cpu, tid: event.tid })
    }

    fn row<E: freehold_trace::TraceEvent>(&mut self, row: &E) -> Result<(), Error> {
        self.summary.rows += 1;
        Ok(self.writer.event(row)?)
    }

    /// An event that is of another kind.
    fn other(&mut self, what: &What) {
        match what {
            What::Lost { .. } => {}
            // What becomes of tasks is recorded beside everything.
            What::KernelMapping(_) | What::Exec | What::Exit | What::Fork { .. } | What::Thread { .. } => {
                self.summary.events -= 1;
            }
            _ => self.others += 1,
        }
    }

    fn warn(&mut self, what: impl Into<String>) {
        self.summary.warnings.push(what.into());
    }

    /// Ends the rows: what became of the recording, and the file that has them.
    fn finish(mut self) -> Result<(Summary, File), Error> {
        for (tid, name) in &self.tasks {
            self.writer.task(*tid, name)?;
        }
        // The recorder's count and the gaps' are of the same events.
        for (cpu, gap) in self.gaps {
            let lost = self.lost.entry(cpu).or_default();
            *lost = gap.max(*lost);
        }
        self.summary.lost = self.lost.values().fold(0, |sum, lost| sum.saturating_add(*lost));
        if self.others > 0 {
            let what = format!("{} events of other kinds are left out: --kind picks one", self.others);
            self.summary.warnings.push(what);
        }
        let file = self.writer.into_inner().into_inner();
        Ok((self.summary, file.map_err(io::IntoInnerError::into_error)?))
    }
}
