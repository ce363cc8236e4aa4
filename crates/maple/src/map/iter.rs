//! Iteration, upwards and downwards, over entries and over gaps.
//!
//! A leaf is gone through by the bits of its `occupied`. What lies outside the range, or what the other end has passed,
//! is cut off when a leaf is entered and when the back moves, so that a step of the front asks for no more than its
//! next bit.

use super::RangeMap;
use crate::entry::{Entry, Word};
use crate::node::{ENDS, Shape};
use crate::tree::{LeafAt, Tree};
use core::num::NonZeroU32;
use core::ops::{Bound, RangeBounds};
use core::{ptr, slice};
use freehold_units::Span;

/// One end of an iteration: a leaf, and the slots of it that are still to come.
struct End<'a> {
    /// None before the start.
    at: Option<LeafAt<'a>>,
    /// A bit for each slot to come.
    slots: u32,
    /// Their entries, as they lie in the leaf: the last comes first.
    words: slice::Iter<'a, Word>,
    /// Where each slot of the leaf ends, after where the one before the first does: no slot is a special case.
    ends: [u64; ENDS],
}

/// What an iteration is over.
struct Over<'a, S: Shape> {
    tree: &'a Tree<S>,
    /// Whether slots with an entry are wanted, or gaps.
    entries: bool,
    /// What neither end has passed: whole slots that have one of these indexes. None if nothing is to come.
    open: Option<Span>,
}

/// The slots of a kind whose ranges overlap some indexes, from both ends.
struct Slots<'a, S: Shape> {
    over: Over<'a, S>,
    front: End<'a>,
    back: End<'a>,
}

impl<'a> End<'a> {
    fn new() -> Self {
        Self { at: None, slots: 0, words: [].iter(), ends: [0; ENDS] }
    }

    /// The slots of a leaf that have an index of what is open.
    #[inline]
    fn enter<S: Shape>(&mut self, over: &Over<'a, S>, open: Span, at: LeafAt<'a>) {
        let LeafAt { leaf, whole, .. } = at;
        let mut words = leaf.words();
        self.slots = if over.entries { leaf.occupied() } else { leaf.gaps() };
        if open.last() < whole.last() {
            let slot = leaf.slot_of(open.last());
            self.slots &= u32::MAX >> (31 - slot);
            words = words.get(leaf.entries() - leaf.rank(slot + 1)..).unwrap_or_default();
        }
        if whole.first() < open.first() {
            let slot = leaf.slot_of(open.first());
            self.slots &= u32::MAX << slot;
            words = words.get(..words.len().saturating_sub(leaf.rank(slot))).unwrap_or_default();
        }
        self.words = words.iter();
        leaf.ends(whole, &mut self.ends);
        self.at = Some(at);
    }

    /// Goes on to the next leaf with a slot of the kind; at the start, to the one with the first index. Its slots; none if
    /// there is no such leaf.
    #[inline(never)]
    fn go_up<S: Shape>(&mut self, over: &Over<'a, S>) -> Option<NonZeroU32> {
        let open = over.open?;
        loop {
            let next = match &self.at {
                None => over.tree.leaf_at(open.first())?,
                Some(at) if open.last() <= at.whole.last() => return None,
                Some(at) => over.tree.leaf_behind(at)?,
            };
            self.enter(over, open, next);
            let slots = NonZeroU32::new(self.slots);
            if slots.is_some() {
                return slots;
            }
        }
    }

    /// Goes on to the leaf before with a slot of the kind, unless the front is in this one; at the start, to the one
    /// with the last index. Its slots; none if there is no such leaf.
    fn go_down<S: Shape>(&mut self, over: &Over<'a, S>, front: &Self) -> Option<NonZeroU32> {
        let open = over.open?;
        loop {
            let met = self.is_with(front);
            if met {
                // The front may have passed some of this leaf.
                self.slots &= front.slots;
            }
            let slots = NonZeroU32::new(self.slots);
            if slots.is_some() {
                return slots;
            }
            let next = match &self.at {
                None => over.tree.leaf_at(open.last())?,
                Some(at) if met || at.whole.first() <= open.first() => return None,
                Some(at) => over.tree.leaf_before(at)?,
            };
            self.enter(over, open, next);
        }
    }

    /// Whether both ends are in the same leaf.
    fn is_with(&self, other: &Self) -> bool {
        self.at.zip(other.at).is_some_and(|(own, other)| ptr::eq(own.leaf, other.leaf))
    }

    /// The indexes of a slot of the leaf.
    #[inline(always)]
    fn span(&self, slot: u32) -> Option<Span> {
        let slot = slot as usize;
        Span::new(self.ends[slot].wrapping_add(1), self.ends[slot + 1])
    }
}

impl<'a, S: Shape> Slots<'a, S> {
    fn new(tree: &'a Tree<S>, span: Option<Span>, entries: bool) -> Self {
        let over = Over { tree, entries, open: span };
        Self { over, front: End::new(), back: End::new() }
    }

    #[inline]
    fn next(&mut self) -> Option<Span> {
        let Self { over, front, .. } = self;
        let slots = match NonZeroU32::new(front.slots) {
            Some(slots) => slots,
            None => front.go_up(over)?,
        };
        front.slots = slots.get() & (slots.get() - 1);
        front.span(slots.trailing_zeros())
    }

    fn next_back(&mut self) -> Option<Span> {
        let Self { over, front, back } = self;
        let slot = back.go_down(over, front)?.ilog2();
        let span = back.span(slot)?;
        back.slots &= !(1 << slot);
        if back.is_with(front) {
            front.slots &= !(1 << slot);
        }
        // Without what this slot has, and what is behind it.
        over.open = over.open.and_then(|open| Span::new(open.first(), span.first().checked_sub(1)?));
        Some(span)
    }
}

/// Entries in ascending order of their indexes, or from the back in descending order.
pub struct Iter<'a, E: Entry, S: Shape> {
    map: &'a RangeMap<E, S>,
    slots: Slots<'a, S>,
}

impl<'a, E: Entry, S: Shape> Iterator for Iter<'a, E, S> {
    type Item = (Span, E::Ref<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let span = self.slots.next()?;
        let word = self.slots.front.words.next_back()?;
        Some((span, self.map.borrow(*word)))
    }
}

impl<E: Entry, S: Shape> DoubleEndedIterator for Iter<'_, E, S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let span = self.slots.next_back()?;
        let word = self.slots.back.words.next()?;
        Some((span, self.map.borrow(*word)))
    }
}

/// Gaps in ascending order, or from the back in descending order; whole, even where they reach beyond the range.
pub struct Gaps<'a, S: Shape>(Slots<'a, S>, Option<Span>);

impl<S: Shape> Iterator for Gaps<'_, S> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        self.1.take().or_else(|| self.0.next())
    }
}

impl<S: Shape> DoubleEndedIterator for Gaps<'_, S> {
    fn next_back(&mut self) -> Option<Span> {
        self.1.take().or_else(|| self.0.next_back())
    }
}

/// The indexes that bounds of the standard library's form mean; none if they are empty.
fn span_of(bounds: &impl RangeBounds<u64>) -> Option<Span> {
    let first = match bounds.start_bound() {
        Bound::Included(&first) => first,
        Bound::Excluded(&before) => before.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let last = match bounds.end_bound() {
        Bound::Included(&last) => last,
        Bound::Excluded(&behind) => behind.checked_sub(1)?,
        Bound::Unbounded => u64::MAX,
    };
    Span::new(first, last)
}

impl<E: Entry, S: Shape> RangeMap<E, S> {
    /// All entries, ascending.
    #[doc(alias = "mas_for_each")]
    #[must_use]
    pub fn iter(&self) -> Iter<'_, E, S> {
        self.range(..)
    }

    /// The entries that have an index within the bounds, ascending; those at the ends may reach beyond them. Bounds
    /// that are empty or upside down have none.
    #[must_use]
    pub fn range(&self, bounds: impl RangeBounds<u64>) -> Iter<'_, E, S> {
        Iter { map: self, slots: Slots::new(&self.tree, span_of(&bounds), true) }
    }

    /// The gaps that have an index within the bounds, ascending, whole.
    #[must_use]
    pub fn gaps(&self, bounds: impl RangeBounds<u64>) -> Gaps<'_, S> {
        let span = span_of(&bounds);
        let all = span.is_some() && self.tree.height() == 0;
        Gaps(Slots::new(&self.tree, span, false), all.then_some(Span::ALL))
    }

    /// The entry with the lowest indexes.
    #[must_use]
    pub fn first(&self) -> Option<(Span, E::Ref<'_>)> {
        self.iter().next()
    }

    /// The entry with the highest indexes.
    #[must_use]
    pub fn last(&self) -> Option<(Span, E::Ref<'_>)> {
        self.iter().next_back()
    }
}

impl<'a, E: Entry, S: Shape> IntoIterator for &'a RangeMap<E, S> {
    type Item = (Span, E::Ref<'a>);
    type IntoIter = Iter<'a, E, S>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
