//! Recorded events of per-CPU memory, `*.pcpu.csv`.

use crate::events::{field, put};
use crate::named::named;
use crate::{EventReader, Fields, Kind, Stamp, TraceEvent};
use freehold_units::Align;
use std::io::{self, Write};

named! {
    /// What happened. An implied free was not seen: the place was handed out again.
    EventKind {
        Alloc "A" "allocation"
        Free "F" "free"
        FreeUnknown "U" "free of an unknown object"
        FreeImplied "G" "implied free"
        Failed "X" "failed allocation"
        ChunkCreated "C" "chunk created"
        ChunkDestroyed "D" "chunk destroyed"
    }
}

/// Bytes of a unit at most: the kernel's offsets are shorter.
pub const MOST_UNIT_BYTES: u64 = 1 << 32;

/// What an allocation asked for besides a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocFlags {
    /// From the part of the first chunk that is kept for modules.
    pub reserved: bool,
    /// The caller could not wait.
    pub atomic: bool,
    /// Charged to a control group.
    pub accounted: bool,
}

impl AllocFlags {
    fn from_bits(bits: u64) -> Result<Self, String> {
        if bits > 7 {
            return Err(format!("unknown flags {bits:x}"));
        }
        Ok(Self { reserved: bits & 1 != 0, atomic: bits & 2 != 0, accounted: bits & 4 != 0 })
    }

    fn bits(self) -> u64 {
        u64::from(self.reserved) | u64::from(self.atomic) << 1 | u64::from(self.accounted) << 2
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
    /// The chunk, in the order in which chunks appear.
    pub chunk: Option<u32>,
    /// Where Linux put the object in every unit, in bytes.
    pub offset_bytes: Option<u64>,
    /// Its size in bytes.
    pub size_bytes: Option<u64>,
    /// The alignment asked for.
    pub align: Option<Align>,
    /// What else was asked for.
    pub flags: Option<AllocFlags>,
    /// What it costs for all CPUs, bookkeeping included, in bytes.
    pub charged_bytes: Option<u64>,
    /// The caller; empty where it is not known.
    pub site: String,
}

/// The events of a file, in order.
pub type Events = EventReader<Event>;

impl TraceEvent for Event {
    const KIND: Kind = Kind::Pcpu;

    fn parse(stamp: Stamp, fields: &mut Fields<'_>) -> Result<Self, String> {
        let kind = fields.choice("op", EventKind::named)?;
        let event = Self {
            stamp,
            kind,
            object: fields.optional("obj")?,
            chunk: fields.optional("chunk")?,
            // Decimal, though the format calls offsets hexadecimal.
            offset_bytes: fields.optional("off")?,
            size_bytes: fields.optional("size")?,
            align: fields.optional_align("align")?,
            flags: fields.optional_hex("flags")?.map(AllocFlags::from_bits).transpose()?,
            charged_bytes: fields.optional("bytes_alloc")?,
            site: fields.text("site")?.to_owned(),
        };
        if !event.is_whole() {
            return Err(format!("a field that is needed is missing: {}", kind.about()));
        }
        match (kind, event.offset_bytes, event.size_bytes) {
            (EventKind::Alloc, Some(offset), Some(size)) if !is_object(offset, size) => {
                Err(format!("{size} bytes at offset {offset} are no object"))
            }
            _ => Ok(event),
        }
    }

    fn stamp(&self) -> Stamp {
        self.stamp
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{},", self.kind.name())?;
        put(out, self.object)?;
        put(out, self.chunk)?;
        put(out, self.offset_bytes)?;
        put(out, self.size_bytes)?;
        put(out, self.align.map(Align::bytes))?;
        put(out, self.flags.map(AllocFlags::bits))?;
        put(out, self.charged_bytes)?;
        write!(out, "{}", field(&self.site))
    }
}

/// Whether an object may have this place in its unit, and this size.
#[must_use]
pub fn is_object(offset_bytes: u64, size_bytes: u64) -> bool {
    let end = offset_bytes.checked_add(size_bytes);
    size_bytes > 0 && end.is_some_and(|end| end <= MOST_UNIT_BYTES)
}

impl Event {
    fn is_whole(&self) -> bool {
        let placed = self.chunk.is_some() && self.offset_bytes.is_some();
        let asked = self.size_bytes.is_some() && self.align.is_some() && self.flags.is_some();
        match self.kind {
            EventKind::Alloc => self.object.is_some() && placed && asked,
            EventKind::Free | EventKind::FreeImplied => self.object.is_some(),
            EventKind::FreeUnknown => placed,
            EventKind::Failed => asked,
            EventKind::ChunkCreated | EventKind::ChunkDestroyed => self.chunk.is_some(),
        }
    }
}
