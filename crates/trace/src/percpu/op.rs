//! What a per-CPU allocator is asked, and what it answers. All numbers are bytes.

use freehold_units::Align;
use std::fmt;

/// One operation. Objects are named by the caller, so that a stream can be replayed on engines that place them
/// differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Allocate an object that exists once per CPU.
    Alloc {
        /// Its name until it is freed.
        object: u32,
        /// Size in bytes.
        size_bytes: u64,
        /// What its offset must be a multiple of.
        align: Align,
        /// Whether it must lie in pages that have memory already: the caller cannot wait for more.
        atomic: bool,
    },
    /// Free an object.
    Free {
        /// Its name.
        object: u32,
    },
}

impl Op {
    /// The object that it names.
    #[must_use]
    pub fn object(&self) -> u32 {
        match self {
            Self::Alloc { object, .. } | Self::Free { object } => *object,
        }
    }

    /// Whether it frees.
    #[must_use]
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Free { .. })
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alloc { object, size_bytes, align, atomic } => {
                let kind = if *atomic { "atomic allocation" } else { "allocation" };
                write!(f, "{kind} of object {object}, {size_bytes} bytes aligned to {align}")
            }
            Self::Free { object } => write!(f, "free of object {object}"),
        }
    }
}

/// What an engine says to one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// Allocated.
    At {
        /// The chunk, from 0 in the order in which chunks first hold an object.
        chunk: u32,
        /// Where it starts in every unit of the chunk, in bytes.
        offset_bytes: u64,
    },
    /// Nothing fits; for an atomic request, nothing in pages that have memory.
    NoRoom,
    /// Freed.
    Freed,
    /// Nothing to free: the object's allocation had failed.
    NotLive,
    /// The engine has no such operation.
    #[default]
    Unsupported,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { chunk, offset_bytes } => write!(f, "byte {offset_bytes} of chunk {chunk}"),
            Self::NoRoom => f.write_str("no room"),
            Self::Freed => f.write_str("freed"),
            Self::NotLive => f.write_str("nothing to free"),
            Self::Unsupported => f.write_str("no such operation"),
        }
    }
}
