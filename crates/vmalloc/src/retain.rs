//! How much free memory stays resident, and for how long.

use std::time::Duration;

/// How much free memory stays resident, and for how long. Cost: constant unless a method says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RetainPolicy {
    pub(crate) bytes: u64,
    /// The window after which idle memory is decommitted.
    pub(crate) decay: Option<Duration>,
}

impl RetainPolicy {
    /// Keeps up to `bytes` of free memory resident, to be handed out again without a page fault, until it is
    /// [released](crate::VirtualMemory::release_idle).
    ///
    /// A free block counts with all its bytes, whether or not all were touched.
    #[must_use]
    pub const fn bytes(bytes: u64) -> Self {
        Self { bytes, decay: None }
    }

    /// Keeps no free memory resident.
    #[must_use]
    pub const fn nothing() -> Self {
        Self::bytes(0)
    }

    /// Decommits memory that no request needed for `decay`, or for 8 ms if that is longer. A thread does this and wakes up
    /// eight times within that time. A child of `fork` has no such thread.
    #[must_use]
    pub const fn decay(self, decay: Duration) -> Self {
        Self { decay: Some(decay), ..self }
    }

    /// Bytes decommitted at a time, and by which the threshold may be passed: a 16th of it, at most 16 MiB.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_a_part_of_the_threshold() {
        let batches = [0, 1 << 20, 256 << 20, 1 << 40].map(|bytes| RetainPolicy::bytes(bytes).batch_bytes());
        assert_eq!(batches, [0, 64 << 10, 16 << 20, 16 << 20]);
        let decaying = RetainPolicy::bytes(5).decay(Duration::from_secs(2));
        assert_eq!((decaying.bytes, decaying.decay), (5, Some(Duration::from_secs(2))));
    }
}
