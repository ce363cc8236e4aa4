//! Spans of the layout: each starts with a marker, and those that touch are one.

use super::leaf::{Entry, Leaf, Terms};
use super::{EntryPath, RegionTree};
use crate::Merge;
use freehold_units::Span;
use freehold_units::pool::NO_NODE;

impl<V> RegionTree<V> {
    /// Makes `span` free, which overlaps no region; an entry was reserved. Where it overlaps a free block that block is
    /// the error, and nothing was changed. Cost: O(log n), and a leaf.
    pub(crate) fn add_span(&mut self, span: Span) -> Result<Merge, Span> {
        if let Some((_, block)) =
            self.block_at_or_below(span.last()).filter(|(_, block)| block.overlaps(span))
        {
            return Err(block);
        }
        let (start, end) = (span.first() >> self.shift, (u128::from(span.last()) >> self.shift) + 1);
        if self.tree.root == NO_NODE {
            self.tree.root = self.tree.take_leaf();
        }
        // What follows at once is no longer a span of its own.
        let follows = self.remove_marker(end);
        if self.tree.height == 0 && self.tree.leaves[self.tree.root].len() == 0 {
            self.tree.leaves[self.tree.root] = Leaf::starting_at(start);
        }
        let next = follows.unwrap_or(end);
        let found = self.entry_before(span.first());
        self.blocks += 1;
        let mut touches_before = false;
        match found {
            Some(EntryPath { path, slot }) if self.tree.leaves[path.leaf].next(slot) == start.into() => {
                let leaf = &mut self.tree.leaves[path.leaf];
                touches_before = leaf.gap(slot) > 0;
                self.blocks -= usize::from(touches_before);
                let gap_start = leaf.end(slot);
                leaf.set_gap(slot, gap_start, next);
                self.refresh(&path);
            }
            _ => {
                let path = self.tree.path_to(start);
                let marker = Entry { start, end: start.into(), next, terms: Terms::default(), value: None };
                if self.insert_entry(&path, marker) {
                    self.refresh(&path);
                }
            }
        }
        Ok(Merge::of(touches_before, follows.is_some_and(|next| next > end)))
    }

    /// Takes out the marker at `at`, if there is one. Returns where the gap behind it ends.
    fn remove_marker(&mut self, at: u128) -> Option<u128> {
        let granule = u64::try_from(at).ok()?;
        let path = self.tree.path_to(granule);
        let leaf = &mut self.tree.leaves[path.leaf];
        let lane = !leaf.lane_of(granule)?;
        let slot = leaf.start.iter().position(|&start| start == lane)?;
        let next = leaf.next(slot);
        self.blocks -= usize::from(leaf.gap(slot) > 0);
        leaf.remove(slot);
        let is_first = leaf.len() > 0 && granule < leaf.low();
        if leaf.len() > 0 || self.tree.height == 0 {
            if is_first {
                self.tree.set_low(&path, self.tree.leaves[path.leaf].low());
            }
            self.refresh(&path);
        } else {
            self.tree.remove_leaf(&path);
        }
        Some(next)
    }
}
