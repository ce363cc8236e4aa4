//! The first half of a node of either kind: the indexes that separate its slots, and a word of the node's own.

use core::hint::select_unpredictable;
use core::ops::Range;

/// Slots of a full node: children of an inner one; entries and gaps of a leaf.
pub(crate) const SLOTS: usize = 16;

/// Position of the node's own word. A pivot there would be redundant: the node's last slot ends where the node does.
const OWN: usize = SLOTS - 1;

/// The last index of each slot but the node's last, then the node's own word. Unused pivots are `u64::MAX`, so a search
/// compares all fifteen without reading the number of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Pivots([u64; SLOTS]);

impl Pivots {
    /// The pivots of a node with at most one slot.
    pub(super) const fn new(own: u64) -> Self {
        let mut pivots = [u64::MAX; SLOTS];
        pivots[OWN] = own;
        Self(pivots)
    }

    /// The node's own word.
    #[inline]
    pub(super) fn own(&self) -> u64 {
        self.0[OWN]
    }

    #[inline]
    pub(super) fn set_own(&mut self, word: u64) {
        self.0[OWN] = word;
    }

    /// The slot that contains the index.
    #[inline]
    pub(crate) fn slot_of(&self, index: u64) -> usize {
        // Two-level search: three pivots pick a quarter, three more pick the slot. Six loads instead of fifteen, of
        // which one waits for another; a binary search within the quarter needs five, and took 1.15 of the time in a
        // look-up.
        let Self(pivots) = self;
        let quarter =
            usize::from(pivots[3] < index) + usize::from(pivots[7] < index) + usize::from(pivots[11] < index);
        let first = 4 * quarter;
        let within = usize::from(pivots[first] < index)
            + usize::from(pivots[first + 1] < index)
            + usize::from(pivots[first + 2] < index);
        first + within
    }

    /// The last index of a slot. Meaningless for the node's last slot.
    #[inline]
    pub(super) fn pivot(&self, slot: usize) -> u64 {
        self.0[slot % SLOTS]
    }

    /// The last index of a slot. `u64::MAX` for the last slot, whatever the node's own last index is.
    #[inline]
    pub(crate) fn last_of(&self, slot: usize) -> u64 {
        select_unpredictable(slot == OWN, u64::MAX, self.pivot(slot))
    }

    /// The first index of a slot. `first` for slot 0.
    #[inline]
    pub(crate) fn start_of(&self, slot: usize, first: u64) -> u64 {
        // The slot is unpredictable, so use a conditional move.
        select_unpredictable(slot == 0, first, self.pivot(slot.wrapping_sub(1)).wrapping_add(1))
    }

    /// Sets the last index of a slot that is not the node's last.
    #[inline]
    pub(super) fn set(&mut self, slot: usize, last: u64) {
        debug_assert!(slot < OWN, "M3: a node has no more than sixteen slots");
        self.0[slot % SLOTS] = last;
    }

    /// Moves the pivots in `range`, which are the last ones, to start at `into`. If they move up, the pivots between
    /// the old place and the new keep their values until they are set.
    #[inline]
    pub(super) fn shift(&mut self, range: Range<usize>, into: usize) {
        let Range { start, end } = range;
        self.0.copy_within(start..end, into);
        if into < start {
            self.0[into + end - start..end].fill(u64::MAX);
        }
    }

    /// Keeps the first `count` pivots.
    #[inline]
    pub(super) fn cut(&mut self, count: usize) {
        self.0[count..OWN].fill(u64::MAX);
    }

    /// Appends all `more` pivots of another node after the first `count`.
    pub(super) fn append(&mut self, count: usize, other: &Self, more: usize) {
        self.0[count..count + more].copy_from_slice(&other.0[..more]);
    }
}
