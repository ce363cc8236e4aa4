//! Recorded events of kernel virtual areas, `*.kva.csv`.

use crate::events::{field, put, put_hex};
use crate::named::named;
use crate::{EventReader, Fields, Kind, Stamp, TraceEvent};
use freehold_units::{Align, Span};
use std::io::{self, Write};

named! {
    /// What happened. An implied free was not seen: the address was handed out again.
    EventKind {
        Initial "I" "live at the start"
        InitialLazy "L" "lazily freed before the start"
        Alloc "A" "allocation"
        Free "F" "free"
        FreeUnknown "U" "free of an unknown object"
        FreeImplied "G" "implied free"
        Purge "P" "purge of lazily freed areas"
        Failed "X" "failed allocation"
        PurgeWork "W" "start or end of purge work"
        ChunkCreated "C" "per-CPU chunk created"
        ChunkDestroyed "D" "per-CPU chunk destroyed"
    }
}

impl EventKind {
    /// Whether it tells what was there when the recording began: it happened at no time, and has no rate.
    #[must_use]
    pub fn is_initial(self) -> bool {
        matches!(self, Self::Initial | Self::InitialLazy)
    }
}

/// One recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When and where it happened.
    pub stamp: Stamp,
    /// What happened.
    pub kind: EventKind,
    /// The object, from 1, never reused.
    pub object: Option<u32>,
    /// Its address as Linux chose it.
    pub address: Option<u64>,
    /// Its size in bytes, guard page included.
    pub size_bytes: Option<u64>,
    /// Both, where both are known.
    pub span: Option<Span>,
    /// The alignment asked for.
    pub align: Option<Align>,
    /// Where it had to lie.
    pub window: Option<Span>,
    /// The caller; the node of what is lazily freed; pages that are; areas that are purged; `start` or `end`.
    pub note: String,
}

/// The events of a file, in order.
pub type Events = EventReader<Event>;

impl TraceEvent for Event {
    const KIND: Kind = Kind::Kva;

    fn parse(stamp: Stamp, fields: &mut Fields<'_>) -> Result<Self, String> {
        let kind = fields.choice("op", EventKind::named)?;
        let object = fields.optional("obj")?;
        let (address, size_bytes) = (fields.optional_hex("addr")?, fields.optional::<u64>("size")?);
        let align = fields.optional_align("align")?;
        let (start, end) = (fields.optional_hex("vstart")?, fields.optional_hex("vend")?);
        let note = fields.text("aux")?.to_owned();
        let span = match (address, size_bytes) {
            (Some(address), Some(size)) => {
                Some(Span::from_size(address, size).ok_or("address and size make no span")?)
            }
            _ => None,
        };
        let window = match (start, end) {
            // The first address behind the last of all is 0.
            (Some(start), Some(end)) => {
                Some(Span::new(start, end.wrapping_sub(1)).ok_or("the window is empty")?)
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
            return Err(format!("a field that is needed is missing: {}", kind.about()));
        }
        Ok(Self { stamp, kind, object, address, size_bytes, span, align, window, note })
    }

    fn stamp(&self) -> Stamp {
        self.stamp
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{},", self.kind.name())?;
        put(out, self.object)?;
        put_hex(out, self.address)?;
        put(out, self.size_bytes)?;
        put(out, self.align.map(Align::bytes))?;
        put_hex(out, self.window.map(Span::first))?;
        put_hex(out, self.window.map(|window| window.last().wrapping_add(1)))?;
        write!(out, "{}", field(&self.note))
    }
}
