//! Classification of cuts and merges: how a span lies in its free block, and which neighbours a freed span merges with.
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
    /// The whole block; the block leaves the index.
    Full,
    /// The start of the block; the block shrinks.
    LeftEdge,
    /// The end of the block; the block shrinks.
    RightEdge,
    /// The middle of the block; the block keeps the part above, and a new block takes the part below.
    NoEdge,
}

impl Fit {
    /// The fit of `span` in `block`, which covers it. Cost: constant.
    #[must_use]
    pub const fn of(block: Span, span: Span) -> Self {
        match (block.first() == span.first(), block.last() == span.last()) {
            (true, true) => Self::Full,
            (true, false) => Self::LeftEdge,
            (false, true) => Self::RightEdge,
            (false, false) => Self::NoEdge,
        }
    }

    /// The kind of work that a probe counts it as. Cost: constant.
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

/// The neighbours that a freed span was merged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// Neither: the span is a block of its own.
    None,
    /// The block before the span.
    Previous,
    /// The block after the span.
    Next,
    /// Both.
    Both,
}

impl Merge {
    /// The value for the neighbours that touch the span. Cost: constant.
    #[must_use]
    pub const fn of(previous: bool, next: bool) -> Self {
        match (previous, next) {
            (false, false) => Self::None,
            (true, false) => Self::Previous,
            (false, true) => Self::Next,
            (true, true) => Self::Both,
        }
    }

    /// The kind of work that a probe counts it as. Cost: constant.
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
