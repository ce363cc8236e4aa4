//! Why an operation was refused: one small enum per question, each carrying what is in the way.

use crate::geometry::{BIT_BYTES, MAX_UNIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES};
use crate::{ChunkId, Place};
use core::fmt;
use freehold_units::Bytes;

/// There was no memory: for the engine's own maps, or behind pages. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no memory for a chunk or its pages")
    }
}

impl core::error::Error for OutOfMemory {}

/// Why a set of chunks cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The unit is no number of whole pages between the least and the most.
    UnitBytes {
        /// The unit asked for, in bytes.
        unit_bytes: u32,
    },
    /// No CPU.
    NoCpus,
    /// No memory for the lists of chunks.
    OutOfMemory,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |bytes: u32| Bytes::from(u64::from(bytes));
        match *self {
            Self::UnitBytes { unit_bytes } => write!(
                f,
                "a unit of {unit_bytes} bytes is not {} to {} in whole pages of {PAGE_BYTES} bytes",
                bytes(MIN_UNIT_BYTES),
                bytes(MAX_UNIT_BYTES)
            ),
            Self::NoCpus => f.write_str("a chunk needs a unit for at least one CPU"),
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl core::error::Error for ConfigError {}

impl From<OutOfMemory> for ConfigError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Why a request was not served. No object was placed and none moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocError {
    /// A size of 0.
    ZeroSize,
    /// More than the smallest unit holds, which is the most that is ever handed out.
    TooLarge {
        /// The size asked for, in bytes.
        size_bytes: u64,
    },
    /// An alignment that is no power of two.
    AlignNotPowerOfTwo {
        /// The alignment asked for, in bytes.
        align_bytes: u64,
    },
    /// An alignment beyond a page.
    AlignTooLarge {
        /// The alignment asked for, in bytes.
        align_bytes: u64,
    },
    /// The request cannot wait for memory, and nothing fits in pages that have some. Balancing is asked for.
    NoPopulatedRoom {
        /// The size asked for, in bytes.
        size_bytes: u64,
    },
    /// No memory for another chunk, or behind the pages that the object needs.
    OutOfMemory,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ZeroSize => f.write_str("size is 0"),
            Self::TooLarge { size_bytes } => write!(
                f,
                "{} is more than {}, the largest object",
                Bytes::from(size_bytes),
                Bytes::from(u64::from(MIN_UNIT_BYTES))
            ),
            Self::AlignNotPowerOfTwo { align_bytes } => {
                write!(f, "alignment {align_bytes} is not a power of two")
            }
            Self::AlignTooLarge { align_bytes } => {
                write!(f, "alignment {align_bytes} is more than a page, {PAGE_BYTES} bytes")
            }
            Self::NoPopulatedRoom { size_bytes } => {
                write!(f, "no room for {} in pages that have memory", Bytes::from(size_bytes))
            }
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl core::error::Error for AllocError {}

impl From<OutOfMemory> for AllocError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Why nothing was freed. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeError {
    /// No chunk of this set: it was never here, or is gone since.
    UnknownChunk {
        /// The chunk named.
        chunk: ChunkId,
    },
    /// Beyond the end of a unit, or not at a multiple of 4 bytes, where no object can start.
    NoObjectOffset {
        /// The place named.
        place: Place,
    },
    /// Nothing is allocated there: freed twice, or never handed out.
    AlreadyFree {
        /// The place named.
        place: Place,
    },
    /// Inside an object, not at its start.
    Interior {
        /// The place named.
        place: Place,
        /// Where the object around it starts.
        object: Place,
    },
    /// The object has another size than the caller says.
    WrongSize {
        /// The object.
        place: Place,
        /// What the caller says, in bytes.
        size_bytes: u64,
        /// What it takes, in bytes: its size rounded up to 4.
        taken_bytes: u32,
    },
}

impl fmt::Display for FreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UnknownChunk { chunk } => write!(f, "{chunk} is no chunk of this set, or no longer"),
            Self::NoObjectOffset { place } => {
                write!(f, "{place} is beyond its unit or not a multiple of {BIT_BYTES} bytes")
            }
            Self::AlreadyFree { place } => write!(f, "{place} is free: freed twice or never allocated"),
            Self::Interior { place, object } => {
                write!(f, "{place} lies inside the object at {object}, not at its start")
            }
            Self::WrongSize { place, size_bytes, taken_bytes } => {
                write!(f, "the object at {place} takes {taken_bytes} bytes, not {size_bytes}")
            }
        }
    }
}

impl core::error::Error for FreeError {}

/// What `validate()` found: the number of an invariant of `INVARIANTS.md` and where it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The invariant, such as `P3`.
    pub invariant: &'static str,
    /// What it says.
    pub rule: &'static str,
    /// The chunk in which it fails, by its position; 0 where it is about the set.
    pub chunk: u32,
    /// The bit of the chunk at which it fails; 0 where it is about the chunk.
    pub bit: u32,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invariant, rule, chunk, bit } = self;
        write!(f, "{invariant} broken in chunk {chunk} at bit {bit}: {rule}")
    }
}

impl core::error::Error for Broken {}

/// `Ok` if `holds`, else the broken invariant; which chunk it is about, its caller adds.
pub(crate) fn check(
    holds: bool,
    invariant: &'static str,
    rule: &'static str,
    bit: u32,
) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { invariant, rule, chunk: 0, bit }) }
}
