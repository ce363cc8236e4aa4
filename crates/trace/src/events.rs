//! Recorded traces event by event: what all kinds share.
//!
//! Every line starts with the time since the line before, the CPU and the task; what follows is up to the kind.

use crate::{Fields, Format, Kind, Lines, Reader, TraceError, TraceHeader};
use std::fmt::Display;
use std::io::{self, Write};
use std::marker::PhantomData;

/// When and where an event happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since the recording started.
    pub at_ns: u64,
    /// The CPU it happened on.
    pub cpu: u32,
    /// The task.
    pub tid: u32,
}

/// An event of one kind of trace.
pub trait TraceEvent: Sized {
    /// The kind of trace that holds such events.
    const KIND: Kind;

    /// Reads the fields after the stamp. All must be taken; the caller checks that none is left.
    ///
    /// # Errors
    /// What is wrong with them.
    fn parse(stamp: Stamp, fields: &mut Fields<'_>) -> Result<Self, String>;

    /// When and where it happened.
    fn stamp(&self) -> Stamp;

    /// Writes the fields after the stamp as [`TraceEvent::parse`] reads them, the end of the line not included.
    ///
    /// # Errors
    /// Those of `out`.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// A trace whose lines are events of one kind.
pub struct TraceFormat<E> {
    header: TraceHeader,
    now_ns: u64,
    events: PhantomData<fn() -> E>,
}

/// The events of a file, in order.
pub type EventReader<E> = Reader<TraceFormat<E>>;

impl<E: TraceEvent> Format for TraceFormat<E> {
    type Record = E;

    fn begin(lines: &mut Lines) -> Result<Self, TraceError> {
        let header = TraceHeader::read(lines)?;
        if header.kind != E::KIND {
            let reason = format!("a trace of kind {}, not {}", header.kind.name(), E::KIND.name());
            return Err(lines.error(reason));
        }
        Ok(Self { header, now_ns: 0, events: PhantomData })
    }

    fn read(&mut self, lines: &mut Lines) -> Result<Option<E>, TraceError> {
        loop {
            let Some(text) = lines.advance()? else { return Ok(None) };
            if let Some(note) = text.strip_prefix('#') {
                note_is_known(note).map_err(|reason| lines.error(reason))?;
                continue;
            }
            let parsed = parse(text, self.now_ns);
            let (at_ns, event) = parsed.map_err(|reason| lines.error(reason))?;
            self.now_ns = at_ns;
            return Ok(Some(event));
        }
    }
}

/// Lines among the rows that are no events: `# lost N cpu C`, and the names of tasks, `#task TID NAME`.
fn note_is_known(note: &str) -> Result<(), String> {
    let mut fields = Fields::new(note, ' ');
    match fields.text("the note")? {
        "" => {
            fields.word("lost")?;
            if fields.clone().text("lost")? == "?" {
                fields.word("?")?;
            } else {
                fields.value::<u64>("lost")?;
            }
            fields.named::<u32>("cpu")?;
            fields.end()
        }
        "task" => fields.value::<u32>("the task").map(drop),
        _ => Err("a line among the events that begins with # is `# lost` or `#task`".to_owned()),
    }
}

impl<E: TraceEvent> EventReader<E> {
    /// What the file says of itself.
    #[must_use]
    pub fn header(&self) -> &TraceHeader {
        &self.format.header
    }

    /// An error of a word of its first line.
    pub fn header_error(&self, reason: impl Into<String>) -> TraceError {
        TraceError::at(self.lines.file(), 1, reason)
    }
}

fn parse<E: TraceEvent>(text: &str, now_ns: u64) -> Result<(u64, E), String> {
    let mut fields = Fields::new(text, ',');
    let at_ns = now_ns.checked_add(fields.value("dt_ns")?).ok_or("the time passes 2^64 ns")?;
    let stamp = Stamp { at_ns, cpu: fields.value("cpu")?, tid: fields.value("tid")? };
    let event = E::parse(stamp, &mut fields)?;
    fields.end().map(|()| (at_ns, event))
}

/// Writes events below a header, one a line.
pub struct EventWriter<W> {
    out: W,
    now_ns: u64,
}

impl<W: Write> EventWriter<W> {
    /// Writes to `out`, which has the header already.
    pub fn new(out: W) -> Self {
        Self { out, now_ns: 0 }
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Writes an event. One that is earlier than the one before is written as of that one's time.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn event<E: TraceEvent>(&mut self, event: &E) -> io::Result<()> {
        let Stamp { at_ns, cpu, tid } = event.stamp();
        write!(self.out, "{},{cpu},{tid},", at_ns.saturating_sub(self.now_ns))?;
        self.now_ns = self.now_ns.max(at_ns);
        event.write(&mut self.out)?;
        writeln!(self.out)
    }

    /// Says that events of this CPU were lost here; how many, if that is known.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn lost(&mut self, count: Option<u64>, cpu: u32) -> io::Result<()> {
        match count {
            Some(count) => writeln!(self.out, "# lost {count} cpu {cpu}"),
            None => writeln!(self.out, "# lost ? cpu {cpu}"),
        }
    }

    /// Says what a task is called; after the last event.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn task(&mut self, tid: u32, name: &str) -> io::Result<()> {
        writeln!(self.out, "#task {tid} {}", name.replace(['\n', '\r'], " "))
    }
}

/// Writes the value, or nothing, and a comma.
pub(crate) fn put(out: &mut dyn Write, value: Option<impl Display>) -> io::Result<()> {
    if let Some(value) = value {
        write!(out, "{value}")?;
    }
    out.write_all(b",")
}

/// Writes the value in hexadecimal digits, or nothing, and a comma.
pub(crate) fn put_hex(out: &mut dyn Write, value: Option<u64>) -> io::Result<()> {
    put(out, value.map(|value| format!("{value:x}")))
}

/// A text that stands in a field: what would end it becomes `_`.
pub(crate) fn field(text: &str) -> String {
    text.replace([',', '\n', '\r'], "_")
}
