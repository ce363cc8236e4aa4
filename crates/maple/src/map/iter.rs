//! Iteration, upwards and downwards, over entries and over gaps.
//!
//! A leaf is gone through by the bits of its `occupied`; from one leaf to the next the path knows the nearest ancestor
//! with another child.

use super::RangeMap;
use crate::entry::{Entry, Word};
use crate::node::{Leaf, Shape};
use crate::tree::{Path, Tree};
use core::ops::{Bound, RangeBounds};
use freehold_units::Span;

/// One end of an iteration: a leaf, and the slots of it that are still to come.
struct End<'a> {
    path: Path,
    /// None before the start.
    leaf: Option<&'a Leaf>,
    /// A bit for each slot to come.
    slots: u32,
    /// Entries before the first of them.
    rank: usize,
    /// Where each slot of the leaf ends, after where the one before the first does: no slot is a special case.
    ends: [u64; 32],
}

/// What an iteration is over.
struct Over<'a, S: Shape> {
    tree: &'a Tree<S>,
    /// Whether slots with an entry are wanted, or gaps.
    entries: bool,
    from: u64,
    to: u64,
    /// The last index that the front has passed, once it has begun.
    passed: u64,
    /// Whether nothing is to come.
    done: bool,
}

/// The slots of a kind whose ranges overlap some indexes, from both ends.
struct Slots<'a, S: Shape> {
    over: Over<'a, S>,
    front: End<'a>,
    back: End<'a>,
}

impl<'a> End<'a> {
    const fn new() -> Self {
        Self { path: Path::new(), leaf: None, slots: 0, rank: 0, ends: [0; 32] }
    }

    /// The slots of the path's leaf, from its slot on upwards or downwards.
    fn enter<S: Shape>(&mut self, over: &Over<'a, S>, up: bool) {
        let leaf = over.tree.leaf_of(&self.path);
        let slot = self.path.leaf().slot;
        let kind = if over.entries { leaf.occupied() } else { leaf.gaps() };
        self.slots = kind & if up { u32::MAX << slot } else { u32::MAX >> (31 - slot) };
        self.rank = leaf.rank(slot as usize);
        leaf.ends(self.path.whole, &mut self.ends);
        self.leaf = Some(leaf);
    }

    /// Goes on to the next leaf with a slot of the kind, or the one before; at the start, to the one with the first
    /// index, or the last. False if there is none.
    #[inline(never)]
    fn go_on<S: Shape>(&mut self, over: &Over<'a, S>, up: bool) -> bool {
        if over.done || over.tree.height() == 0 {
            return false;
        }
        if self.leaf.is_none() {
            over.tree.walk(if up { over.from } else { over.to }, &mut self.path, &mut ());
            self.enter(over, up);
        }
        while self.slots == 0 {
            let moved = if up {
                over.tree.next_leaf(&mut self.path)
            } else {
                over.tree.previous_leaf(&mut self.path)
            };
            if !moved {
                return false;
            }
            self.enter(over, up);
        }
        true
    }

    /// The indexes of a slot of the leaf.
    #[inline(always)]
    fn bounds(&self, slot: u32) -> (u64, u64) {
        let slot = slot as usize;
        (self.ends[slot & 31].wrapping_add(1), self.ends[(slot + 1) & 31])
    }
}

impl<'a, S: Shape> Slots<'a, S> {
    fn new(tree: &'a Tree<S>, span: Option<Span>, entries: bool) -> Self {
        let (from, to) = span.map_or((0, 0), |span| (span.first(), span.last()));
        let over = Over { tree, entries, from, to, passed: 0, done: span.is_none() };
        Self { over, front: End::new(), back: End::new() }
    }

    #[inline]
    fn next(&mut self) -> Option<(Span, Word)> {
        let Self { over, front, .. } = self;
        if front.slots == 0 && !front.go_on(over, true) {
            return None;
        }
        let (first, last) = front.bounds(front.slots.trailing_zeros());
        // Both ends pass whole slots: one that starts behind what the other has left is passed.
        if first > over.to {
            return None;
        }
        front.slots &= front.slots - 1;
        let word = front.leaf?.ranked(front.rank);
        front.rank += 1;
        over.passed = last;
        Some((Span::new(first, last)?, word))
    }

    fn next_back(&mut self) -> Option<(Span, Word)> {
        let Self { over, front, back } = self;
        if back.slots == 0 && !back.go_on(over, false) {
            return None;
        }
        let slot = back.slots.ilog2();
        let (first, last) = back.bounds(slot);
        let met = front.leaf.is_some() && first <= over.passed;
        if last < over.from || met {
            return None;
        }
        back.slots &= !(1 << slot);
        match first.checked_sub(1) {
            Some(before) if before >= over.from => over.to = before,
            _ => {
                over.done = true;
                front.slots = 0;
                back.slots = 0;
            }
        }
        let leaf = back.leaf?;
        Some((Span::new(first, last)?, leaf.ranked(leaf.rank(slot as usize))))
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
        let (span, word) = self.slots.next()?;
        Some((span, self.map.borrow(word)))
    }
}

impl<E: Entry, S: Shape> DoubleEndedIterator for Iter<'_, E, S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (span, word) = self.slots.next_back()?;
        Some((span, self.map.borrow(word)))
    }
}

/// Gaps in ascending order, or from the back in descending order; whole, even where they reach beyond the range.
pub struct Gaps<'a, S: Shape>(Slots<'a, S>, Option<Span>);

impl<S: Shape> Iterator for Gaps<'_, S> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        self.1.take().or_else(|| self.0.next().map(|(span, _)| span))
    }
}

impl<S: Shape> DoubleEndedIterator for Gaps<'_, S> {
    fn next_back(&mut self) -> Option<Span> {
        self.1.take().or_else(|| self.0.next_back().map(|(span, _)| span))
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
