//! The tree of areas in use: inserted and removed whole, never merged.

use super::node::Link;
use super::policy::Areas;
use super::{Block, RbTree};
use core::iter::FusedIterator;
use freehold_units::Span;

impl RbTree<Areas> {
    /// Adds an area; the caller has reserved its node. Returns the node's number.
    ///
    /// # Errors
    /// The area that it overlaps.
    #[inline]
    pub(in crate::kva) fn insert_area(&mut self, area: Span) -> Result<usize, Span> {
        let point = self.locate(area, &mut ())?;
        Ok(self.insert_at(point.place, area, &mut ()).number())
    }

    /// Removes the area that starts at `first`. Returns the number that its node had.
    #[inline]
    pub(in crate::kva) fn remove_area(&mut self, first: u64) -> Option<(usize, Span)> {
        let (block, area) = self.floor(first).filter(|(_, area)| area.first() == first)?;
        self.erase(block.link, &mut ());
        Some((block.number(), area))
    }

    /// All areas in address order, with the numbers of their nodes.
    pub(in crate::kva) fn numbered(&self) -> impl FusedIterator<Item = (usize, Span)> {
        self.links().map(|link| (link.number(), self.nodes[link].span))
    }

    /// One more than the largest number that a node has.
    pub(in crate::kva) fn numbers(&self) -> usize {
        self.nodes.numbers()
    }
}

impl Block {
    pub(in crate::kva) const fn number(self) -> usize {
        self.link.number()
    }
}

impl Link {
    pub(super) const fn number(self) -> usize {
        self.0 as usize
    }
}
