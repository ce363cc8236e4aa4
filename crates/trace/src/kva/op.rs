//! What an address-range allocator is asked, and what it answers. All numbers are bytes.

use freehold_units::{Align, Span};
use std::fmt;
use std::sync::Arc;

/// One operation. Objects are named by the caller, so that a stream can be replayed on engines that place them
/// differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Allocate an object.
    Alloc {
        /// Its name until it is freed.
        object: u32,
        /// Size in bytes.
        size_bytes: u64,
        /// What it must start at a multiple of.
        align: Align,
        /// Where it must lie.
        window: Span,
    },
    /// Allocate one object of several areas at a common base.
    Congruent {
        /// Its name until it is freed.
        object: u32,
        /// The areas, as they lie for base 0.
        areas: Arc<[Span]>,
        /// What the base must be a multiple of.
        align: Align,
        /// Where all areas must lie.
        window: Span,
    },
    /// Free an object.
    Free {
        /// Its name.
        object: u32,
    },
}

impl Op {
    /// An allocation without constraint.
    #[must_use]
    pub fn alloc(object: u32, size_bytes: u64) -> Self {
        Self::Alloc { object, size_bytes, align: Align::ONE, window: Span::ALL }
    }

    /// An allocation at a fixed place: a window of exactly its size.
    #[must_use]
    pub fn alloc_at(object: u32, span: Span) -> Self {
        Self::Alloc { object, size_bytes: span.size_saturating(), align: Align::ONE, window: span }
    }

    /// The object that it names.
    #[must_use]
    pub fn object(&self) -> u32 {
        match self {
            Self::Alloc { object, .. } | Self::Congruent { object, .. } | Self::Free { object } => *object,
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
            Self::Alloc { object, size_bytes, align, window } => {
                write!(
                    f,
                    "allocation of object {object}, {size_bytes} bytes aligned to {align} within {window}"
                )
            }
            Self::Congruent { object, areas, align, window } => write!(
                f,
                "allocation of object {object}, {} areas at one base aligned to {align} within {window}",
                areas.len()
            ),
            Self::Free { object } => write!(f, "free of object {object}"),
        }
    }
}

/// What an engine says to one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// Allocated, starting here (the base, for congruent areas).
    At(u64),
    /// Nothing fits.
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
            Self::At(first) => write!(f, "{first:#x}"),
            Self::NoRoom => f.write_str("no room"),
            Self::Freed => f.write_str("freed"),
            Self::NotLive => f.write_str("nothing to free"),
            Self::Unsupported => f.write_str("no such operation"),
        }
    }
}
