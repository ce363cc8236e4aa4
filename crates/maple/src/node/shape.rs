//! The shape of a leaf: its slots, without the words of its entries.
//!
//! Bit `i` of `occupied` says whether slot `i` has an entry.
//!
//! # Invariants
//! - Pivots ascend.
//! - Two gaps never follow each other, within a leaf or across two leaves.
//! - Every slot has at least one index.

use super::Extent;
use super::pivots::Pivots;
use core::hint::select_unpredictable;
use core::ops::Range;
use freehold_units::Span;

/// The first half of a leaf. While readers of a shared map can reach the leaf, it never changes (M10).
#[derive(Clone, Debug)]
#[repr(transparent)]
pub(crate) struct Shape {
    /// The pivots' own word is [`Used`]. In a vacant leaf it is the number of the next vacant one.
    pub(super) pivots: Pivots,
}

/// Occupancy of a leaf: bits 0 to 31 mark the slots with an entry, bits 32 to 39 count the slots, bits 40 and up count
/// the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used(u64);

impl Used {
    #[inline]
    pub(super) const fn new(occupied: u32, len: usize, entries: usize) -> Self {
        Self(occupied as u64 | (len as u64) << 32 | (entries as u64) << 40)
    }

    /// One bit for each slot that has an entry.
    #[inline]
    pub(super) const fn occupied(self) -> u32 {
        self.0 as u32
    }

    /// Slots.
    #[inline]
    pub(super) const fn len(self) -> usize {
        (self.0 >> 32) as u8 as usize
    }

    /// Slots with an entry.
    #[inline]
    pub(super) const fn entries(self) -> usize {
        (self.0 >> 40) as usize
    }

    #[inline]
    pub(super) const fn has_entry(self, slot: usize) -> bool {
        self.0 as u32 >> (slot & 31) & 1 != 0
    }
}

/// The bits below bit `count`.
#[inline]
pub(super) const fn below(count: usize) -> u64 {
    (1 << count) - 1
}

impl Shape {
    /// One slot, which is a gap.
    pub(crate) const EMPTY: Self = Self { pivots: Pivots::new(Used::new(0, 1, 0).0) };

    /// The shape of a leaf without slots, to be filled.
    pub(super) const WITHOUT_SLOTS: Self = Self { pivots: Pivots::new(0) };

    #[inline]
    pub(super) fn used(&self) -> Used {
        Used(self.pivots.own())
    }

    #[inline]
    pub(super) fn set_used(&mut self, used: Used) {
        self.pivots.set_own(used.0);
    }

    /// Slots, at least one.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.used().len()
    }

    /// Slots with an entry.
    #[inline]
    pub(crate) fn entries(&self) -> usize {
        self.used().entries()
    }

    /// One bit for each slot that has an entry.
    #[inline]
    pub(crate) fn occupied(&self) -> u32 {
        self.used().occupied()
    }

    /// One bit for each slot that is a gap.
    #[inline]
    pub(crate) fn gaps(&self) -> u32 {
        !self.occupied() & below(self.len()) as u32
    }

    #[inline]
    pub(crate) fn has_entry(&self, slot: usize) -> bool {
        self.used().has_entry(slot)
    }

    /// The last index of a slot. Meaningless for the leaf's last slot.
    #[inline]
    pub(crate) fn pivot(&self, slot: usize) -> u64 {
        self.pivots.pivot(slot)
    }

    /// Sets the last index of a slot that is not the leaf's last.
    #[inline]
    pub(super) fn set_pivot(&mut self, slot: usize, last: u64) {
        self.pivots.set(slot, last);
    }

    /// The slot that contains the index, which lies in the leaf.
    #[inline]
    pub(crate) fn slot_of(&self, index: u64) -> usize {
        self.pivots.slot_of(index)
    }

    /// One bit for each slot up to the one that contains the index.
    #[inline(never)] // so that going on to the next leaf is short enough to be inlined
    pub(crate) fn slots_to(&self, index: u64) -> u64 {
        below(self.slot_of(index) + 1)
    }

    /// One bit for each slot from the one on that contains the index.
    #[inline(never)] // likewise
    pub(crate) fn slots_from(&self, index: u64) -> u64 {
        !below(self.slot_of(index))
    }

    /// The slot's index range, in a leaf that is child `child` of an inner node with the pivots `parent`. `None` if the
    /// range begins or ends where that node does.
    #[inline]
    pub(crate) fn span_below(&self, slot: usize, parent: &Pivots, child: usize) -> Option<Span> {
        // Every third entry is its leaf's first or last, unpredictably, so use conditional moves.
        let is_inside = slot > 0;
        let low = select_unpredictable(is_inside, &self.pivots, parent);
        let before = select_unpredictable(is_inside, slot, child).checked_sub(1)?;
        let is_inside = slot + 1 < self.len();
        let high = select_unpredictable(is_inside, &self.pivots, parent);
        let last = select_unpredictable(is_inside, slot, child);
        if !is_inside && child + 1 >= parent.own() as usize {
            return None;
        }
        Span::new(low.pivot(before).wrapping_add(1), high.pivot(last))
    }

    /// The slot's first and last index. `whole` is the leaf's index range.
    #[inline]
    pub(crate) fn span(&self, slot: usize, whole: Span) -> (u64, u64) {
        self.span_up_to(slot, self.len() - 1, whole)
    }

    /// [`span`](Self::span), if the leaf's last slot is known.
    #[inline]
    pub(crate) fn span_up_to(&self, slot: usize, last_slot: usize, whole: Span) -> (u64, u64) {
        // Whether a slot is the leaf's last is unpredictable, so use a conditional move.
        let last = select_unpredictable(slot == last_slot, whole.last(), self.pivots.pivot(slot));
        (self.pivots.start_of(slot, whole.first()), last)
    }

    /// The longest gap. `whole` is the leaf's index range.
    pub(crate) fn largest_gap(&self, whole: Span) -> Extent {
        self.longest_gap(whole, u64::MAX).map_or(Extent::NONE, Extent::of_reach)
    }

    /// The reach of the longest gap, or of the first gap that reaches at least `enough`. `whole` is the leaf's index
    /// range.
    pub(crate) fn longest_gap(&self, whole: Span, enough: u64) -> Option<u64> {
        self.longest_of(self.gaps(), whole, enough)
    }

    /// The reach of the longest gap among some slots. `whole` is the leaf's index range.
    pub(crate) fn longest_gap_in(&self, slots: Range<usize>, whole: Span) -> Option<u64> {
        let among = (below(slots.end) & !below(slots.start)) as u32;
        self.longest_of(self.gaps() & among, whole, u64::MAX)
    }

    fn longest_of(&self, slots: u32, whole: Span, enough: u64) -> Option<u64> {
        let ends = 1 | 1 << (self.len() - 1);
        let mut longest = 0;
        // Only the first and the last slot need the leaf's own bounds.
        let (mut inner, mut outer) = (slots & !ends, slots & ends);
        while outer != 0 {
            let (first, last) = self.span(outer.trailing_zeros() as usize, whole);
            longest = longest.max(last - first);
            outer &= outer - 1;
        }
        while inner != 0 && longest < enough {
            let slot = inner.trailing_zeros() as usize;
            longest = longest.max(self.pivot(slot) - self.pivot(slot - 1) - 1);
            inner &= inner - 1;
        }
        (slots != 0).then_some(longest)
    }
}
