//! Errors of changing the tree directly.

use core::{error, fmt};
use freehold_units::{OutOfMemory, Span};

/// The error of adding a span to a tree of free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// The span is already free, at least in part.
    Overlaps {
        /// A block that it overlaps.
        block: Span,
    },
    /// The span does not start and end on multiples of the granule.
    NotGranular {
        /// The span.
        span: Span,
    },
    /// No memory for a node.
    OutOfMemory,
}

/// The error of removing a span from a tree of free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveError {
    /// The span does not lie entirely in one free block.
    NotFree {
        /// The span.
        span: Span,
    },
    /// The span does not start and end on multiples of the granule.
    NotGranular {
        /// The span.
        span: Span,
    },
    /// No memory for a node.
    OutOfMemory,
}

impl From<OutOfMemory> for AddError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

impl From<OutOfMemory> for RemoveError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlaps { block } => write!(f, "the span overlaps the free block {block}"),
            Self::NotGranular { span } => write!(f, "{span} is not made of granules"),
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl fmt::Display for RemoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFree { span } => write!(f, "{span} is not all in one free block"),
            Self::NotGranular { span } => write!(f, "{span} is not made of granules"),
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl error::Error for AddError {}
impl error::Error for RemoveError {}
