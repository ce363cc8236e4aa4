//! Errors: one small enum for each question, whose variants carry the values that were wrong.

use crate::geometry::{BIT_BYTES, MAX_UNIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES};
use crate::names::{ChunkId, Offset};
use freehold_units::{Bytes, error_messages};

/// The error of making a set of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The unit is not a whole number of pages, or smaller than [`MIN_UNIT_BYTES`], or larger than
    /// [`MAX_UNIT_BYTES`].
    UnitBytes {
        /// The requested unit, in bytes.
        unit_bytes: u32,
    },
    /// The number of CPUs is 0.
    NoCpus,
    /// There is no memory for the lists of chunks.
    OutOfMemory,
}

error_messages! { ConfigError + OutOfMemory {
    Self::UnitBytes { unit_bytes } =>
        "a unit of {unit_bytes} bytes is not {} to {} in whole pages of {PAGE_BYTES} bytes",
        Bytes::from(u64::from(MIN_UNIT_BYTES)), Bytes::from(u64::from(MAX_UNIT_BYTES));
    Self::NoCpus => "a chunk needs a unit for at least one CPU";
} }

/// The error of an allocation. No object was placed and none moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocError {
    /// The size is 0.
    ZeroSize,
    /// The size is more than [`MIN_UNIT_BYTES`], the largest object for units of any size.
    TooLarge {
        /// The requested size, in bytes.
        size_bytes: u64,
    },
    /// The alignment is not a power of two.
    NotPowerOfTwo {
        /// The requested alignment, in bytes.
        align_bytes: u64,
    },
    /// The alignment is more than a page.
    AlignTooLarge {
        /// The requested alignment, in bytes.
        align_bytes: u64,
    },
    /// The request cannot wait for memory, and no populated page has a place for it.
    /// [`ChunkSet::balance`](crate::ChunkSet::balance) populates a few pages.
    NoPopulatedRoom {
        /// The requested size, in bytes.
        size_bytes: u64,
    },
    /// No chunk has a place for it, and there are addresses for no more chunks. A heap's capacity is chosen when it is
    /// built.
    AtCapacity {
        /// The bytes of all chunks that there are addresses for, for each CPU.
        capacity_bytes: u64,
    },
    /// There is no memory for another chunk, or for the pages that the object needs.
    OutOfMemory,
}

error_messages! { AllocError + OutOfMemory {
    Self::ZeroSize => "size is 0";
    Self::TooLarge { size_bytes } =>
        "{} is more than {}, the largest object",
        Bytes::from(*size_bytes).beside(u64::from(MIN_UNIT_BYTES)),
        Bytes::from(u64::from(MIN_UNIT_BYTES)).beside(*size_bytes);
    Self::NotPowerOfTwo { align_bytes } => "alignment {align_bytes} is not a power of two";
    Self::AlignTooLarge { align_bytes } => "alignment {align_bytes} is more than a page, {PAGE_BYTES} bytes";
    Self::NoPopulatedRoom { size_bytes } =>
        "no place for {} in pages that have memory", Bytes::from(*size_bytes);
    Self::AtCapacity { capacity_bytes } =>
        "no free place is large enough in the capacity, {} for each CPU", Bytes::from(*capacity_bytes);
} }

/// The error of a free. The set did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FreeError {
    /// The set has no chunk of that name: it never had one, or the chunk was destroyed.
    UnknownChunk {
        /// The name of the chunk.
        chunk: ChunkId,
    },
    /// No object can start there: the offset is beyond the end of a unit, or not a multiple of 4 bytes.
    NoObjectOffset {
        /// The offset named.
        offset: Offset,
    },
    /// The bytes at the offset are free: the object was freed before, or never allocated.
    AlreadyFree {
        /// The offset named.
        offset: Offset,
    },
    /// The offset lies inside an object, not at its start.
    Interior {
        /// The offset named.
        offset: Offset,
        /// The start of the object that contains it.
        object: Offset,
    },
    /// The object's size differs from the caller's.
    WrongSize {
        /// The object.
        offset: Offset,
        /// The size that the caller gave, in bytes.
        size_bytes: u64,
        /// The bytes that the object takes: its size, rounded up to a multiple of 4.
        taken_bytes: u32,
    },
}

error_messages! { FreeError {
    Self::UnknownChunk { chunk } => "{chunk} is not a chunk of this set";
    Self::NoObjectOffset { offset } => "{offset} is beyond its unit or not a multiple of {BIT_BYTES} bytes";
    Self::AlreadyFree { offset } => "{offset} is free: freed twice or never allocated";
    Self::Interior { offset, object } => "{offset} lies inside the object at {object}, not at its start";
    Self::WrongSize { offset, size_bytes, taken_bytes } =>
        "the object at {offset} takes {taken_bytes} bytes, not {size_bytes}";
} }
