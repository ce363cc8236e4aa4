//! Regions and free blocks in address order, from both ends.

use super::leaf::{Leaf, WIDTH};
use super::{EntryHandle, RegionEntry, RegionTree};
use crate::bplus::LeafPath;
use core::iter::FusedIterator;
use freehold_units::Span;
use freehold_units::pool::NO_NODE;

/// A free block, or a region with its guard.
#[derive(PartialEq)]
pub(crate) enum Piece<'a, V> {
    Free(Span),
    /// A region and its guard, or a hold.
    Busy(RegionEntry<'a, V>),
}

impl<V> Piece<'_, V> {
    /// All addresses of the piece.
    pub(crate) fn extent(&self) -> Span {
        match self {
            Piece::Free(block) => *block,
            Piece::Busy(entry) => entry.taken,
        }
    }
}

/// Regions, holds and markers of a part of the tree in address order.
pub(crate) struct Entries<'a, V> {
    tree: &'a RegionTree<V>,
    /// The first and the last remaining entry.
    ends: Option<(Position, Position)>,
}

/// An entry's place in the order of addresses.
#[derive(Clone, Copy)]
struct Position {
    path: LeafPath,
    /// The leaf's slots in address order.
    order: [u8; WIDTH],
    /// The index in `order`.
    nth: usize,
}

impl Position {
    fn handle(&self) -> EntryHandle {
        EntryHandle { leaf: self.path.leaf, slot: self.order[self.nth].into(), parent: self.path.steps[0] }
    }
}

impl<V> RegionTree<V> {
    /// All regions and holds in address order.
    pub(crate) fn regions(&self) -> impl Iterator<Item = RegionEntry<'_, V>> {
        self.entries(Span::ALL).filter_map(|at| self.region_of(at))
    }

    /// All free blocks in address order.
    pub(crate) fn blocks(&self) -> impl DoubleEndedIterator<Item = Span> + FusedIterator {
        self.entries(Span::ALL).filter_map(|at| self.block_behind(at))
    }

    /// Regions, holds and free blocks in address order. Only holes of the layout lie between them.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_, V>> {
        self.entries(Span::ALL).flat_map(|at| {
            let (busy, free) = (self.region_of(at).map(Piece::Busy), self.block_behind(at).map(Piece::Free));
            busy.into_iter().chain(free)
        })
    }

    /// All values, in no order.
    pub(crate) fn values_mut(&mut self) -> impl FusedIterator<Item = &mut V> {
        self.tree.leaves.iter_mut().flat_map(Leaf::values_mut)
    }

    /// The region or hold of an entry; `None` for a marker.
    pub(crate) fn region_of(&self, at: EntryHandle) -> Option<RegionEntry<'_, V>> {
        let leaf = &self.tree.leaves[at.leaf];
        leaf.is_region(at.slot).then(|| self.entry(leaf, at.slot))
    }

    /// The entries that have an address in `span`: regions, holds and the markers between them.
    pub(crate) fn entries(&self, span: Span) -> Entries<'_, V> {
        let ends = (self.tree.root != NO_NODE).then(|| (self.first_from(span), self.last_until(span)));
        let ends = match ends {
            Some((Some(front), Some(back))) if self.end_of(&front) <= self.end_of(&back) => {
                Some((front, back))
            }
            _ => None,
        };
        Entries { tree: self, ends }
    }

    /// The number of regions that overlap `span`, or one more.
    pub(crate) fn count_in(&self, span: Span) -> usize {
        1 + self.count(span, Leaf::regions_within)
    }

    /// The number of spans of the layout that start in `span`.
    pub(crate) fn markers_in(&self, span: Span) -> usize {
        self.count(span, |leaf, from, until| {
            let is_one = |&slot: &usize| !leaf.is_region(slot) && (from..=until).contains(&leaf.start(slot));
            (0..leaf.len()).filter(is_one).count()
        })
    }

    /// The sum over the leaves of `span` of a count for its first and its last granule.
    fn count(&self, span: Span, of_leaf: impl Fn(&Leaf<V>, u64, u64) -> usize) -> usize {
        let (from, until) = (span.first() >> self.shift, span.last() >> self.shift);
        let Some(mut path) = self.path_to(from) else { return 0 };
        let mut count = 0;
        loop {
            count += of_leaf(&self.tree.leaves[path.leaf], from, until);
            if !self.tree.next(&mut path) {
                return count;
            }
            let step = path.steps[0];
            if self.tree.inners[step.inner()].low(step.slot()) > until {
                return count;
            }
        }
    }

    pub(crate) fn no_entries(&self) -> Entries<'_, V> {
        Entries { tree: self, ends: None }
    }

    /// The first entry that does not end before `span`. A marker at its first address counts.
    fn first_from(&self, span: Span) -> Option<Position> {
        let granule = span.first() >> self.shift;
        let passed = |leaf: &Leaf<V>, slot| leaf.start(slot) < granule && leaf.end(slot) <= granule.into();
        let mut at = self.position(self.tree.path_to(granule), passed);
        (at.nth < self.tree.leaves[at.path.leaf].len() || self.next_leaf(&mut at)).then_some(at)
    }

    /// The last entry that starts in `span` or below it.
    fn last_until(&self, span: Span) -> Option<Position> {
        let granule = span.last() >> self.shift;
        let mut past = self.position(self.tree.path_to(granule), |leaf, slot| leaf.start(slot) <= granule);
        self.step_back(&mut past).then_some(past)
    }

    /// The first entry of a leaf for which `passed` is false.
    fn position(&self, path: LeafPath, passed: impl Fn(&Leaf<V>, usize) -> bool) -> Position {
        let leaf = &self.tree.leaves[path.leaf];
        let order = leaf.in_order();
        let nth = order[..leaf.len()].partition_point(|&slot| passed(leaf, slot.into()));
        Position { path, order, nth }
    }

    fn end_of(&self, at: &Position) -> u128 {
        let EntryHandle { leaf, slot, .. } = at.handle();
        self.tree.leaves[leaf].end(slot)
    }

    fn next_leaf(&self, at: &mut Position) -> bool {
        let is_next = self.tree.next(&mut at.path);
        if is_next {
            *at = self.position(at.path, |_, _| false);
        }
        is_next
    }

    /// Advances to the next entry; `false` at the last.
    fn step(&self, at: &mut Position) -> bool {
        if at.nth + 1 < self.tree.leaves[at.path.leaf].len() {
            at.nth += 1;
            return true;
        }
        self.next_leaf(at)
    }

    /// Goes back to the previous entry; `false` at the first.
    fn step_back(&self, at: &mut Position) -> bool {
        if at.nth == 0 {
            if !self.tree.previous(&mut at.path) {
                return false;
            }
            *at = self.position(at.path, |_, _| true);
        }
        at.nth -= 1;
        true
    }
}

impl<V> Entries<'_, V> {
    /// Takes the entry at one end.
    fn give(&mut self, of_front: bool) -> Option<EntryHandle> {
        let (front, back) = self.ends.as_mut()?;
        let given = if of_front { front.handle() } else { back.handle() };
        let is_last = front.path.leaf == back.path.leaf && front.nth == back.nth;
        let goes_on = if of_front { self.tree.step(front) } else { self.tree.step_back(back) };
        if is_last || !goes_on {
            self.ends = None;
        }
        Some(given)
    }
}

impl<V> Iterator for Entries<'_, V> {
    type Item = EntryHandle;

    fn next(&mut self) -> Option<EntryHandle> {
        self.give(true)
    }
}

impl<V> DoubleEndedIterator for Entries<'_, V> {
    fn next_back(&mut self) -> Option<EntryHandle> {
        self.give(false)
    }
}

impl<V> FusedIterator for Entries<'_, V> {}

impl<V> Clone for Entries<'_, V> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}
