//! A number that is unique among all spaces that the process has or had.

use core::sync::atomic::{AtomicU64, Ordering};

/// See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity(u64);

impl Identity {
    pub(super) fn new() -> Self {
        // The only state that spaces share. It only decides whether a token or a sub-space belongs to a space.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: the numbers only have to differ.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
