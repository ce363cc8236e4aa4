//! How a span lies in the free block it is cut from, and how a freed span meets its neighbours.
//!
//! ```text
//!  Full       |#######|      LeftEdge   |####...|
//!  RightEdge  |...####|      NoEdge     |..###..|
//! ```

use freehold_units::{Span, Work};

/// The four ways in which a request can lie in a free block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "fit_type")]
pub enum Fit {
    /// The whole block; it leaves the index.
    Full,
    /// The block's start; the block shrinks.
    LeftEdge,
    /// The block's end; the block shrinks.
    RightEdge,
    /// The middle; the block keeps what lies above, and a new block takes what lies below.
    NoEdge,
}

impl Fit {
    /// How `span` lies in `block`, which covers it. Cost: constant.
    #[must_use]
    pub const fn of(block: Span, span: Span) -> Self {
        match (block.first() == span.first(), block.last() == span.last()) {
            (true, true) => Self::Full,
            (true, false) => Self::LeftEdge,
            (false, true) => Self::RightEdge,
            (false, false) => Self::NoEdge,
        }
    }

    /// The count under which a probe hears of it. Cost: constant.
    #[must_use]
    pub const fn work(self) -> Work {
        match self {
            Self::Full => Work::FitFull,
            Self::LeftEdge => Work::FitLeftEdge,
            Self::RightEdge => Work::FitRightEdge,
            Self::NoEdge => Work::FitNoEdge,
        }
    }
}

/// The neighbours with which a freed span became one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// Neither: it is a block of its own.
    None,
    /// The block that ended where it starts.
    Previous,
    /// The block that starts where it ends.
    Next,
    /// Both.
    Both,
}

impl Merge {
    /// Named by which neighbours touch. Cost: constant.
    #[must_use]
    pub const fn of(previous: bool, next: bool) -> Self {
        match (previous, next) {
            (false, false) => Self::None,
            (true, false) => Self::Previous,
            (false, true) => Self::Next,
            (true, true) => Self::Both,
        }
    }

    /// The count under which a probe hears of it. Cost: constant.
    #[must_use]
    pub const fn work(self) -> Work {
        match self {
            Self::None => Work::MergedNone,
            Self::Previous => Work::MergedPrevious,
            Self::Next => Work::MergedNext,
            Self::Both => Work::MergedBoth,
        }
    }
}
