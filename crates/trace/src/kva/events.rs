//! Recorded events of kernel virtual areas, `*.kva.csv`.

use crate::{EventReader, Fields, Kind, Stamp, TraceEvent};
use freehold_units::{Align, Span};

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
pub type Events = EventReader<Event>;

impl TraceEvent for Event {
    const KIND: Kind = Kind::Kva;

    fn parse(stamp: Stamp, fields: &mut Fields<'_>) -> Result<Self, String> {
        let letter = fields.text("op")?;
        let kind = EventKind::from_letter(letter).ok_or_else(|| format!("unknown op {letter:?}"))?;
        let object = fields.optional("obj")?;
        let (address, size) = (fields.optional_hex("addr")?, fields.optional::<u64>("size")?);
        let align = fields.optional_align("align")?;
        let (start, end) = (fields.optional_hex("vstart")?, fields.optional_hex("vend")?);
        let note = fields.text("aux")?.to_owned();
        let span = match (address, size) {
            (Some(address), Some(size)) => {
                Some(Span::from_size(address, size).ok_or("address and size make no span")?)
            }
            _ => None,
        };
        let window = match (start, end) {
            (Some(start), Some(end)) => Some(
                end.checked_sub(1).and_then(|last| Span::new(start, last)).ok_or("the window is empty")?,
            ),
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
        let Stamp { at_ns, cpu, tid } = stamp;
        Ok(Self { at_ns, cpu, tid, kind, object, span, align, window, note })
    }
}
