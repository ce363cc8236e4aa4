//! What tells a space from every other that the process has or had.

use core::sync::atomic::{AtomicU64, Ordering};

/// See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity(u64);

impl Identity {
    pub(super) fn new() -> Self {
        // The one thing that spaces share. No answer depends on it, but whether a token or a sub-space is the space's own.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: numbers need only differ.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
