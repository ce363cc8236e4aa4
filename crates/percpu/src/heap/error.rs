//! Errors of making a heap, and of requests that must not wait.

use super::{Absent, Index, SysError};
use crate::{AllocError, ConfigError};
use freehold_units::{Bytes, error_messages};

/// The error of making a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeapError {
    /// The capacity is not a power of two, too small, or too large.
    Capacity {
        /// The requested capacity, in bytes for each CPU.
        capacity_bytes: u64,
    },
    /// This machine does not support the requested mode.
    AddMode {
        /// The reason.
        absent: Absent,
    },
    /// The kernel does not provide the requested index.
    Index {
        /// The index.
        index: Index,
    },
    /// The system refused to reserve addresses.
    Reserve {
        /// Bytes of addresses: the capacity for each CPU and for two more units, with a page after each.
        reserve_bytes: u64,
        /// The capacity, in bytes for each CPU.
        capacity_bytes: u64,
        /// The system's error.
        error: SysError,
    },
    /// The chunks cannot be laid out.
    Config(ConfigError),
    /// The global heap has no space for the object.
    Alloc(AllocError),
    /// The global heap exists already, so it cannot be configured any more.
    GlobalExists,
    /// No memory for the heap's own lists.
    OutOfMemory,
}

error_messages! { HeapError + OutOfMemory {
    Self::Capacity { capacity_bytes } =>
        "a capacity of {capacity_bytes} bytes is no power of two from {} to {}",
        Bytes::from(super::build::MIN_CAPACITY_BYTES), Bytes::from(super::build::MAX_CAPACITY_BYTES);
    Self::AddMode { absent } => "{absent}";
    Self::Index { index } => "the kernel does not write {index:?}, by which the heap was to be indexed";
    Self::Reserve { reserve_bytes, capacity_bytes, error } =>
        "{error}: {} of addresses, for a capacity of {} for each CPU; a smaller `capacity` needs fewer",
        Bytes::from(*reserve_bytes), Bytes::from(*capacity_bytes);
    Self::Config(error) => "{error}";
    Self::Alloc(error) => "{error}";
    Self::GlobalExists => "the global heap exists already";
} }

impl From<AllocError> for HeapError {
    fn from(error: AllocError) -> Self {
        Self::Alloc(error)
    }
}

impl From<ConfigError> for HeapError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

/// The error of a request that must not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryAllocError {
    /// Another thread holds the lock, or forks.
    Busy,
    /// The request is invalid, or no populated page has space for it.
    Alloc(AllocError),
}

error_messages! { TryAllocError {
    Self::Busy => "another thread is allocating or forking";
    Self::Alloc(error) => "{error}";
} }
