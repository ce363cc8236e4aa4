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

/// The slots of a kind whose ranges overlap some indexes, from both ends.
pub(super) struct Slots<'a, S: Shape> {
    tree: &'a Tree<S>,
    /// Whether slots with an entry are wanted, or gaps.
    entries: bool,
    /// What has not been passed yet, at either end.
    rest: Option<Span>,
    front: Option<End<'a>>,
    back: Option<End<'a>>,
}

impl<'a, S: Shape> Slots<'a, S> {
    pub(super) fn new(tree: &'a Tree<S>, span: Option<Span>, entries: bool) -> Self {
        Self { tree, entries, rest: span, front: None, back: None }
    }

    /// The slots of a path's leaf from its slot on upwards, or downwards.
    fn enter(&self, end: &mut End<'a>, up: bool) {
        let leaf = self.tree.leaf_of(&end.path);
        let slot = end.path.leaf().slot;
        let kind = if self.entries { leaf.occupied() } else { leaf.gaps() };
        let (above, below) = (u32::MAX << slot, u32::MAX >> (31 - slot));
        end.slots = kind & if up { above } else { below };
        end.rank = leaf.rank(slot as usize);
        end.leaf = Some(leaf);
    }

    #[cold]
    fn start(&self, rest: Span, up: bool) -> End<'a> {
        let mut end = End { path: Path::new(), leaf: None, slots: 0, rank: 0 };
        if self.tree.height() > 0 {
            self.tree.walk(if up { rest.first() } else { rest.last() }, &mut end.path, &mut ());
            self.enter(&mut end, up);
        }
        end
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(Span, Option<Word>)> {
        let rest = self.rest?;
        let mut end = match self.front.take() {
            Some(end) => end,
            None => self.start(rest, true),
        };
        let found = self.step_up(&mut end, rest);
        self.front = Some(end);
        self.rest = found.and_then(|(span, _)| rest.above(span));
        found
    }

    #[inline]
    fn step_up(&self, end: &mut End<'a>, rest: Span) -> Option<(Span, Option<Word>)> {
        let leaf = loop {
            let leaf = end.leaf?;
            if end.slots != 0 {
                break leaf;
            }
            if !self.tree.next_leaf(&mut end.path) {
                end.leaf = None;
                return None;
            }
            self.enter(end, true);
        };
        let slot = end.slots.trailing_zeros() as usize;
        end.slots &= end.slots - 1;
        let (first, last) = leaf.span(slot, end.path.whole);
        let span = Span::new(first, last).filter(|span| span.first() <= rest.last())?;
        if !self.entries {
            return Some((span, None));
        }
        let word = leaf.ranked(end.rank);
        end.rank += 1;
        Some((span, Some(word)))
    }

    fn next_back(&mut self) -> Option<(Span, Option<Word>)> {
        let rest = self.rest?;
        let mut end = match self.back.take() {
            Some(end) => end,
            None => self.start(rest, false),
        };
        let found = self.step_down(&mut end, rest);
        self.back = Some(end);
        self.rest = found.and_then(|(span, _)| rest.below(span));
        found
    }

    fn step_down(&self, end: &mut End<'a>, rest: Span) -> Option<(Span, Option<Word>)> {
        let leaf = loop {
            let leaf = end.leaf?;
            if end.slots != 0 {
                break leaf;
            }
            if !self.tree.previous_leaf(&mut end.path) {
                end.leaf = None;
                return None;
            }
            self.enter(end, false);
        };
        let slot = end.slots.ilog2() as usize;
        end.slots &= !(1 << slot);
        let (first, last) = leaf.span(slot, end.path.whole);
        let span = Span::new(first, last).filter(|span| span.last() >= rest.first())?;
        Some((span, leaf.entry(slot)))
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
