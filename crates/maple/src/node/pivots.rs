//! The indexes that part the slots of a node, of either kind.

use core::hint::select_unpredictable;
use core::ops::Range;

/// Slots of a full node: children of an inner one; entries and gaps of a leaf.
pub(crate) const SLOTS: usize = 16;

/// The last index of each slot but the node's last. Those beyond are `u64::MAX`, so that a search counts all fifteen without asking
/// how many slots there are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Pivots([u64; SLOTS - 1]);

impl Pivots {
    /// Of a node with one slot.
    pub(super) const NONE: Self = Self([u64::MAX; SLOTS - 1]);

    /// The slot that has the index.
    #[inline]
    pub(crate) fn slot_of(&self, index: u64) -> usize {
        let Self(pivots) = self;
        let quarter =
            usize::from(pivots[3] < index) + usize::from(pivots[7] < index) + usize::from(pivots[11] < index);
        let base = quarter * 4;
        let rest = [base, base + 1, base + 2].map(|at| usize::from(pivots[at] < index));
        base + rest[0] + rest[1] + rest[2]
    }

    /// The last index of a slot; `u64::MAX` of the last, whatever the node's own last index is.
    #[inline]
    pub(crate) fn last_of(&self, slot: usize) -> u64 {
        self.0.get(slot).copied().unwrap_or(u64::MAX)
    }

    /// The first index of a slot; 0 of the first, whatever the node's own first index is.
    #[inline]
    pub(crate) fn start_of(&self, slot: usize) -> u64 {
        // Which slot it is no branch can foretell.
        select_unpredictable(slot == 0, 0, self.0[slot.saturating_sub(1)].wrapping_add(1))
    }

    /// Makes a slot, which is not the node's last, end at `last`.
    #[inline]
    pub(super) fn set(&mut self, slot: usize, last: u64) {
        self.0[slot] = last;
    }

    /// Moves the pivots in `range` to where pivot `into` is; there are none behind the range.
    #[inline]
    pub(super) fn shift(&mut self, range: Range<usize>, into: usize) {
        let Range { start, end } = range;
        self.0.copy_within(start..end, into);
        if into < start {
            self.cut(into + end - start);
        }
    }

    /// Puts the pivots of another node behind the first `at`, of which there are no more.
    pub(super) fn put_behind(&mut self, at: usize, other: &Self, count: usize) {
        self.0[at..at + count].copy_from_slice(&other.0[..count]);
    }

    /// Leaves the first `count`.
    #[inline]
    pub(super) fn cut(&mut self, count: usize) {
        self.0[count..].fill(u64::MAX);
    }
}
