//! Recorded traces event by event: what all kinds share.
//!
//! Every line starts with the time since the line before, the CPU and the task; what follows is up to the
//! kind. Cost: one line of memory.

use crate::{Fields, Kind, Lines, TraceError, TraceHeader};
use std::marker::PhantomData;
use std::path::Path;

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
}

/// The events of a file, in order.
pub struct EventReader<E> {
    lines: Lines,
    header: TraceHeader,
    now_ns: u64,
    ended: bool,
    events: PhantomData<fn() -> E>,
}

impl<E: TraceEvent> EventReader<E> {
    /// Opens a trace of the events' kind.
    ///
    /// # Errors
    /// The file cannot be opened, or is no such trace.
    pub fn open(file: &Path) -> Result<Self, TraceError> {
        Self::new(Lines::open(file)?)
    }

    /// Reads the header.
    ///
    /// # Errors
    /// It is no trace of the events' kind.
    pub fn new(mut lines: Lines) -> Result<Self, TraceError> {
        let header = TraceHeader::read(&mut lines)?;
        if header.kind != E::KIND {
            let reason = format!("a trace of kind {}, not {}", header.kind.name(), E::KIND.name());
            return Err(lines.error(reason));
        }
        Ok(Self { lines, header, now_ns: 0, ended: false, events: PhantomData })
    }

    /// What the file says of itself.
    #[must_use]
    pub fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// An error at the line of the event that was read last.
    pub fn error(&self, reason: impl Into<String>) -> TraceError {
        self.lines.error(reason)
    }

    fn read(&mut self) -> Result<Option<E>, TraceError> {
        let now_ns = self.now_ns;
        let parsed = match self.lines.advance()? {
            Some(text) => parse(text, now_ns),
            None => return Ok(None),
        };
        let (at_ns, event) = parsed.map_err(|reason| self.lines.error(reason))?;
        self.now_ns = at_ns;
        Ok(Some(event))
    }
}

impl<E: TraceEvent> Iterator for EventReader<E> {
    type Item = Result<E, TraceError>;

    /// Nothing follows the end or an error.
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let event = self.read().transpose();
        self.ended = !matches!(event, Some(Ok(_)));
        event
    }
}

fn parse<E: TraceEvent>(text: &str, now_ns: u64) -> Result<(u64, E), String> {
    let mut fields = Fields::new(text, ',');
    let at_ns = now_ns.checked_add(fields.value("dt_ns")?).ok_or("the time passes 2^64 ns")?;
    let stamp = Stamp { at_ns, cpu: fields.value("cpu")?, tid: fields.value("tid")? };
    let event = E::parse(stamp, &mut fields)?;
    fields.end().map(|()| (at_ns, event))
}
