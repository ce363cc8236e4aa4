//! The errors of the maps: one enum per group of operations.

#[cfg(feature = "std")]
use freehold_rcu::{Stalled, SysError};
use freehold_units::{Align, EmptyRange, OutOfMemory, Rejected, Span, error_messages};

/// What a result contains. If it is an error, ends the method with it: the error returns `$value` to the caller.
macro_rules! or_reject {
    ($result:expr, $value:expr) => {
        match $result {
            Ok(done) => done,
            Err(cause) => return Err(freehold_units::Rejected { value: $value, cause: cause.into() }),
        }
    };
}
pub(crate) use or_reject;

/// Makes `?` convert a [`Rejected`] into its cause.
macro_rules! from_rejected {
    ($error:ident) => {
        impl<T> From<Rejected<T, $error>> for $error {
            fn from(rejected: Rejected<T, $error>) -> Self {
                rejected.cause
            }
        }
    };
}

from_rejected! { StoreError }
from_rejected! { InsertError }
#[cfg(feature = "std")]
from_rejected! { WriteError }
from_rejected! { AllocError }

/// The reason why a value was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The range contains no index.
    EmptyRange,
    /// The range reaches beyond the last key: see [`Key`](crate::Key).
    OutOfDomain,
    /// There is no memory for another node or value.
    OutOfMemory,
}

error_messages! { StoreError + OutOfMemory {
    Self::EmptyRange => "{}", EmptyRange;
    Self::OutOfDomain => "the range reaches beyond the last key";
} }

/// The reason why a range was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// The range contains no index.
    EmptyRange,
    /// The range reaches beyond the last key: see [`Key`](crate::Key).
    OutOfDomain,
    /// An entry is in the way.
    Occupied {
        /// The index range of the lowest such entry, or the words of its keys.
        entry: Span,
    },
    /// There is no memory for another node.
    OutOfMemory,
}

error_messages! { InsertError + OutOfMemory {
    Self::EmptyRange => "{}", EmptyRange;
    Self::OutOfDomain => "{}", StoreError::OutOfDomain;
    Self::Occupied { entry } => "{entry} is in the way";
} }

impl From<StoreError> for InsertError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::EmptyRange => Self::EmptyRange,
            StoreError::OutOfDomain => Self::OutOfDomain,
            StoreError::OutOfMemory => Self::OutOfMemory,
        }
    }
}

/// The reason why a shared map refused a store.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The range contains no index.
    EmptyRange,
    /// An entry is in the way.
    Occupied {
        /// The index range of the lowest such entry.
        entry: Span,
    },
    /// Too many nodes and values wait for readers. Some readers have to end first.
    Readers {
        /// Nodes and values that wait for readers.
        held: usize,
        /// The most that may wait.
        limit: usize,
        /// The oldest reader, if it was still there when the error was made.
        oldest: Option<Stalled>,
    },
    /// This thread reads in the map's domain, and would wait for itself.
    Reading,
    /// The system refuses the barrier that shows when readers have left, and a thread that has not fenced yet may be
    /// reading. A filter that was installed after the first use may cause this. Call
    /// [`use_fences`](crate::maple_tree::use_fences) before the filter is installed to avoid it.
    NoGracePeriod(SysError),
    /// This thread has a transaction of the map open, for which the store would wait for ever.
    InTransaction,
    /// There is no memory for another node, or for the list of what waits for readers.
    OutOfMemory,
}

#[cfg(feature = "std")]
error_messages! { WriteError + OutOfMemory {
    Self::EmptyRange => "{}", EmptyRange;
    Self::Occupied { entry } => "{entry} is in the way";
    Self::Readers { held, limit, oldest: None } => "readers hold back {held} of at most {limit} nodes and values";
    Self::Readers { held, limit, oldest: Some(oldest) } =>
        "readers hold back {held} of at most {limit} nodes and values; {oldest}";
    Self::Reading => "{}", freehold_rcu::SynchronizeError::Reading;
    Self::NoGracePeriod(error) => "{}", freehold_rcu::BacklogError::NoGracePeriod(*error);
    Self::InTransaction => "this thread has a transaction of the map open: commit or drop it first";
} }

#[cfg(feature = "std")]
impl From<freehold_rcu::BacklogError> for WriteError {
    fn from(error: freehold_rcu::BacklogError) -> Self {
        use freehold_rcu::BacklogError;
        match error {
            BacklogError::Full { held, limit, oldest } => Self::Readers { held, limit, oldest },
            BacklogError::NoGracePeriod(error) => Self::NoGracePeriod(error),
            // `BacklogError` has no other variant.
            _ => Self::OutOfMemory,
        }
    }
}

#[cfg(feature = "std")]
impl From<freehold_rcu::SynchronizeError> for WriteError {
    /// A time-out is not one of these: who waits for a limited time has the refusal that it waited for.
    fn from(error: freehold_rcu::SynchronizeError) -> Self {
        use freehold_rcu::SynchronizeError;
        match error {
            SynchronizeError::NoGracePeriod(error) => Self::NoGracePeriod(error),
            _ => Self::Reading,
        }
    }
}

/// The reason why no gap was allocated. Sizes are numbers of indexes; windows are of indexes, or of the words of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocError {
    /// The size is 0 indexes.
    ZeroSize,
    /// The window has fewer indexes than the request's size.
    TooLarge {
        /// The size.
        size: u64,
        /// The window, clipped to the domain of the keys unless it lies outside.
        window: Span,
    },
    /// No gap in the window can hold the request.
    NoSpace {
        /// The size.
        size: u64,
        /// The alignment.
        align: Align,
        /// The window, clipped to the domain of the keys.
        window: Span,
    },
    /// There is no memory for another node.
    OutOfMemory,
}

error_messages! { AllocError + OutOfMemory {
    Self::ZeroSize => "size is 0";
    Self::TooLarge { size, window } => "{window} has fewer than {size} indexes";
    Self::NoSpace { size, align, window } =>
        "no gap in {window} has {size} indexes aligned to {}", align.bytes();
} }

/// The reason why no map was built from a list of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SortedError {
    /// An entry does not begin after the end of the one before it.
    NotSorted {
        /// Number of entries before it.
        position: u64,
        /// Its index range, or the words of its keys.
        span: Span,
        /// The same of the entry before it.
        before: Span,
    },
    /// An entry reaches beyond the last key: see [`Key`](crate::Key).
    OutOfDomain {
        /// Number of entries before it.
        position: u64,
    },
    /// There is no memory for another node.
    OutOfMemory,
}

error_messages! { SortedError + OutOfMemory {
    Self::NotSorted { position, span, before } =>
        "entry {position}, {span}, does not begin behind the one before it, {before}";
    Self::OutOfDomain { position } => "entry {position} reaches beyond the last key";
} }

impl SortedError {
    /// The error of entries that a linear merge made, which ascend.
    pub(crate) fn of_ascending(self) -> OutOfMemory {
        debug_assert_eq!(self, Self::OutOfMemory, "M1: the entries of a map ascend");
        OutOfMemory
    }
}
