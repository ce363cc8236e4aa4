//! The state of a per-CPU allocator as vector files have it: sums over all chunks, and a line per chunk.

use crate::{Fields, Fnv};
use std::fmt;

/// A chunk's counters and hints, in bytes where they are sizes or offsets. `Display` prints the line of the
/// files, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLine {
    /// The number of its slot list.
    pub slot: u32,
    /// Its number; `None` if it has never held an object.
    pub chunk: Option<u32>,
    /// Bytes free.
    pub free_bytes: u64,
    /// The largest known free run, in bytes.
    pub contig_bytes: u64,
    /// The start of that run, in bytes; `None` if there is none.
    pub contig_start_bytes: Option<u64>,
    /// A lower bound of the first free byte.
    pub first_free_bytes: u64,
    /// Populated pages, per unit.
    pub populated_pages: u64,
    /// Populated pages without any object.
    pub empty_pages: u64,
    /// Objects in it.
    pub objects: u64,
    /// Whether it is isolated, to be emptied.
    pub isolated: bool,
}

impl ChunkLine {
    /// Reads the fields after `c`.
    pub(super) fn parse(fields: &mut Fields<'_>) -> Result<Self, String> {
        Ok(Self {
            slot: fields.value("SLOT")?,
            chunk: or_minus_one(fields, "CHUNK")?
                .map(|chunk| u32::try_from(chunk).map_err(|_| "CHUNK is too large"))
                .transpose()?,
            free_bytes: fields.value("FREE")?,
            contig_bytes: fields.value("CONTIG")?,
            contig_start_bytes: or_minus_one(fields, "CONTIGSTART")?,
            first_free_bytes: fields.value("FIRSTFREE")?,
            populated_pages: fields.value("POP")?,
            empty_pages: fields.value("EMPTY")?,
            objects: fields.value("NALLOC")?,
            isolated: fields.flag("ISOLATED")?,
        })
    }
}

impl fmt::Display for ChunkLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slot, free_bytes, contig_bytes, first_free_bytes, .. } = self;
        let Self { populated_pages, empty_pages, objects, .. } = self;
        write!(f, "c {slot} ")?;
        minus_one(f, self.chunk.map(u64::from))?;
        write!(f, " {free_bytes} {contig_bytes} ")?;
        minus_one(f, self.contig_start_bytes)?;
        let isolated = u8::from(self.isolated);
        write!(f, " {first_free_bytes} {populated_pages} {empty_pages} {objects} {isolated}")
    }
}

/// The hash of a digest: FNV-1a over the text of the lines, each with its end.
#[must_use]
pub fn chunk_lines_hash(lines: &[ChunkLine]) -> u64 {
    let mut hash = Fnv::default();
    lines.iter().for_each(|line| hash.bytes(format!("{line}\n").as_bytes()));
    hash.value()
}

/// The allocator's state after some operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Allocations, failed ones included, and frees so far.
    pub ops: u64,
    /// Chunks, the empty ones included.
    pub chunks: u64,
    /// Populated pages, per unit.
    pub populated_pages: u64,
    /// Populated pages without any object, in chunks that are not isolated.
    pub empty_pages: u64,
    /// Objects that are live.
    pub live: u64,
    /// Bytes free in all chunks.
    pub free_bytes: u64,
    /// [`chunk_lines_hash`] of the lines of all chunks.
    pub hash: u64,
    /// The lines in slot order, then list order, if the file has them.
    pub lines: Option<Vec<ChunkLine>>,
}

impl Digest {
    /// Reads the fields after `d` or `D`.
    pub(super) fn parse(fields: &mut Fields<'_>) -> Result<Self, String> {
        Ok(Self {
            ops: fields.value("OPS")?,
            chunks: fields.value("NCHUNKS")?,
            populated_pages: fields.value("POPPAGES")?,
            empty_pages: fields.value("EMPTYPOP")?,
            live: fields.value("LIVE")?,
            free_bytes: fields.value("FREEBYTES")?,
            hash: fields.hex("HASH")?,
            lines: None,
        })
    }
}

fn or_minus_one(fields: &mut Fields<'_>, name: &str) -> Result<Option<u64>, String> {
    match fields.text(name)? {
        "-1" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("{name} is unreadable: {text:?}")),
    }
}

fn minus_one(f: &mut fmt::Formatter<'_>, number: Option<u64>) -> fmt::Result {
    match number {
        Some(number) => write!(f, "{number}"),
        None => f.write_str("-1"),
    }
}
