//! How a pool cuts its addresses into slots.

use std::ops::Range;

/// The slots of a pool.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Bytes from one slot to the next.
    pub(crate) stride: u64,
    /// Bytes of a slot in use, within the stride.
    pub(crate) data: Range<usize>,
    /// Bytes that fault, within the stride; none if there is no guard.
    pub(crate) guard: Range<usize>,
    /// Bytes that may have pages while a slot is free.
    pub(crate) kept: usize,
    /// Whether free slots are zero (V3).
    pub(crate) zeroed: bool,
    /// Whether dropped slots wait to be looked through: to be cleared, or to keep no more than `kept`.
    pub(crate) waits: bool,
}

impl Shape {
    /// The bytes of a part of a slot that may keep their pages while it is free: those of its first, of a stack its last, `kept` bytes.
    pub(crate) fn stays(&self, part: &Range<usize>) -> Range<usize> {
        let kept = match self.guard.start < self.data.start {
            true => self.data.len() - self.kept..self.data.len(),
            false => 0..self.kept,
        };
        let start = kept.start.clamp(part.start, part.end);
        start..kept.end.clamp(start, part.end)
    }

    /// What free slots count as that take `bytes` of addresses.
    pub(crate) fn counted_bytes(&self, bytes: u64) -> u64 {
        bytes / self.stride * self.kept as u64
    }

    /// The addresses of free slots that count as `counted_bytes`, or a little more.
    pub(crate) fn address_bytes(&self, counted_bytes: u64) -> u64 {
        counted_bytes.div_ceil(self.kept.max(1) as u64).saturating_mul(self.stride)
    }
}
