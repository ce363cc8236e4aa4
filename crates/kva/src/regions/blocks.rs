//! Free blocks by address: gaps that are not empty.

use super::{EntryPath, Order, RegionTree, Wanted};
use crate::Merge;
use freehold_units::Span;

impl<V> RegionTree<V> {
    /// The highest free block that starts at or below `address`, in a tree that keeps bounds.
    pub(crate) fn block_at_or_below(&self, address: u64) -> Option<Span> {
        let near = self.entry_before(address).and_then(|entry| self.block_behind(&entry));
        if let Some(block) = near.filter(|block| block.first() <= address) {
            return Some(block);
        }
        // The highest granule that is free at or below the address.
        let wanted = Wanted { size: 1, mask: 0, from: 0, until: address >> self.shift };
        self.block_behind(&self.find(Order::HighestFirst, &wanted, &mut ())?.entry)
    }

    /// The entry behind which `address` lies, which is free.
    #[inline]
    pub(crate) fn entry_before(&self, address: u64) -> Option<EntryPath> {
        let granule = address >> self.shift;
        let path = self.path_to(granule)?;
        let slot = self.tree.leaves[path.leaf].gap_at_or_below(granule)?;
        Some(EntryPath { path, slot })
    }

    /// The free block behind an entry.
    pub(crate) fn block_behind(&self, entry: &EntryPath) -> Option<Span> {
        let leaf = &self.tree.leaves[entry.path.leaf];
        self.span_if(leaf.end(entry.slot), leaf.next(entry.slot))
    }

    /// The free block that `address` lies in.
    pub(crate) fn block_at(&self, address: u64) -> Option<Span> {
        self.block_behind(&self.entry_before(address)?).filter(|block| block.contains(address))
    }

    /// The free block that covers `span`, and the entry before it.
    pub(crate) fn block_over(&self, span: Span) -> Option<(EntryPath, Span)> {
        let entry = self.entry_before(span.first())?;
        self.block_behind(&entry).filter(|block| block.covers(span)).map(|block| (entry, block))
    }

    /// Moves the end of a region, guard included, to `last`: into the gap behind it, or back. Says what a part that is
    /// given back merges with.
    pub(crate) fn set_end(&mut self, at: &EntryPath, last: u64) -> Merge {
        let leaf = &mut self.tree.leaves[at.path.leaf];
        let (was, next) = (leaf.gap(at.slot), leaf.next(at.slot));
        leaf.set_gap(at.slot, u128::from(last >> self.shift) + 1, next);
        self.blocks = self.blocks + usize::from(leaf.gap(at.slot) > 0) - usize::from(was > 0);
        self.refresh(&at.path);
        Merge::of(false, was > 0)
    }
}
