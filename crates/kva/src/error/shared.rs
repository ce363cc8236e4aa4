//! Errors of changing a shared space.

use core::fmt;
use freehold_maple::maple_tree::{Stalled, SysError, WriteError};
use freehold_units::Rejected;

/// The error of a change of a shared space, which is unchanged. It comes from the [`AddressSpace`](crate::AddressSpace)
/// or from the tree of readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedError<C> {
    /// The [`AddressSpace`](crate::AddressSpace) refuses the operation.
    Refused(C),
    /// Readers hold back too many removed nodes and values. They have to leave before more can be removed.
    Readers {
        /// Nodes and values that wait for readers.
        held: usize,
        /// The most that may wait.
        limit: usize,
        /// The oldest reader, if it was still there when the error was made.
        oldest: Option<Stalled>,
    },
    /// This thread reads the space, and would wait for itself.
    Reading,
    /// The system refuses the barrier that shows when readers have left: see [`WriteError::NoGracePeriod`].
    NoGracePeriod(SysError),
    /// No memory for the tree of readers.
    OutOfMemory,
}

impl<C: fmt::Display> fmt::Display for SharedError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(cause) => cause.fmt(f),
            &Self::Readers { held, limit, oldest } => WriteError::Readers { held, limit, oldest }.fmt(f),
            Self::Reading => WriteError::Reading.fmt(f),
            Self::NoGracePeriod(error) => WriteError::NoGracePeriod(*error).fmt(f),
            Self::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

impl<C: fmt::Debug + fmt::Display> core::error::Error for SharedError<C> {}

impl<C> From<WriteError> for SharedError<C> {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Readers { held, limit, oldest } => Self::Readers { held, limit, oldest },
            WriteError::Reading => Self::Reading,
            WriteError::NoGracePeriod(error) => Self::NoGracePeriod(error),
            WriteError::OutOfMemory => Self::OutOfMemory,
            error => unreachable!("K17: what the space hands out is free in the tree: {error}"),
        }
    }
}

impl<T, C> From<Rejected<T, SharedError<C>>> for SharedError<C> {
    fn from(rejected: Rejected<T, SharedError<C>>) -> Self {
        rejected.cause
    }
}
