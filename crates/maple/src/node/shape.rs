//! What a leaf's slots are, without the words of its entries.
//!
//! Bit `i` of `occupied` says whether slot `i` has an entry.
//!
//! # Invariants
//! Pivots ascend. Two gaps never follow each other, in a leaf or from one to the next. Every slot has an index: nothing is
//! empty.

use super::Extent;
use super::pivots::Pivots;
use core::hint::select_unpredictable;
use core::ops::Range;
use freehold_units::Span;

/// The first half of a leaf. Of one that readers of a shared map can reach, it never changes (M10).
#[derive(Clone, Debug)]
#[repr(transparent)]
pub(crate) struct Shape {
    /// Their own word is [`Used`]; of a vacant leaf, the number of the next vacant one.
    pub(super) pivots: Pivots,
}

/// What is used of a leaf: a bit for each slot that has an entry, the slots from bit 32 on, the slots with an entry from bit 40 on.
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

    /// Of a leaf that is yet to have slots.
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

    /// The slots that are gaps, a bit each.
    #[inline]
    pub(crate) fn gaps(&self) -> u32 {
        !self.occupied() & below(self.len()) as u32
    }

    #[inline]
    pub(crate) fn has_entry(&self, slot: usize) -> bool {
        self.used().has_entry(slot)
    }

    /// The last index of a slot that is not the leaf's last.
    #[inline]
    pub(crate) fn pivot(&self, slot: usize) -> u64 {
        self.pivots.pivot(slot)
    }

    /// Makes a slot, which is not the leaf's last, end at `last`.
    #[inline]
    pub(super) fn set_pivot(&mut self, slot: usize, last: u64) {
        self.pivots.set(slot, last);
    }

    /// The slot that has the index, which the leaf has.
    #[inline]
    pub(crate) fn slot_of(&self, index: u64) -> usize {
        self.pivots.slot_of(index)
    }

    /// A bit for each slot up to the one that has the index.
    #[inline(never)] // so that going on to the next leaf is short enough to be inlined
    pub(crate) fn slots_to(&self, index: u64) -> u64 {
        below(self.slot_of(index) + 1)
    }

    /// A bit for each slot from the one on that has the index.
    #[inline(never)] // likewise
    pub(crate) fn slots_from(&self, index: u64) -> u64 {
        !below(self.slot_of(index))
    }

    /// The slot's indexes, in a leaf that is child `child` of an inner node with the pivots `parent`. None if they begin or end
    /// where that node does.
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

    /// The slot's indexes; `whole` are the leaf's.
    #[inline]
    pub(crate) fn span(&self, slot: usize, whole: Span) -> (u64, u64) {
        self.span_up_to(slot, self.len() - 1, whole)
    }

    /// The same, where the leaf's last slot is known.
    #[inline]
    pub(crate) fn span_up_to(&self, slot: usize, last_slot: usize, whole: Span) -> (u64, u64) {
        // Whether a slot is its leaf's last no branch can foretell.
        let last = select_unpredictable(slot == last_slot, whole.last(), self.pivots.pivot(slot));
        (self.pivots.start_of(slot, whole.first()), last)
    }

    /// The longest gap; `whole` are the leaf's indexes.
    pub(crate) fn largest_gap(&self, whole: Span) -> Extent {
        self.longest_gap(whole, u64::MAX).map_or(Extent::NONE, Extent::of_reach)
    }

    /// How far the longest gap reaches, or the first that reaches as far as is `enough`; `whole` are the leaf's indexes.
    pub(crate) fn longest_gap(&self, whole: Span, enough: u64) -> Option<u64> {
        self.longest_of(self.gaps(), whole, enough)
    }

    /// How far the longest gap among some slots reaches; `whole` are the leaf's indexes.
    pub(crate) fn longest_gap_in(&self, slots: Range<usize>, whole: Span) -> Option<u64> {
        let among = (below(slots.end) & !below(slots.start)) as u32;
        self.longest_of(self.gaps() & among, whole, u64::MAX)
    }

    fn longest_of(&self, slots: u32, whole: Span, enough: u64) -> Option<u64> {
        let ends = 1 | 1 << (self.len() - 1);
        let mut longest = 0;
        // Only the first slot and the last end with the leaf.
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
