//! What can be wrong with a request, an enum for each question.

use core::fmt;
use freehold_units::{OutOfMemory, Span};

/// Why nothing was stored. The value comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected<E, C> {
    /// The value that was to be stored.
    pub value: E,
    /// Why it was not.
    pub cause: C,
}

impl<E, C: fmt::Display> fmt::Display for Rejected<E, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<E: fmt::Debug, C: core::error::Error> core::error::Error for Rejected<E, C> {}

/// Why a range was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertError {
    /// An entry is in the way, with these indexes: the lowest that overlaps.
    Occupied(Span),
    /// No memory for another node.
    OutOfMemory,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(span) => write!(f, "{span} is occupied"),
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl core::error::Error for InsertError {}

impl From<OutOfMemory> for InsertError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Why no gap was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocError {
    /// A size of 0 indexes.
    Empty,
    /// The window has fewer indexes than are wanted.
    LargerThanWindow,
    /// No gap in the window is long enough, at that alignment.
    NoGap,
    /// No memory for another node.
    OutOfMemory,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a gap of no indexes was asked for"),
            Self::LargerThanWindow => f.write_str("more indexes were asked for than the window has"),
            Self::NoGap => f.write_str("no gap is long enough"),
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

/// Why no map was built of entries that should be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortedError {
    /// An entry does not begin behind the one before it.
    NotSorted {
        /// Entries before it.
        position: u64,
        /// Its indexes.
        span: Span,
        /// Those of the entry before it.
        before: Span,
    },
    /// No memory for another node.
    OutOfMemory,
}

impl fmt::Display for SortedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSorted { position, span, before } => {
                write!(f, "entry {position}, {span}, does not begin behind the one before it, {before}")
            }
            Self::OutOfMemory => OutOfMemory.fmt(f),
        }
    }
}

impl core::error::Error for SortedError {}

impl From<OutOfMemory> for SortedError {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// An invariant that does not hold (`INVARIANTS.md`), and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The invariant's number.
    pub invariant: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// An index where it is wrong.
    pub index: u64,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}: {}", self.invariant, self.index, self.what)
    }
}

impl core::error::Error for Broken {}
