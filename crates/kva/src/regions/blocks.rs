//! Free blocks by address: gaps that are not empty.

use super::iter::EntryRef;
use super::{EntryHandle, GranuleRequest, Order, RegionTree, search};
use crate::bplus::LeafPath;
use freehold_units::Span;

impl<V> RegionTree<V> {
    /// The highest free block that has at least `size_bytes` at or below `address`.
    pub(crate) fn block_at_or_below(&self, address: u64, size_bytes: u64) -> Option<Span> {
        let (size, last) = ((size_bytes >> self.shift).max(1), address >> self.shift);
        let wanted = GranuleRequest { size, mask: 0, first: 0, last };
        self.block_behind(search(self, Order::HighestFirst, &wanted, &mut ())?.entry)
    }

    /// The entry of the highest gap that starts at or below `address`, in the leaf that the address belongs to. If the
    /// address is free, it lies in that gap.
    #[inline]
    pub(crate) fn entry_before(&self, address: u64) -> Option<EntryHandle> {
        let granule = address >> self.shift;
        let LeafPath { leaf, steps } = self.path_to(granule)?;
        let slot = self.tree.leaves[leaf].gap_at_or_below(granule)?;
        Some(EntryHandle { leaf, slot, parent: steps[0] })
    }

    /// The free block after an entry.
    pub(crate) fn block_behind(&self, entry: EntryHandle) -> Option<Span> {
        self.block_of(&EntryRef { leaf: &self.tree.leaves[entry.leaf], slot: entry.slot })
    }

    /// The free block that `address` lies in.
    pub(crate) fn block_at(&self, address: u64) -> Option<Span> {
        self.block_behind(self.entry_before(address)?).filter(|block| block.contains(address))
    }

    /// The free block that covers `span`, and the entry before it.
    pub(crate) fn block_over(&self, span: Span) -> Option<(EntryHandle, Span)> {
        let entry = self.entry_before(span.first())?;
        self.block_behind(entry).filter(|block| block.covers(span)).map(|block| (entry, block))
    }

    /// All free blocks that have an address in `window`, in address order.
    pub(crate) fn blocks_in(&self, window: Span) -> impl Iterator<Item = Span> {
        // A block that begins before the window follows an entry that ends before the window.
        let before = self.block_at(window.first());
        let inside = self.entries(window).filter_map(|at| self.block_of(&at));
        before.into_iter().chain(inside)
    }
}
