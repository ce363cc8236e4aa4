//! Regions and free blocks in address order, from both ends.

use super::leaf::{Leaf, WIDTH};
use super::{RegionEntry, RegionTree};
use crate::bplus::LeafPath;
use core::iter::FusedIterator;
use core::ops::Range;
use freehold_units::Span;
use freehold_units::pool::NO_NODE;

/// A free block, or a region with its guard.
#[derive(PartialEq)]
pub(crate) enum Piece<'a, V> {
    Free(Span),
    /// A region and its guard, or a placeholder.
    Busy(RegionEntry<'a, V>),
}

impl<V> Piece<'_, V> {
    /// All addresses of the piece.
    pub(crate) fn extent(&self) -> Span {
        match self {
            Piece::Free(block) => *block,
            Piece::Busy(entry) => entry.taken(),
        }
    }
}

/// An entry that an iteration gives.
pub(crate) struct EntryRef<'a, V> {
    pub(super) leaf: &'a Leaf<V>,
    pub(super) slot: usize,
}

/// Regions, placeholders and markers of a part of the tree in address order.
pub(crate) struct Entries<'a, V> {
    tree: &'a RegionTree<V>,
    /// The front and the back. In the same leaf, the front's remaining entries are those of both.
    ends: Option<(End<'a, V>, End<'a, V>)>,
}

/// One end of an iteration: a leaf, and its entries that remain.
struct End<'a, V> {
    leaf: &'a Leaf<V>,
    path: LeafPath,
    /// The leaf's slots in address order.
    order: [u8; WIDTH],
    /// The remaining entries, as indices into `order`.
    rest: Range<usize>,
}

impl<V> Clone for End<'_, V> {
    fn clone(&self) -> Self {
        Self { rest: self.rest.clone(), ..*self }
    }
}

impl<'a, V> End<'a, V> {
    fn is_with(&self, other: &Self) -> bool {
        self.path.leaf == other.path.leaf
    }

    fn first(&mut self) -> Option<EntryRef<'a, V>> {
        self.rest.next().map(|nth| self.entry(nth))
    }

    fn last(&mut self) -> Option<EntryRef<'a, V>> {
        self.rest.next_back().map(|nth| self.entry(nth))
    }

    fn entry(&self, nth: usize) -> EntryRef<'a, V> {
        EntryRef { leaf: self.leaf, slot: self.order[nth].into() }
    }
}

impl<V> RegionTree<V> {
    /// All regions and placeholders in address order.
    pub(crate) fn regions(&self) -> impl Iterator<Item = RegionEntry<'_, V>> {
        self.entries(Span::ALL).filter_map(|at| self.region_of(at))
    }

    /// All free blocks in address order.
    pub(crate) fn blocks(&self) -> impl DoubleEndedIterator<Item = Span> + FusedIterator {
        self.entries(Span::ALL).filter_map(|at| self.block_of(&at))
    }

    /// Regions, placeholders and free blocks in address order. Only holes of the layout lie between them.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_, V>> {
        self.entries(Span::ALL).flat_map(|at| {
            let free = self.block_of(&at).map(Piece::Free);
            self.region_of(at).map(Piece::Busy).into_iter().chain(free)
        })
    }

    /// All values, in no order.
    pub(crate) fn values_mut(&mut self) -> impl FusedIterator<Item = &mut V> {
        self.tree.leaves.iter_mut().flat_map(Leaf::values_mut)
    }

    /// The region or placeholder of an entry; `None` for a marker.
    #[inline]
    pub(crate) fn region_of<'a>(&self, at: EntryRef<'a, V>) -> Option<RegionEntry<'a, V>> {
        at.leaf.is_region(at.slot).then(|| self.entry(at.leaf, at.slot))
    }

    /// The free block after an entry.
    pub(super) fn block_of(&self, at: &EntryRef<'_, V>) -> Option<Span> {
        self.span_if(at.leaf.end(at.slot), at.leaf.next(at.slot))
    }

    /// The entries that have an address in `span`: regions, placeholders and the markers between them.
    pub(crate) fn entries(&self, span: Span) -> Entries<'_, V> {
        let ends = (self.tree.root != NO_NODE).then(|| self.first_from(span).zip(self.last_up_to(span)));
        Entries { tree: self, ends: ends.flatten().and_then(|(front, back)| Self::between(front, back)) }
    }

    /// The two ends of an iteration, if the front's first entry is not above the back's last one. Each has an entry.
    fn between<'a>(mut front: End<'a, V>, back: End<'a, V>) -> Option<(End<'a, V>, End<'a, V>)> {
        let (first, last) = (front.entry(front.rest.start), back.entry(back.rest.end - 1));
        if front.is_with(&back) {
            front.rest.end = back.rest.end;
        }
        (first.leaf.end(first.slot) <= last.leaf.end(last.slot)).then_some((front, back))
    }

    /// The number of regions that overlap `span`, or one more.
    pub(crate) fn count_in(&self, span: Span) -> usize {
        1 + self.count(span, Leaf::regions_within)
    }

    /// The number of spans of the layout that start in `span`.
    pub(crate) fn markers_in(&self, span: Span) -> usize {
        self.count(span, |leaf, first, last| {
            let is_one = |&slot: &usize| !leaf.is_region(slot) && (first..=last).contains(&leaf.start(slot));
            (0..leaf.len()).filter(is_one).count()
        })
    }

    /// The sum over the leaves of `span` of a count for its first and its last granule.
    fn count(&self, span: Span, of_leaf: impl Fn(&Leaf<V>, u64, u64) -> usize) -> usize {
        let (first, last) = (span.first() >> self.shift, span.last() >> self.shift);
        let Some(mut path) = self.path_to(first) else { return 0 };
        let mut count = 0;
        loop {
            count += of_leaf(&self.tree.leaves[path.leaf], first, last);
            if !self.tree.next(&mut path) {
                return count;
            }
            let step = path.steps[0];
            if self.tree.inners[step.inner()].low(step.slot()) > last {
                return count;
            }
        }
    }

    pub(crate) fn no_entries(&self) -> Entries<'_, V> {
        Entries { tree: self, ends: None }
    }

    /// From the first entry on that does not end before `span`. A marker at its first address counts.
    fn first_from(&self, span: Span) -> Option<End<'_, V>> {
        let granule = span.first() >> self.shift;
        let passed = |leaf: &Leaf<V>, slot| leaf.start(slot) < granule && leaf.end(slot) <= granule.into();
        let mut front = self.end_at(self.tree.path_to(granule));
        front.rest.start =
            front.order[front.rest.clone()].partition_point(|&slot| passed(front.leaf, slot.into()));
        (!front.rest.is_empty() || self.next_leaf(&mut front)).then_some(front)
    }

    /// Up to the last entry that starts in `span` or below it.
    fn last_up_to(&self, span: Span) -> Option<End<'_, V>> {
        let granule = span.last() >> self.shift;
        let is_below = |leaf: &Leaf<V>, slot| leaf.start(slot) <= granule;
        let mut back = self.end_at(self.tree.path_to(granule));
        back.rest.end =
            back.order[back.rest.clone()].partition_point(|&slot| is_below(back.leaf, slot.into()));
        (!back.rest.is_empty() || self.previous_leaf(&mut back)).then_some(back)
    }

    /// All entries of a leaf.
    fn end_at(&self, path: LeafPath) -> End<'_, V> {
        let leaf = &self.tree.leaves[path.leaf];
        End { leaf, path, order: leaf.in_order(), rest: 0..leaf.len() }
    }

    /// Goes on to the next leaf; `false` at the last.
    fn next_leaf<'a>(&'a self, end: &mut End<'a, V>) -> bool {
        self.turn(end, |path| self.tree.next(path))
    }

    /// Goes back to the previous leaf; `false` at the first.
    fn previous_leaf<'a>(&'a self, end: &mut End<'a, V>) -> bool {
        self.turn(end, |path| self.tree.previous(path))
    }

    /// Takes an end to the leaf to which its path goes, if it goes to one.
    fn turn<'a>(&'a self, end: &mut End<'a, V>, go: impl FnOnce(&mut LeafPath) -> bool) -> bool {
        let goes = go(&mut end.path);
        if goes {
            *end = self.end_at(end.path);
        }
        goes
    }
}

impl<'a, V> Entries<'a, V> {
    /// The first entry behind the front's leaf.
    #[inline(never)]
    fn above(&mut self) -> Option<EntryRef<'a, V>> {
        let (front, back) = self.ends.as_mut()?;
        if front.is_with(back) || !self.tree.next_leaf(front) {
            return None;
        }
        if front.is_with(back) {
            front.rest = back.rest.clone();
        }
        front.first()
    }
}

impl<'a, V> Iterator for Entries<'a, V> {
    type Item = EntryRef<'a, V>;

    #[inline]
    fn next(&mut self) -> Option<EntryRef<'a, V>> {
        let (front, _) = self.ends.as_mut()?;
        front.first().or_else(|| self.above())
    }
}

impl<V> DoubleEndedIterator for Entries<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (front, back) = self.ends.as_mut()?;
        if back.rest.is_empty() && !front.is_with(back) {
            self.tree.previous_leaf(back);
        }
        if front.is_with(back) { front.last() } else { back.last() }
    }
}

impl<V> FusedIterator for Entries<'_, V> {}

impl<V> Clone for Entries<'_, V> {
    fn clone(&self) -> Self {
        Self { tree: self.tree, ends: self.ends.clone() }
    }
}
