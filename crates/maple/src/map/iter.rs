//! Iteration, upwards and downwards, over entries and over gaps.
//!
//! A leaf is gone through slot by slot, by the bits of its `occupied`; from one leaf to the next the path knows the
//! nearest ancestor with another child.

use super::RangeMap;
use crate::entry::{Entry, Word};
use crate::node::{Leaf, Shape};
use crate::tree::{Path, Tree};
use core::ops::{Bound, RangeBounds};
use freehold_units::Span;

/// One end of an iteration: a leaf, and the slots of it that are still to come.
struct End<'a> {
    path: Path,
    leaf: Option<&'a Leaf>,
    /// A bit for each slot to come.
    slots: u32,
    /// Entries before the first of them.
    rank: usize,
}

/// What an iteration is over.
struct Over<'a, S: Shape> {
    tree: &'a Tree<S>,
    /// Whether slots with an entry are wanted, or gaps.
    entries: bool,
}

/// The slots of a kind whose ranges overlap some indexes, from both ends.
struct Slots<'a, S: Shape> {
    over: Over<'a, S>,
    /// What has not been passed yet, at either end.
    rest: Option<Span>,
    front: Option<End<'a>>,
    back: Option<End<'a>>,
}

impl<'a> End<'a> {
    /// At the slot that has the index.
    #[cold]
    fn new<S: Shape>(over: &Over<'a, S>, index: u64, up: bool) -> Self {
        let mut end = Self { path: Path::new(), leaf: None, slots: 0, rank: 0 };
        if over.tree.height() > 0 {
            over.tree.walk(index, &mut end.path, &mut ());
            end.enter(over, up);
        }
        end
    }

    /// The slots of the path's leaf, from its slot on upwards or downwards.
    fn enter<S: Shape>(&mut self, over: &Over<'a, S>, up: bool) {
        let leaf = over.tree.leaf_of(&self.path);
        let slot = self.path.leaf().slot;
        let kind = if over.entries { leaf.occupied() } else { leaf.gaps() };
        let (above, below) = (u32::MAX << slot, u32::MAX >> (31 - slot));
        self.slots = kind & if up { above } else { below };
        self.rank = leaf.rank(slot as usize);
        self.leaf = Some(leaf);
    }

    /// Goes on to the next leaf with a slot of the kind, or the one before; to none at the end.
    #[inline(never)]
    fn go_on<S: Shape>(&mut self, over: &Over<'a, S>, up: bool) {
        while self.slots == 0 {
            let moved = if up {
                over.tree.next_leaf(&mut self.path)
            } else {
                over.tree.previous_leaf(&mut self.path)
            };
            if !moved {
                self.leaf = None;
                return;
            }
            self.enter(over, up);
        }
    }
}

impl<'a, S: Shape> Slots<'a, S> {
    fn new(tree: &'a Tree<S>, span: Option<Span>, entries: bool) -> Self {
        Self { over: Over { tree, entries }, rest: span, front: None, back: None }
    }

    #[inline]
    fn next(&mut self) -> Option<(Span, Option<Word>)> {
        let rest = self.rest?;
        let end = self.front.get_or_insert_with(|| End::new(&self.over, rest.first(), true));
        if end.slots == 0 {
            end.go_on(&self.over, true);
        }
        let leaf = end.leaf?;
        let slot = end.slots.trailing_zeros() as usize;
        let (first, last) = leaf.span(slot, end.path.whole);
        if first > rest.last() {
            self.rest = None;
            return None;
        }
        end.slots &= end.slots - 1;
        let span = Span::new(first, last)?;
        self.rest = rest.above(span);
        if !self.over.entries {
            return Some((span, None));
        }
        let word = leaf.ranked(end.rank);
        end.rank += 1;
        Some((span, Some(word)))
    }

    fn next_back(&mut self) -> Option<(Span, Option<Word>)> {
        let rest = self.rest?;
        let end = self.back.get_or_insert_with(|| End::new(&self.over, rest.last(), false));
        if end.slots == 0 {
            end.go_on(&self.over, false);
        }
        let leaf = end.leaf?;
        let slot = end.slots.ilog2();
        let (first, last) = leaf.span(slot as usize, end.path.whole);
        if last < rest.first() {
            self.rest = None;
            return None;
        }
        end.slots &= !(1 << slot);
        let span = Span::new(first, last)?;
        self.rest = rest.below(span);
        Some((span, leaf.entry(slot as usize)))
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
        Some((span, self.map.borrow(word?)))
    }
}

impl<E: Entry, S: Shape> DoubleEndedIterator for Iter<'_, E, S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (span, word) = self.slots.next_back()?;
        Some((span, self.map.borrow(word?)))
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
