//! Errors of restoring a space from bytes.

use freehold_units::{Span, debug_hex, error_messages};

/// The error of a restore. `E` is the error of decoding a value. `at` is an offset in bytes from the start.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError<E> {
    /// The bytes do not start with an image's magic bytes.
    NotAnImage,
    /// A lower version can express the space, but every space has exactly one encoding.
    NotLowestVersion,
    /// A version that this program does not know.
    Version {
        /// The version of the bytes.
        found: u32,
        /// The newest that can be read; the oldest is 1.
        newest: u32,
    },
    /// The end is missing.
    Truncated {
        /// The number of bytes that the image must have.
        needed_bytes: u64,
        /// The number of bytes present.
        found_bytes: u64,
    },
    /// The bytes continue after the end of the image.
    Trailing {
        /// The number of bytes after the end.
        extra_bytes: u64,
    },
    /// The bytes are damaged: their checksum differs from the stored one.
    Checksum {
        /// The checksum in the bytes.
        stored: u32,
        /// The checksum of the bytes.
        computed: u32,
    },
    /// A granule of 2^64 bytes or more.
    Granule {
        /// The log2 of the granule.
        log2: u32,
    },
    /// A run of an unknown kind.
    Kind {
        /// The offset of its start.
        at: usize,
        /// The first byte of the run.
        kind: u8,
    },
    /// A number of 2^64 or more, or in more bytes than necessary.
    Number {
        /// The offset of its start.
        at: usize,
    },
    /// The last run is not complete.
    Incomplete {
        /// The offset of the missing byte.
        at: usize,
    },
    /// A value is longer than the rest of the bytes.
    ValueTooLong {
        /// The offset of its start.
        at: usize,
        /// The length of the value in bytes.
        len_bytes: u64,
        /// The number of bytes present.
        left_bytes: u64,
    },
    /// A guard of 2^31 granules or more.
    GuardTooLarge {
        /// The offset of its region's run.
        at: usize,
    },
    /// A region that does not start at a multiple of its alignment.
    Align {
        /// The offset of its run.
        at: usize,
    },
    /// A run that extends past the address `u64::MAX`.
    PastTheEnd {
        /// The offset of its start.
        at: usize,
    },
    /// A hole after a hole, a free run after a free run, or a hole at the end.
    Order {
        /// The offset of the run that must not be there.
        at: usize,
    },
    /// A placeholder does not match the move of any region of the space.
    Move {
        /// The start of the region or of the placeholder.
        address: u64,
    },
    /// A space without addresses.
    Empty,
    /// A value could not be decoded.
    Value {
        /// The value's region, without guard.
        region: Span,
        /// The error of the caller's `decode`.
        error: E,
    },
    /// No memory for the index.
    OutOfMemory,
}

debug_hex! { RestoreError<E> {
    NotAnImage;
    NotLowestVersion;
    Version { found, newest };
    Truncated { needed_bytes, found_bytes };
    Trailing { extra_bytes };
    Checksum { stored, computed };
    Granule { log2 };
    Kind { at, kind };
    Number { at };
    Incomplete { at };
    ValueTooLong { at, len_bytes, left_bytes };
    GuardTooLarge { at };
    Align { at };
    PastTheEnd { at };
    Order { at };
    Move { address: hex };
    Empty;
    Value { region, error };
    OutOfMemory;
} }

error_messages! { RestoreError<E> + OutOfMemory {
    Self::NotAnImage => "not an image of a space";
    Self::Version { found, newest } => "version {found}; versions 1 to {newest} are known";
    Self::NotLowestVersion => "a lower version can express the space";
    Self::Truncated { needed_bytes, found_bytes } => "cut short: {found_bytes} bytes of {needed_bytes}";
    Self::Trailing { extra_bytes } => "{extra_bytes} bytes follow after the end";
    Self::Checksum { stored, computed } => "damaged: the checksum is {computed:#010x}, not {stored:#010x}";
    Self::Granule { log2 } => "a granule of 2^{log2} bytes";
    Self::Kind { at, kind } => "byte {at}: no run is of kind {kind}";
    Self::Number { at } => "byte {at}: a number past 2^64 - 1, or in more bytes than it needs";
    Self::Incomplete { at } => "byte {at}: the last run is cut short";
    Self::ValueTooLong { at, len_bytes, left_bytes } =>
        "byte {at}: a value of {len_bytes} bytes where {left_bytes} are left";
    Self::GuardTooLarge { at } => "byte {at}: a guard of 2^31 granules or more";
    Self::Align { at } => "byte {at}: a region that is not at a multiple of its alignment";
    Self::PastTheEnd { at } => "byte {at}: the run passes the last address";
    Self::Order { at } => "byte {at}: a run that must be part of the previous one, or absent";
    Self::Move { address } => "no valid move leads to or from {address:#x}";
    Self::Empty => "a space without addresses";
    Self::Value { region, error } => "the value of {region}: {error}";
} }
