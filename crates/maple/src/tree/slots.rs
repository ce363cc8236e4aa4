//! Iteration over the slots of a tree, from both ends.
//!
//! A leaf is iterated bit by bit of its `occupied`. Bits of slots outside the range, or beyond the other end, are
//! cleared when a leaf is entered and when the back moves. So a step of the front finds its next bit and checks nothing
//! else, unless leaves change meanwhile.
//!
//! # Invariants
//! A call that finds no slot leaves `open` empty for good, so both ends stay finished:
//!
//! - Without `open`, the back searches nothing, and the front enters no leaf.
//! - In its own leaf the front has no slot left by then, or checks `open` where leaves change.
//!
//! This matters because an end that finds nothing may have moved past the other end. Its next call would return slots a
//! second time, and mutable iteration would return two `&mut` to one value.
//!
//! # Speed
//! An end is a few words whose addresses never escape, so LLVM keeps them in registers. A step is short enough to be
//! inlined into the adapters of the standard library.

use super::leaves::{LeafAt, Leaves, ReadLeaf};
use super::{Tree, indexes};
use crate::entry::Word;
use core::ptr;
use freehold_units::Span;

/// One end of an iteration: a leaf, and its slots that are still to come.
#[derive(Clone, Copy)]
struct End<L, P> {
    leaf: L,
    /// The leaf's index range.
    whole: Span,
    parent: P,
    /// The leaf's last slot.
    last: usize,
    /// A bit for each slot to come.
    slots: u64,
}

/// The state that both ends share.
#[derive(Clone, Copy)]
struct Over<L, const ENTRIES: bool> {
    leaves: L,
    /// The indexes that no end has passed: slots that overlap them are still to come. `None` once no slot is to come.
    /// The front's progress is removed only where leaves change; elsewhere, its own leaf records it.
    open: Option<Span>,
}

/// The slots of a kind that overlap a range, from both ends.
#[derive(Clone)]
pub(crate) struct Slots<'a, L: Leaves<'a>, const ENTRIES: bool> {
    over: Over<L, ENTRIES>,
    front: End<L::Leaf, L::Parent>,
    /// `None` before the first call of `next_back`.
    back: Option<End<L::Leaf, L::Parent>>,
}

impl<'a, R: ReadLeaf<'a>, P: Copy> End<R, P> {
    /// The slots of a leaf up to the last open index.
    #[inline]
    fn enter<const ENTRIES: bool>(open: Span, at: LeafAt<R, P>) -> Self {
        let LeafAt { leaf, whole, parent } = at;
        let shape = leaf.shape();
        let mut slots = u64::from(if ENTRIES { shape.occupied() } else { shape.gaps() });
        if open.last() < whole.last() {
            slots &= shape.slots_to(open.last());
        }
        Self { leaf, whole, parent, last: shape.len() - 1, slots }
    }

    /// Clears the slots before the first open index.
    #[inline]
    fn cut_before(mut self, open: Span) -> Self {
        if self.whole.first() < open.first() {
            self.slots &= self.leaf.shape().slots_from(open.first());
        }
        self
    }

    /// The next leaf with a slot of the kind, after the leaf that ends at `last`.
    // Of values, so that no address of an end escapes. Inlined: an entry takes 39 instructions in a loop, 44 without; a
    // call takes 54, and 2.7 times as long.
    #[inline(always)]
    fn above<L: Leaves<'a, Leaf = R, Parent = P>, const ENTRIES: bool>(
        over: Over<L, ENTRIES>,
        mut last: u64,
        mut parent: P,
    ) -> Option<Self> {
        loop {
            let first = last.checked_add(1)?;
            let open = Span::new(first, over.open?.last())?;
            let end = Self::enter::<ENTRIES>(open, over.leaves.leaf_behind(first, parent)).cut_before(open);
            if end.slots != 0 {
                return Some(end);
            }
            (last, parent) = (end.whole.last(), end.parent);
        }
    }

    /// This end, or one in the nearest leaf before with a slot of the kind. In the front's leaf, slots that the front
    /// has passed do not count. `None` if there is no such leaf.
    #[inline(always)] // an entry takes 54 instructions in a loop from the back, 129 without
    fn below<L: Leaves<'a, Leaf = R, Parent = P>, const ENTRIES: bool>(
        mut self,
        over: Over<L, ENTRIES>,
        open: Span,
        front: Self,
    ) -> Option<Self> {
        loop {
            if self.is_with(&front) {
                self.slots &= front.slots;
                return (self.slots != 0).then_some(self);
            }
            if self.slots != 0 {
                return Some(self);
            }
            let last = self.whole.first().checked_sub(1)?;
            let open = Span::new(open.first(), last)?;
            self = Self::enter::<ENTRIES>(open, over.leaves.leaf_before(last, self.parent)).cut_before(open);
        }
    }

    /// Whether both ends are in the same leaf.
    fn is_with(&self, other: &Self) -> bool {
        ptr::eq(self.leaf.shape(), other.leaf.shape())
    }

    /// The index range of a slot.
    #[inline]
    fn span(&self, slot: usize) -> Option<Span> {
        let (first, last) = self.leaf.shape().span_up_to(slot, self.last, self.whole);
        let span = Span::new(first, last);
        debug_assert!(span.is_some(), "M1: no slot is empty");
        span
    }
}

impl<'a, L: Leaves<'a>, const ENTRIES: bool> Slots<'a, L, ENTRIES> {
    #[inline]
    pub(crate) fn new(leaves: L, span: Option<Span>) -> Self {
        let over = Over { leaves, open: span };
        let front = match span {
            Some(open) => End::enter::<ENTRIES>(open, leaves.leaf_at(open.first())).cut_before(open),
            None => End { slots: 0, ..End::enter::<ENTRIES>(Span::ALL, LeafAt::of_no_node(L::NO_PARENT)) },
        };
        Self { over, front, back: None }
    }

    /// The next slot's index range, and its entry's word; unspecified for a gap.
    #[inline(always)] // as `Iter::next`, which says what it gains (`map/iter.rs`)
    pub(crate) fn next(&mut self) -> Option<(Span, Word)> {
        if self.front.slots == 0 {
            let Some(front) = End::above(self.over, self.front.whole.last(), self.front.parent) else {
                self.over.open = None;
                return None;
            };
            self.front = front;
        }
        let slot = self.front.slots.trailing_zeros() as usize;
        self.front.slots &= self.front.slots - 1;
        let span = self.front.span(slot)?;
        if L::CHANGE {
            // The back may have passed this slot in another leaf.
            let open = self.over.open.take().filter(|open| span.first() <= open.last())?;
            self.over.open = open.above(span);
        }
        let word = if ENTRIES { self.front.leaf.word(slot) } else { ptr::null_mut() };
        Some((span, word))
    }

    /// The last slot's index range, and its entry's word; unspecified for a gap.
    #[inline(always)] // 54 instructions, 125 without
    pub(crate) fn next_back(&mut self) -> Option<(Span, Word)> {
        // `open` stays empty unless a slot is found.
        let open = self.over.open.take()?;
        let back = self.back.unwrap_or_else(|| {
            End::enter::<ENTRIES>(open, self.over.leaves.leaf_at(open.last())).cut_before(open)
        });
        let Some(mut back) = back.below(self.over, open, self.front) else {
            debug_assert!(
                L::CHANGE || self.front.slots == 0,
                "a front that the back has met has no slot left"
            );
            return None;
        };
        let slot = back.slots.ilog2() as usize;
        let span = back.span(slot)?;
        if L::CHANGE && span.last() < open.first() {
            return None;
        }
        back.slots &= !(1 << slot);
        if back.is_with(&self.front) {
            self.front.slots &= !(1 << slot);
        }
        let word = if ENTRIES { back.leaf.word(slot) } else { ptr::null_mut() };
        self.back = Some(back);
        // Without the indexes of this slot and after.
        self.over.open = span.first().checked_sub(1).and_then(|last| Span::new(open.first(), last));
        Some((span, word))
    }
}

impl Tree {
    /// The entries from the one on that contains the index or follows it, ascending.
    #[inline]
    pub(crate) fn entries_from(&self, index: u64) -> impl Iterator<Item = (Span, Word)> {
        let mut slots: Slots<'_, &Self, true> = Slots::new(self, Some(indexes(index, u64::MAX)));
        core::iter::from_fn(move || slots.next())
    }
}
