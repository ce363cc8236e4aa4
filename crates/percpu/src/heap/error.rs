//! Why a heap cannot be made, and why a request that may not wait was refused.

use super::{Absent, Index, SysError};
use crate::{AllocError, ConfigError};
use freehold_units::{Bytes, error_messages};

/// Why there is no heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeapError {
    /// The capacity is no power of two, or too small, or too large.
    Capacity {
        /// The capacity asked for, in bytes for each CPU.
        capacity_bytes: u64,
    },
    /// The mode that was asked for does not exist here.
    AddMode {
        /// Why not.
        absent: Absent,
    },
    /// The kernel does not write the index that was asked for.
    Index {
        /// The index.
        index: Index,
    },
    /// The system refused addresses.
    Reserve {
        /// Bytes of addresses: the capacity for each CPU and two more, with a page behind each.
        reserve_bytes: u64,
        /// The capacity, in bytes for each CPU.
        capacity_bytes: u64,
        /// Why.
        error: SysError,
    },
    /// The chunks cannot be laid out.
    Config(ConfigError),
    /// The heap of statics has no room for the object.
    Alloc(AllocError),
    /// The global heap exists already, so it cannot be described any more.
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

/// Why a request that may not wait was not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryAllocError {
    /// Another thread holds the lock.
    Busy,
    /// The request is invalid, or there is no room in pages that are ready.
    Alloc(AllocError),
}

error_messages! { TryAllocError {
    Self::Busy => "another thread is allocating";
    Self::Alloc(error) => "{error}";
} }
