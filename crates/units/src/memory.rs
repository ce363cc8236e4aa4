//! Lack of memory, as every engine reports it.

use core::fmt;

/// No memory is left for an engine's own nodes, or its limit of nodes is reached. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no memory for another node")
    }
}

impl core::error::Error for OutOfMemory {}

impl From<alloc::collections::TryReserveError> for OutOfMemory {
    fn from(_: alloc::collections::TryReserveError) -> Self {
        Self
    }
}
