//! How much free memory stays resident, and for how long.

use std::time::Duration;

/// How much free memory stays, and for how long. Cost: constant unless a method says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetainPolicy {
    pub(crate) bytes: u64,
    pub(crate) decay: Option<Duration>,
}

impl RetainPolicy {
    /// Up to `bytes` of free memory stay with the process, to be handed out again without a page fault, until they are
    /// [released](crate::VirtualMemory::release_idle).
    ///
    /// A free block counts with all its bytes, whether or not all were touched.
    #[must_use]
    pub const fn bytes(bytes: u64) -> Self {
        Self { bytes, decay: None }
    }

    /// Nothing stays.
    #[must_use]
    pub const fn nothing() -> Self {
        Self::bytes(0)
    }

    /// What no request needed for `decay` goes back to the system, by a thread of its own that wakes up eight times within it.
    /// A child of `fork` has no such thread.
    #[must_use]
    pub const fn decay(self, decay: Duration) -> Self {
        Self { decay: Some(decay), ..self }
    }

    /// The window after which idle memory goes back.
    pub(crate) const fn decay_window(self) -> Option<Duration> {
        self.decay
    }

    /// What is given back at a time, and how far the threshold may be passed: a 16th of it, 16 MiB at most.
    pub(crate) fn batch_bytes(self) -> u64 {
        (self.bytes / 16).min(16 << 20)
    }
}

/// 256 MiB, for a second.
impl Default for RetainPolicy {
    fn default() -> Self {
        Self::bytes(256 << 20).decay(Duration::from_secs(1))
    }
}
