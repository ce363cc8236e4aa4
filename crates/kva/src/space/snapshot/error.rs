//! Why bytes were not restored to a space.

use freehold_units::{Span, error_messages};

/// Why there is no space in the bytes. `E` is why a value could not be decoded. `at` counts bytes from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError<E> {
    /// The bytes do not start as a snapshot does.
    NotASnapshot,
    /// A version of a space that a lower one can express: every space has one encoding.
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
        /// Bytes that there must be.
        needed_bytes: u64,
        /// Bytes that there are.
        found_bytes: u64,
    },
    /// Something follows after the end.
    Trailing {
        /// Bytes that are too many.
        extra_bytes: u64,
    },
    /// The bytes are not those that were written.
    Checksum {
        /// What the bytes say.
        stored: u32,
        /// What they sum up to.
        computed: u32,
    },
    /// A granule of 2^64 bytes or more.
    Granule {
        /// Its logarithm to base 2.
        log2: u32,
    },
    /// A run of no known kind.
    Kind {
        /// Where it starts.
        at: usize,
        /// Its first byte.
        kind: u8,
    },
    /// A number of 2^64 or more, or in more bytes than it takes.
    Number {
        /// Where it starts.
        at: usize,
    },
    /// The last run is not complete.
    Incomplete {
        /// Where the next byte should be.
        at: usize,
    },
    /// A value of more bytes than there are.
    ValueTooLong {
        /// Where it starts.
        at: usize,
        /// Bytes that it should have.
        len_bytes: u64,
        /// Bytes that there are.
        left_bytes: u64,
    },
    /// A guard of 2^31 granules or more.
    GuardTooLarge {
        /// Where its region's run starts.
        at: usize,
    },
    /// A region that does not start at a multiple of its alignment.
    Align {
        /// Where its run starts.
        at: usize,
    },
    /// A run that passes the last address.
    PastTheEnd {
        /// Where it starts.
        at: usize,
    },
    /// A hole after a hole, a free run after a free run, or a hole at the end.
    Order {
        /// Where the run starts that should not be there.
        at: usize,
    },
    /// A hold is not what a region of the space needs to move as is said.
    Move {
        /// The start of the region or of the hold.
        address: u64,
    },
    /// A space without addresses.
    Empty,
    /// A value could not be decoded.
    Value {
        /// Its region, without guard.
        region: Span,
        /// The caller's reason.
        error: E,
    },
    /// No memory for the index.
    OutOfMemory,
}

error_messages! { RestoreError<E> + OutOfMemory {
    Self::NotASnapshot => "not a snapshot of a space";
    Self::Version { found, newest } => "version {found}; versions 1 to {newest} are known";
    Self::NotLowestVersion => "a lower version can express the space";
    Self::Truncated { needed_bytes, found_bytes } => "cut short: {found_bytes} bytes of {needed_bytes}";
    Self::Trailing { extra_bytes } => "{extra_bytes} bytes follow after the end";
    Self::Checksum { stored, computed } => "damaged: the checksum is {computed:#010x}, not {stored:#010x}";
    Self::Granule { log2 } => "a granule of 2^{log2} bytes";
    Self::Kind { at, kind } => "byte {at}: no run is of kind {kind}";
    Self::Number { at } => "byte {at}: a number past 2^64 - 1, or with bytes to spare";
    Self::Incomplete { at } => "byte {at}: the run ends before its time";
    Self::ValueTooLong { at, len_bytes, left_bytes } =>
        "byte {at}: a value of {len_bytes} bytes where {left_bytes} are left";
    Self::GuardTooLarge { at } => "byte {at}: a guard of 2^31 granules or more";
    Self::Align { at } => "byte {at}: a region that is not at a multiple of its alignment";
    Self::PastTheEnd { at } => "byte {at}: the run passes the last address";
    Self::Order { at } => "byte {at}: a run that belongs to the one before, or to none";
    Self::Move { address } => "no region moves to or from {address:#x} as is said";
    Self::Empty => "a space without addresses";
    Self::Value { region, error } => "the value of {region}: {error}";
} }
