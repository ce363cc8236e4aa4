//! Recorded traces event by event: what all kinds share.
//!
//! Every line starts with the time since the line before, the CPU and the task; what follows is up to the kind.

use crate::{Fields, Format, Kind, Lines, Reader, TraceError, TraceHeader};
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
        let Some(text) = lines.advance()? else { return Ok(None) };
        let parsed = parse(text, self.now_ns);
        let (at_ns, event) = parsed.map_err(|reason| lines.error(reason))?;
        self.now_ns = at_ns;
        Ok(Some(event))
    }
}

impl<E: TraceEvent> EventReader<E> {
    /// What the file says of itself.
    #[must_use]
    pub fn header(&self) -> &TraceHeader {
        &self.format.header
    }
}

fn parse<E: TraceEvent>(text: &str, now_ns: u64) -> Result<(u64, E), String> {
    let mut fields = Fields::new(text, ',');
    let at_ns = now_ns.checked_add(fields.value("dt_ns")?).ok_or("the time passes 2^64 ns")?;
    let stamp = Stamp { at_ns, cpu: fields.value("cpu")?, tid: fields.value("tid")? };
    let event = E::parse(stamp, &mut fields)?;
    fields.end().map(|()| (at_ns, event))
}
