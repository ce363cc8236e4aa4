//! Spans of the layout. Each starts with a marker, and adjacent spans are merged.

use super::leaf::{Entry, Leaf, RegionAttrs};
use super::{EntryHandle, RegionTree};
use freehold_units::Span;
use freehold_units::pool::NO_NODE;

impl<V> RegionTree<V> {
    /// Adds `span`, which overlaps no region, as free addresses. The caller has reserved an entry. Returns the free
    /// block that it is now a part of. If it overlaps a free block, that block is the error and nothing was changed.
    ///
    /// Cost: O(log n), and a leaf.
    pub(crate) fn add_span(&mut self, span: Span) -> Result<Span, Span> {
        // No region lies in the span, so only the last gap that starts at or below its end can overlap it.
        let last = self.entry_before(span.last()).and_then(|entry| self.block_behind(entry));
        if let Some(block) = last.filter(|block| block.overlaps(span)) {
            return Err(block);
        }
        let (start, end) = (span.first() >> self.shift, (u128::from(span.last()) >> self.shift) + 1);
        if self.tree.root == NO_NODE {
            self.tree.root = self.tree.take_leaf();
        }
        // A span that follows directly is merged.
        let follows = self.remove_marker(end);
        if self.tree.height == 0 && self.tree.leaves[self.tree.root].len() == 0 {
            self.far_leaves = 0;
            self.tree.leaves[self.tree.root] = Leaf::starting_at(start, None);
        }
        let next = follows.unwrap_or(end);
        let found = self.entry_before(span.first());
        self.blocks += 1;
        let mut block_start = start.into();
        match found {
            Some(EntryHandle { leaf, slot, .. }) if self.tree.leaves[leaf].next(slot) == start.into() => {
                let leaf = &mut self.tree.leaves[leaf];
                self.blocks -= usize::from(leaf.gap(slot) > 0);
                block_start = leaf.end(slot);
                leaf.set_gap(slot, block_start, next);
            }
            _ => {
                let marker =
                    Entry { start, end: start.into(), next, terms: RegionAttrs::default(), value: None };
                self.add_entry(self.tree.path_to(start).leaf, marker);
            }
        }
        self.refresh(start);
        Ok(self.span(block_start, next))
    }

    /// Removes the marker at `at`, if there is one. Returns the end of the gap after it.
    fn remove_marker(&mut self, at: u128) -> Option<u128> {
        let granule = u64::try_from(at).ok()?;
        let path = self.tree.path_to(granule);
        let leaf = &mut self.tree.leaves[path.leaf];
        let is_it = |&slot: &usize| !leaf.is_region(slot) && leaf.start(slot) == granule;
        let slot = (0..leaf.len()).find(is_it)?;
        let next = leaf.next(slot);
        self.blocks -= usize::from(leaf.gap(slot) > 0);
        leaf.remove(slot);
        if leaf.len() > 0 {
            let low = leaf.low();
            self.tree.set_low(&path, low);
        } else if self.tree.height > 0 {
            self.remove_leaf(&path);
        }
        Some(next)
    }

    /// Removes `span` from the gap after `entry`, which covers it. The caller has reserved an entry.
    pub(crate) fn remove_span(&mut self, entry: EntryHandle, span: Span) {
        let (start, end) = (span.first() >> self.shift, (u128::from(span.last()) >> self.shift) + 1);
        let leaf = &mut self.tree.leaves[entry.leaf];
        let (gap_start, next) = (leaf.end(entry.slot), leaf.next(entry.slot));
        debug_assert!(gap_start <= start.into() && end <= next, "K4: only what is free leaves the layout");
        leaf.set_gap(entry.slot, gap_start, start.into());
        let is_span = !leaf.is_region(entry.slot);
        self.blocks -= usize::from(gap_start == start.into());
        let rest = u64::try_from(end).ok().filter(|&rest| end < next || self.starts_region(rest));
        if let Some(start) = rest {
            // A span now begins where the removed addresses end, even if a region starts there.
            self.blocks += usize::from(end < next);
            let marker = Entry { start, end, next, terms: RegionAttrs::default(), value: None };
            self.add_entry(self.tree.path_to(start).leaf, marker);
            self.refresh(start);
        }
        if is_span && gap_start == start.into() {
            // The span began with the removed addresses, so its marker goes; no region can begin there.
            self.remove_marker(gap_start);
        }
    }

    fn starts_region(&self, granule: u64) -> bool {
        granule.leading_zeros() >= self.shift && self.region(granule << self.shift).is_some()
    }

    /// From the lowest to the highest address of the layout, which is not empty.
    pub(crate) fn hull(&self) -> Span {
        let mut entries = self.entries(Span::ALL);
        let last = entries.clone().next_back().expect("K4: a layout has an entry");
        let first = entries.next().expect("K4: a layout has an entry");
        self.span(first.leaf.start(first.slot).into(), last.leaf.next(last.slot))
    }
}
