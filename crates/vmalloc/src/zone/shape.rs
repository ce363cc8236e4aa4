//! The layout of a pool's slots within its addresses.

use std::ops::Range;

/// The slots of a pool.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Bytes from one slot to the next.
    pub(crate) stride: u64,
    /// Usable bytes of a slot, within the stride.
    pub(crate) data: Range<usize>,
    /// Bytes that fault, within the stride; empty if there is no guard.
    pub(crate) guard: Range<usize>,
    /// Whether the guard of the slot before also guards this slot.
    pub(crate) both_sides: bool,
    /// Bytes that may have pages while a slot is free.
    pub(crate) kept: usize,
    /// Whether these are its last: a stack's.
    pub(crate) keeps_last: bool,
    /// Whether free slots are zero (V3).
    pub(crate) zeroed: bool,
    /// Whether dropped slots wait to be scanned: to be cleared, or to keep no more than `kept`.
    pub(crate) waits: bool,
}

impl Shape {
    /// The bytes of a part of a slot that may stay resident while it is free: within its first `kept` bytes, or its
    /// last for a stack.
    pub(crate) fn stays(&self, part: &Range<usize>) -> Range<usize> {
        let kept = match self.keeps_last {
            true => self.data.len() - self.kept..self.data.len(),
            false => 0..self.kept,
        };
        let start = kept.start.clamp(part.start, part.end);
        start..kept.end.clamp(start, part.end)
    }

    /// The numbers of a slot's guards: its own has the slot's and one. The first is before all slots.
    pub(super) fn guards(&self, slot: u64) -> Range<u64> {
        match (self.guard.is_empty(), self.both_sides) {
            (true, _) => 0..0,
            (false, true) => slot..slot + 2,
            (false, false) => slot + 1..slot + 2,
        }
    }

    /// The bytes of a guard in a pool that starts at `first`.
    pub(super) fn guard_at(&self, first: usize, number: u64) -> Range<usize> {
        let end = first + (number * self.stride) as usize;
        let start = end - (self.stride as usize - self.guard.start);
        start..start + self.guard.len()
    }
}
