//! Iteration, upwards and downwards, over entries and over gaps.
//!
//! A leaf is gone through bit by bit of its `occupied`. Bits of slots outside the range, or that the other end has passed,
//! are cleared when a leaf is entered and when the back moves. So a step of the front looks for its next bit and checks
//! nothing else. An end is a few words whose addresses never escape, so LLVM keeps them in registers; a step is short enough
//! to be inlined into the adapters of the standard library.

use super::WordMap;
use crate::entry::{StoredValue, Word};
use crate::node::Leaf;
use crate::tree::{LeafAt, Parent, Tree};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use core::ptr;
use freehold_units::Span;

/// One end of an iteration: a leaf, and the slots of it that are still to come.
#[derive(Clone, Copy)]
struct End<'a> {
    leaf: &'a Leaf,
    /// The leaf's indexes.
    whole: Span,
    parent: Parent<'a>,
    /// The leaf's last slot.
    last: usize,
    /// A bit for each slot to come.
    slots: u64,
    /// The number of the word of the next slot to come.
    word: usize,
}

/// What an iteration is over: slots with an entry, or gaps.
#[derive(Clone, Copy)]
struct Over<'a, const ENTRIES: bool> {
    tree: &'a Tree,
    /// The indexes that neither end has passed: slots that overlap them are to come. None if no slot is to come.
    open: Option<Span>,
}

/// The slots of a kind whose ranges overlap some indexes, from both ends.
#[derive(Clone)]
struct Slots<'a, const ENTRIES: bool> {
    over: Over<'a, ENTRIES>,
    front: End<'a>,
    /// None until it is asked for.
    back: Option<End<'a>>,
}

impl<'a> End<'a> {
    /// The slots of a leaf up to the last index that is open.
    #[inline]
    fn enter<const ENTRIES: bool>(open: Span, at: LeafAt<'a>) -> Self {
        let LeafAt { leaf, whole, parent } = at;
        let mut slots = if ENTRIES { leaf.occupied() } else { leaf.gaps() };
        if open.last() < whole.last() {
            slots &= leaf.slots_to(open.last());
        }
        Self { leaf, whole, parent, last: leaf.len() - 1, slots: u64::from(slots), word: Leaf::FIRST_WORD }
    }

    /// Without the slots before the first index that is open.
    #[inline]
    fn cut_before(mut self, open: Span) -> Self {
        if self.whole.first() < open.first() {
            let (slot, rank) = self.leaf.slot_and_rank_of(open.first());
            self.slots &= u64::MAX << slot;
            self.word -= rank;
        }
        self
    }

    /// Goes on to the next leaf with a slot of the kind. False if there is none.
    #[inline]
    fn go_up<const ENTRIES: bool>(&mut self, over: &Over<'a, ENTRIES>) -> bool {
        loop {
            let Some(open) = over.open.filter(|open| self.whole.last() < open.last()) else { return false };
            *self = Self::enter::<ENTRIES>(open, over.tree.leaf_behind(self.whole.last() + 1, self.parent));
            if self.slots != 0 {
                return true;
            }
        }
    }

    /// Goes on to the nearest leaf before with a slot of the kind; stays if this leaf has one. In the leaf of the front, slots
    /// that the front has passed do not count. False if there is no such leaf.
    fn go_down<const ENTRIES: bool>(&mut self, over: &Over<'a, ENTRIES>, open: Span, front: &Self) -> bool {
        loop {
            let met = self.is_with(front);
            if met {
                self.slots &= front.slots;
            }
            if self.slots != 0 || met {
                return self.slots != 0;
            }
            let before = self.whole.first().checked_sub(1).filter(|&last| open.first() <= last);
            let Some(last) = before else { return false };
            *self = Self::enter::<ENTRIES>(open, over.tree.leaf_at(last)).cut_before(open);
        }
    }

    /// Whether both ends are in the same leaf.
    fn is_with(&self, other: &Self) -> bool {
        ptr::eq(self.leaf, other.leaf)
    }

    /// The indexes of a slot.
    #[inline]
    fn span(&self, slot: usize) -> Option<Span> {
        let (first, last) = self.leaf.span_up_to(slot, self.last, self.whole);
        let span = Span::new(first, last);
        debug_assert!(span.is_some(), "M1: no slot is empty");
        span
    }
}

impl<'a, const ENTRIES: bool> Slots<'a, ENTRIES> {
    #[inline]
    fn new(tree: &'a Tree, span: Option<Span>) -> Self {
        let over = Over { tree, open: span };
        let front = match span {
            Some(open) => End::enter::<ENTRIES>(open, tree.leaf_at(open.first())).cut_before(open),
            None => End { slots: 0, ..End::enter::<ENTRIES>(Span::ALL, LeafAt::OF_NO_NODE) },
        };
        Self { over, front, back: None }
    }

    #[inline]
    fn next(&mut self) -> Option<Span> {
        if self.front.slots == 0 && !self.front.go_up(&self.over) {
            return None;
        }
        let slot = self.front.slots.trailing_zeros() as usize;
        self.front.slots &= self.front.slots - 1;
        self.front.span(slot)
    }

    /// The word of the entry that [`next`](Self::next) gave.
    #[inline]
    fn next_word(&mut self) -> Word {
        let word = self.front.leaf.word(self.front.word);
        self.front.word = self.front.word.wrapping_sub(1);
        word
    }

    fn next_back(&mut self) -> Option<(Span, Option<Word>)> {
        let Self { over, front, back } = self;
        let open = over.open?;
        let end = back.get_or_insert_with(|| {
            End::enter::<ENTRIES>(open, over.tree.leaf_at(open.last())).cut_before(open)
        });
        if !end.go_down(over, open, front) {
            return None;
        }
        let slot = end.slots.ilog2() as usize;
        let span = end.span(slot)?;
        end.slots &= !(1 << slot);
        if end.is_with(front) {
            front.slots &= !(1 << slot);
        }
        // Without what this slot has, and what is behind it.
        over.open = span.first().checked_sub(1).and_then(|last| Span::new(open.first(), last));
        Some((span, end.leaf.entry(slot)))
    }
}

/// Entries in ascending order of their indexes, or from the back in descending order.
pub struct Iter<'a, E: StoredValue> {
    map: &'a WordMap<E>,
    slots: Slots<'a, true>,
}

impl<'a, E: StoredValue> Iterator for Iter<'a, E> {
    type Item = (Span, E::Ref<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let span = self.slots.next()?;
        Some((span, self.map.borrow(self.slots.next_word())))
    }
}

impl<E: StoredValue> DoubleEndedIterator for Iter<'_, E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (span, word) = self.slots.next_back()?;
        Some((span, self.map.borrow(word?)))
    }
}

impl<E: StoredValue> FusedIterator for Iter<'_, E> {}

impl<E: StoredValue> Clone for Iter<'_, E> {
    fn clone(&self) -> Self {
        Self { map: self.map, slots: self.slots.clone() }
    }
}

impl<'a, E: StoredValue> fmt::Debug for Iter<'a, E>
where
    E::Ref<'a>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// Gaps in ascending order, or from the back in descending order; whole, even where they reach beyond the range.
#[derive(Clone)]
pub struct Gaps<'a>(Slots<'a, false>);

impl Iterator for Gaps<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        self.0.next()
    }
}

impl DoubleEndedIterator for Gaps<'_> {
    fn next_back(&mut self) -> Option<Span> {
        self.0.next_back().map(|(span, _)| span)
    }
}

impl FusedIterator for Gaps<'_> {}

impl fmt::Debug for Gaps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<E: StoredValue> WordMap<E> {
    /// All entries, ascending.
    #[doc(alias = "mas_for_each")]
    #[inline] // Else the iterator has a place in memory, and every step goes there.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, E> {
        self.range(..)
    }

    /// The entries that have an index within the bounds, ascending; those at the ends may reach beyond them. Bounds
    /// that are empty or upside down have none.
    #[inline]
    #[must_use]
    pub fn range(&self, bounds: impl RangeBounds<u64>) -> Iter<'_, E> {
        Iter { map: self, slots: Slots::new(&self.tree, Span::from_bounds(&bounds)) }
    }

    /// The gaps that have an index within the bounds, ascending, whole.
    #[must_use]
    pub fn gaps(&self, bounds: impl RangeBounds<u64>) -> Gaps<'_> {
        Gaps(Slots::new(&self.tree, Span::from_bounds(&bounds)))
    }

    /// Whether no index within the bounds is in an entry.
    #[must_use]
    pub fn is_free(&self, bounds: impl RangeBounds<u64>) -> bool {
        self.range(bounds).next().is_none()
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

impl<'a, E: StoredValue> IntoIterator for &'a WordMap<E> {
    type Item = (Span, E::Ref<'a>);
    type IntoIter = Iter<'a, E>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
