//! What can be wrong with a request, an enum for each question.

use freehold_units::{EmptyRange, Span, error_messages};

/// Why a value was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The range has no index.
    EmptyRange,
    /// No memory for another node or value.
    OutOfMemory,
}

error_messages! { StoreError + OutOfMemory {
    Self::EmptyRange => "{}", EmptyRange;
} }

/// Why a range was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// The range has no index.
    EmptyRange,
    /// An entry is in the way, with these indexes: the lowest that overlaps.
    Occupied(Span),
    /// No memory for another node.
    OutOfMemory,
}

error_messages! { InsertError + OutOfMemory {
    Self::EmptyRange => "{}", EmptyRange;
    Self::Occupied(span) => "{span} is occupied";
} }

/// Why no gap was given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocError {
    /// A size of 0 indexes.
    ZeroSize,
    /// More indexes than the window has.
    TooLarge,
    /// No gap in the window is long enough, at that alignment.
    NoSpace,
    /// No memory for another node.
    OutOfMemory,
}

error_messages! { AllocError + OutOfMemory {
    Self::ZeroSize => "size is 0";
    Self::TooLarge => "the size is more than the window has";
    Self::NoSpace => "no gap is long enough";
} }

/// Why no map was built of entries that should be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

error_messages! { SortedError + OutOfMemory {
    Self::NotSorted { position, span, before } =>
        "entry {position}, {span}, does not begin behind the one before it, {before}";
} }
