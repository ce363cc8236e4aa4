//! Regions and free blocks in address order, from both ends.

use super::leaf::{Leaf, WIDTH};
use super::{RegionEntry, RegionTree};
use crate::bplus::LeafPath;
use core::iter::FusedIterator;
use core::ops::Range;
use freehold_units::Span;

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
    /// The last granule of the part.
    last: u64,
    /// `None` once no entry remains.
    front: Option<End<'a, V>>,
    /// `None` before the first step from the back. In the front's leaf, the front's remaining entries are those of both.
    back: Option<End<'a, V>>,
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
        let (first, last) = (span.first() >> self.shift, span.last() >> self.shift);
        let front = self.path_to(first).and_then(|mut path| {
            // All entries of its leaf may lie before.
            let here = self.end_at(path, first, last);
            here.or_else(|| self.next_up_to(&mut path, last).then(|| self.end_at(path, first, last))?)
        });
        Entries { tree: self, last, front, back: None }
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
            if !self.next_up_to(&mut path, last) {
                return count;
            }
        }
    }

    /// Moves to the next leaf, if it may have an entry that starts at `granule` or below it.
    fn next_up_to(&self, path: &mut LeafPath, granule: u64) -> bool {
        self.tree.next(path) && {
            let step = path.steps[0];
            self.tree.inners[step.inner()].low(step.slot()) <= granule
        }
    }

    pub(crate) fn no_entries(&self) -> Entries<'_, V> {
        Entries { tree: self, last: 0, front: None, back: None }
    }

    /// The entries of a leaf with a granule in `first..=last`; `None` if there are none.
    fn end_at(&self, path: LeafPath, first: u64, last: u64) -> Option<End<'_, V>> {
        let leaf = &self.tree.leaves[path.leaf];
        let (order, count) = leaf.in_order(first, last);
        (count > 0).then_some(End { leaf, path, order, rest: 0..count })
    }
}

impl<'a, V> Entries<'a, V> {
    /// The last entries. There are some: the front has an entry, or had.
    fn last_end(&self) -> End<'a, V> {
        let mut path = self.tree.tree.path_to(self.last);
        loop {
            match self.tree.end_at(path, 0, self.last) {
                Some(end) => return end,
                None => assert!(
                    self.tree.tree.previous(&mut path),
                    "K4: an entry starts at or below the last granule"
                ),
            }
        }
    }

    /// The first entry behind the front's leaf.
    #[inline(never)]
    fn above(&mut self) -> Option<EntryRef<'a, V>> {
        let mut path = self.front.take()?.path;
        let is_back = |path: &LeafPath| self.back.as_ref().filter(|back| back.path.leaf == path.leaf);
        if is_back(&path).is_some() || !self.tree.next_up_to(&mut path, self.last) {
            return None;
        }
        let mut front = match is_back(&path) {
            Some(back) if back.rest.is_empty() => return None,
            Some(back) => back.clone(),
            None => self.tree.end_at(path, 0, self.last)?,
        };
        let first = front.first();
        self.front = Some(front);
        first
    }
}

impl<'a, V> Iterator for Entries<'a, V> {
    type Item = EntryRef<'a, V>;

    #[inline]
    fn next(&mut self) -> Option<EntryRef<'a, V>> {
        self.front.as_mut()?.first().or_else(|| self.above())
    }
}

impl<V> DoubleEndedIterator for Entries<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.front.is_some() && self.back.is_none() {
            self.back = Some(self.last_end());
        }
        let (front, back) = (self.front.as_mut()?, self.back.as_mut()?);
        if back.rest.is_empty() && !front.is_with(back) && self.tree.tree.previous(&mut back.path) {
            *back = self.tree.end_at(back.path, 0, self.last)?;
        }
        if front.is_with(back) { front.last() } else { back.last() }
    }
}

impl<V> FusedIterator for Entries<'_, V> {}

impl<V> Clone for Entries<'_, V> {
    fn clone(&self) -> Self {
        Self { front: self.front.clone(), back: self.back.clone(), ..*self }
    }
}
