//! Recorded events of kernel virtual areas, `*.kva.csv`.

use crate::{Fields, Kind, Lines, TraceError, TraceHeader};
use freehold_units::{Align, Span};
use std::path::Path;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// Live when recording started.
    Initial,
    /// Freed lazily before recording started, not purged yet.
    InitialLazy,
    /// Allocated.
    Alloc,
    /// Freed lazily.
    Free,
    /// Freed, but its allocation was not seen.
    FreeUnknown,
    /// Must have been freed: its address was handed out again.
    FreeImplied,
    /// Lazily freed areas returned to the free space.
    Purge,
    /// An allocation failed.
    Failed,
}

impl EventKind {
    /// The letter that stands in files, and a few words for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "live at the start",
            Self::InitialLazy => "lazily freed before the start",
            Self::Alloc => "allocation",
            Self::Free => "free",
            Self::FreeUnknown => "free of an unknown object",
            Self::FreeImplied => "implied free",
            Self::Purge => "purge of lazily freed areas",
            Self::Failed => "failed allocation",
        }
    }

    fn from_letter(letter: &str) -> Option<Self> {
        Some(match letter {
            "I" => Self::Initial,
            "L" => Self::InitialLazy,
            "A" => Self::Alloc,
            "F" => Self::Free,
            "U" => Self::FreeUnknown,
            "G" => Self::FreeImplied,
            "P" => Self::Purge,
            "X" => Self::Failed,
            _ => return None,
        })
    }
}

/// One recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since the recording started.
    pub at_ns: u64,
    /// The CPU it happened on.
    pub cpu: u32,
    /// The task.
    pub tid: u32,
    /// What happened.
    pub kind: EventKind,
    /// The object, from 1, never reused.
    pub object: Option<u32>,
    /// Its address as Linux chose it, and its size in bytes, guard page included.
    pub span: Option<Span>,
    /// The alignment asked for.
    pub align: Option<Align>,
    /// Where it had to lie.
    pub window: Option<Span>,
    /// The caller, or the count of lazy pages.
    pub note: String,
}

/// The events of a file, in order.
pub struct Events {
    lines: Lines,
    header: TraceHeader,
    now_ns: u64,
}

impl Events {
    /// Opens a trace of kind `kva`.
    ///
    /// # Errors
    /// The file cannot be opened, or is no such trace.
    pub fn open(file: &Path) -> Result<Self, TraceError> {
        Self::new(Lines::open(file)?)
    }

    /// Reads the header.
    ///
    /// # Errors
    /// It is no trace of kind `kva`.
    pub fn new(mut lines: Lines) -> Result<Self, TraceError> {
        let header = TraceHeader::read(&mut lines)?;
        if header.kind != Kind::Kva {
            return Err(lines.error(format!("a trace of kind {}, not kva", header.kind.name())));
        }
        Ok(Self { lines, header, now_ns: 0 })
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

    fn read(&mut self) -> Result<Option<Event>, TraceError> {
        let now_ns = self.now_ns;
        let parsed = match self.lines.advance()? {
            Some(text) => parse(text, now_ns),
            None => return Ok(None),
        };
        let event = parsed.map_err(|reason| self.lines.error(reason))?;
        self.now_ns = event.at_ns;
        Ok(Some(event))
    }
}

impl Iterator for Events {
    type Item = Result<Event, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

fn parse(text: &str, now_ns: u64) -> Result<Event, String> {
    let mut fields = Fields::new(text, ',');
    let at_ns = now_ns.checked_add(fields.value("dt_ns")?).ok_or("the time passes 2^64 ns")?;
    let (cpu, tid) = (fields.value("cpu")?, fields.value("tid")?);
    let letter = fields.text("op")?;
    let kind = EventKind::from_letter(letter).ok_or_else(|| format!("unknown op {letter:?}"))?;
    let object = fields.optional("obj")?;
    let (address, size) = (fields.optional_hex("addr")?, fields.optional::<u64>("size")?);
    let align = fields.optional::<u64>("align")?;
    let align = align.map(|bytes| Align::new(bytes).ok_or("align is not a power of two")).transpose()?;
    let (start, end) = (fields.optional_hex("vstart")?, fields.optional_hex("vend")?);
    let note = fields.text("aux")?.to_owned();
    fields.end()?;
    let span = match (address, size) {
        (Some(address), Some(size)) => {
            Some(Span::from_size(address, size).ok_or("address and size make no span")?)
        }
        _ => None,
    };
    let window = match (start, end) {
        (Some(start), Some(end)) => {
            Some(end.checked_sub(1).and_then(|last| Span::new(start, last)).ok_or("the window is empty")?)
        }
        _ => None,
    };
    let needs = match kind {
        EventKind::Initial => object.is_some() && span.is_some(),
        EventKind::Alloc => object.is_some() && span.is_some() && align.is_some() && window.is_some(),
        EventKind::Free | EventKind::FreeImplied => object.is_some(),
        _ => true,
    };
    if !needs {
        return Err(format!("a {} lacks a field that it needs", kind.name()));
    }
    Ok(Event { at_ns, cpu, tid, kind, object, span, align, window, note })
}
