//! Why an operation was refused: one small enum per question, each carrying what is in the way.

use crate::geometry::{BIT_BYTES, MAX_UNIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES};
use crate::{ChunkId, Offset};
use freehold_units::{Bytes, error_messages};

/// Why a set of chunks cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The unit is not a whole number of pages, or smaller than [`MIN_UNIT_BYTES`], or larger than
    /// [`MAX_UNIT_BYTES`].
    UnitBytes {
        /// The unit asked for, in bytes.
        unit_bytes: u32,
    },
    /// No CPU.
    NoCpus,
    /// No memory for the lists of chunks.
    OutOfMemory,
}

error_messages! { ConfigError + OutOfMemory {
    Self::UnitBytes { unit_bytes } =>
        "a unit of {unit_bytes} bytes is not {} to {} in whole pages of {PAGE_BYTES} bytes",
        Bytes::from(u64::from(MIN_UNIT_BYTES)), Bytes::from(u64::from(MAX_UNIT_BYTES));
    Self::NoCpus => "a chunk needs a unit for at least one CPU";
} }

/// Why a request was not served. No object was placed and none moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocError {
    /// A size of 0.
    ZeroSize,
    /// More than the smallest unit, which is the largest object that any set hands out.
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
    /// The request cannot wait for memory, and it fits nowhere in pages that have some. The set wants balancing now.
    NoPopulatedRoom {
        /// The size asked for, in bytes.
        size_bytes: u64,
    },
    /// No memory for another chunk, or behind the pages that the object needs.
    OutOfMemory,
}

error_messages! { AllocError + OutOfMemory {
    Self::ZeroSize => "size is 0";
    Self::TooLarge { size_bytes } =>
        "{} is more than {}, the largest object",
        Bytes::from(*size_bytes), Bytes::from(u64::from(MIN_UNIT_BYTES));
    Self::AlignNotPowerOfTwo { align_bytes } => "alignment {align_bytes} is not a power of two";
    Self::AlignTooLarge { align_bytes } => "alignment {align_bytes} is more than a page, {PAGE_BYTES} bytes";
    Self::NoPopulatedRoom { size_bytes } =>
        "no room for {} in pages that have memory", Bytes::from(*size_bytes);
} }

/// Why nothing was freed. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FreeError {
    /// The set has no chunk of that name: it never had, or the chunk is gone.
    UnknownChunk {
        /// The chunk named.
        chunk: ChunkId,
    },
    /// Beyond the end of a unit, or not at a multiple of 4 bytes: no object can start there.
    NoObjectOffset {
        /// The offset named.
        offset: Offset,
    },
    /// Nothing is allocated there: freed twice, or never handed out.
    AlreadyFree {
        /// The offset named.
        offset: Offset,
    },
    /// Inside an object, not at its start.
    Interior {
        /// The offset named.
        offset: Offset,
        /// Where the object around it starts.
        object: Offset,
    },
    /// The object has another size than the caller says.
    WrongSize {
        /// The object.
        offset: Offset,
        /// What the caller says, in bytes.
        size_bytes: u64,
        /// What it takes, in bytes: its size rounded up to 4.
        taken_bytes: u32,
    },
}

error_messages! { FreeError {
    Self::UnknownChunk { chunk } => "{chunk} is no chunk of this set, or no longer";
    Self::NoObjectOffset { offset } => "{offset} is beyond its unit or not a multiple of {BIT_BYTES} bytes";
    Self::AlreadyFree { offset } => "{offset} is free: freed twice or never allocated";
    Self::Interior { offset, object } => "{offset} lies inside the object at {object}, not at its start";
    Self::WrongSize { offset, size_bytes, taken_bytes } =>
        "the object at {offset} takes {taken_bytes} bytes, not {size_bytes}";
} }
