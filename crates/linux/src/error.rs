//! The error codes that the kernel's trees return.

use freehold_maple::{AllocError, InsertError, OutOfMemory, StoreError};
use freehold_units::error_messages;

/// The error of a refused call. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The window has no free place of that size.
    #[doc(alias = "EBUSY")]
    Busy,
    /// The place is occupied.
    #[doc(alias = "EEXIST")]
    Exists,
    /// The request is invalid, or the tree is of the wrong kind; for a free, nothing starts at the address.
    #[doc(alias = "EINVAL")]
    Invalid,
    /// There is no memory for another node.
    #[doc(alias = "ENOMEM")]
    NoMemory,
}

impl Error {
    /// The kernel's error number as its calls return it: negative. Cost: constant.
    ///
    /// ```
    /// use freehold_linux::Error;
    /// let codes = [Error::NoMemory, Error::Busy, Error::Exists, Error::Invalid].map(Error::code);
    /// assert_eq!(codes, [-12, -16, -17, -22]);
    /// ```
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::NoMemory => -12,
            Self::Busy => -16,
            Self::Exists => -17,
            Self::Invalid => -22,
        }
    }
}

error_messages! { Error {
    Self::Busy => "no free place is long enough (EBUSY)";
    Self::Exists => "something is in the way (EEXIST)";
    Self::Invalid => "the request makes no sense for this tree (EINVAL)";
    Self::NoMemory => "no memory for another node (ENOMEM)";
} }

impl From<OutOfMemory> for Error {
    fn from(_: OutOfMemory) -> Self {
        Self::NoMemory
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::OutOfMemory => Self::NoMemory,
            // An empty range, or a new kind of error in a later version.
            _ => Self::Invalid,
        }
    }
}

impl From<InsertError> for Error {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::Occupied { .. } => Self::Exists,
            InsertError::OutOfMemory => Self::NoMemory,
            _ => Self::Invalid,
        }
    }
}

impl From<AllocError> for Error {
    fn from(error: AllocError) -> Self {
        match error {
            AllocError::NoSpace { .. } => Self::Busy,
            AllocError::OutOfMemory => Self::NoMemory,
            _ => Self::Invalid,
        }
    }
}

#[cfg(feature = "std")]
impl From<freehold_maple::maple_tree::WriteError> for Error {
    /// What waits for readers is memory that is lacking.
    fn from(error: freehold_maple::maple_tree::WriteError) -> Self {
        use freehold_maple::maple_tree::WriteError;
        match error {
            WriteError::Occupied { .. } => Self::Exists,
            WriteError::OutOfMemory
            | WriteError::Readers { .. }
            | WriteError::NoGracePeriod(_)
            | WriteError::Reading => Self::NoMemory,
            _ => Self::Invalid,
        }
    }
}
