//! Regions and free blocks in address order.

use super::{EntryHandle, RegionEntry, RegionTree};
use freehold_units::Span;
use freehold_units::pool::NO_NODE;

/// A part of a space.
pub(crate) enum Piece<'a, V> {
    Free(Span),
    /// A region and its guard.
    Busy(RegionEntry<'a, V>),
}

impl<V> Piece<'_, V> {
    /// All its addresses.
    pub(crate) fn extent(&self) -> Span {
        match self {
            Piece::Free(block) => *block,
            Piece::Busy(entry) => entry.taken,
        }
    }
}

impl<V> RegionTree<V> {
    /// All regions in address order.
    pub(crate) fn regions(&self) -> impl Iterator<Item = RegionEntry<'_, V>> {
        self.entries().filter_map(|at| self.region_of(at))
    }

    /// All free blocks in address order.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Span> {
        self.entries().filter_map(|at| self.block_behind(at))
    }

    /// All of both in address order, between them nothing but holes of the layout.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_, V>> {
        self.entries().flat_map(|at| {
            let (busy, free) = (self.region_of(at).map(Piece::Busy), self.block_behind(at).map(Piece::Free));
            busy.into_iter().chain(free)
        })
    }

    fn region_of(&self, at: EntryHandle) -> Option<RegionEntry<'_, V>> {
        self.tree.leaves[at.leaf].is_region(at.slot).then(|| self.entry(at))
    }

    /// Regions and markers in address order.
    fn entries(&self) -> impl Iterator<Item = EntryHandle> {
        let mut at = (self.tree.root != NO_NODE).then(|| {
            let path = self.tree.first_path();
            (path, self.tree.leaves[path.leaf].in_order(), 0)
        });
        core::iter::from_fn(move || {
            loop {
                let (path, order, passed) = at.as_mut()?;
                if *passed < self.tree.leaves[path.leaf].len() {
                    *passed += 1;
                    return Some(EntryHandle {
                        leaf: path.leaf,
                        slot: order[*passed - 1].into(),
                        parent: path.steps[0],
                    });
                }
                if !self.tree.next(path) {
                    return None;
                }
                (*order, *passed) = (self.tree.leaves[path.leaf].in_order(), 0);
            }
        })
    }
}
