//! What can be wrong with a request, an enum for each question.

#[cfg(feature = "std")]
use freehold_rcu::SysError;
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

/// Why a store into a shared map was refused.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The range has no index.
    EmptyRange,
    /// An entry is in the way, with these indexes: the lowest that overlaps.
    Occupied(Span),
    /// Readers hold back so many nodes and values that the map keeps no more. They have to leave first.
    Full {
        /// Nodes and values that wait for readers.
        held: usize,
        /// The most that may wait.
        limit: usize,
    },
    /// The system refuses the barrier that tells when readers have left, as a filter that was installed after the first use, and of some
    /// thread nobody knows whether it reads. [`use_fences`](crate::maple_tree::use_fences) before the filter is installed avoids it.
    NoGracePeriod(SysError),
    /// This thread has a transaction of the map open, for which the store would wait for ever.
    InTransaction,
    /// No memory for another node, or for the list of what waits for readers.
    OutOfMemory,
}

#[cfg(feature = "std")]
error_messages! { WriteError + OutOfMemory {
    Self::EmptyRange => "{}", EmptyRange;
    Self::Occupied(span) => "{span} is occupied";
    Self::Full { held, limit } => "readers hold back {held} of at most {limit} nodes and values";
    Self::NoGracePeriod(error) => "{}", freehold_rcu::BacklogError::Barrier(*error);
    Self::InTransaction => "this thread has a transaction of the map open: commit or drop it first";
} }

#[cfg(feature = "std")]
impl From<freehold_rcu::BacklogError> for WriteError {
    fn from(error: freehold_rcu::BacklogError) -> Self {
        use freehold_rcu::BacklogError;
        match error {
            BacklogError::Full { held, limit } => Self::Full { held, limit },
            BacklogError::Barrier(error) => Self::NoGracePeriod(error),
            // The only other one.
            _ => Self::OutOfMemory,
        }
    }
}

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
