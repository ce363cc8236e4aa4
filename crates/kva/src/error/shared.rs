//! Errors of changing a shared space.

use super::{AllocError, FreeError, MoveError};
use core::fmt;
use freehold_maple::maple_tree::{SysError, WriteError};

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
    },
    /// The system refuses the barrier that shows when readers have left: see [`WriteError::NoGracePeriod`].
    NoGracePeriod(SysError),
    /// No memory for the tree of readers.
    OutOfMemory,
}

impl<C: fmt::Display> fmt::Display for SharedError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(cause) => cause.fmt(f),
            Self::Readers { held, limit } => {
                write!(f, "readers hold back {held} of at most {limit} nodes and values")
            }
            Self::NoGracePeriod(error) => WriteError::NoGracePeriod(*error).fmt(f),
            Self::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

impl<C: fmt::Debug + fmt::Display> core::error::Error for SharedError<C> {}

impl<C> From<WriteError> for SharedError<C> {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Full { held, limit } => Self::Readers { held, limit },
            WriteError::NoGracePeriod(error) => Self::NoGracePeriod(error),
            WriteError::OutOfMemory => Self::OutOfMemory,
            error => unreachable!("K17: what the space hands out is free in the tree: {error}"),
        }
    }
}

impl From<AllocError> for SharedError<AllocError> {
    fn from(cause: AllocError) -> Self {
        Self::Refused(cause)
    }
}

impl From<FreeError> for SharedError<FreeError> {
    fn from(cause: FreeError) -> Self {
        Self::Refused(cause)
    }
}

impl From<MoveError> for SharedError<MoveError> {
    fn from(cause: MoveError) -> Self {
        Self::Refused(cause)
    }
}
