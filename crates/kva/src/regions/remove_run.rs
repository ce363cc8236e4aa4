//! Removes several regions of one leaf at once: one pass over the leaf, one gap, one update of the bounds.
//!
//! ```text
//!   before   |##|..|####||###|.|##|..|##|         after   |##|....................|##|
//! ```

use super::lanes::SLOT_BITS;
use super::leaf::{Leaf, WIDTH};
use super::{RegionTree, entry_within};
use freehold_units::Span;

/// A region that was removed with others.
#[derive(Debug)]
pub(crate) struct RemovedRegion<V> {
    /// The usable addresses.
    pub(crate) span: Span,
    /// The usable addresses and the guard.
    pub(crate) taken: Span,
    pub(crate) value: V,
}

/// Regions that were removed together, in address order.
#[derive(Debug)]
pub(crate) struct RemovedRun<V> {
    regions: [Option<RemovedRegion<V>>; WIDTH],
    len: usize,
}

impl<V> RemovedRun<V> {
    pub(crate) const EMPTY: Self = Self { regions: [const { None }; WIDTH], len: 0 };

    pub(crate) fn regions(&self) -> impl Iterator<Item = &RemovedRegion<V>> {
        self.regions[..self.len].iter().flatten()
    }

    /// Empties the run.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = RemovedRegion<V>> {
        let len = core::mem::take(&mut self.len);
        self.regions[..len].iter_mut().filter_map(Option::take)
    }
}

impl<V> RegionTree<V> {
    /// Removes the region that starts at the first address of `span`, and those after it that start in the span, up to
    /// the end of the leaf or a hole of the layout. Puts them into `run`, which is empty. Returns the free block that all
    /// of them are now a part of; `None` if no region starts there.
    ///
    /// Cost: O(log n), and a pass over the leaf.
    pub(crate) fn remove_run(&mut self, span: Span, run: &mut RemovedRun<V>) -> Option<Span> {
        let (first, last) = (span.first() >> self.shift, span.last() >> self.shift);
        let path = self.path_to(first)?;
        let leaf = &self.tree.leaves[path.leaf];
        let (_, mut before) = match leaf.is_far() {
            true => leaf.far_region_and_before(first),
            false => leaf.region_and_before(leaf.lane_of(first)?),
        };
        let (order, count) = leaf.run_from(first, last);
        let order = &order[..count];
        let next = leaf.next(usize::from(*order.last()?));

        let (mut slots, mut gaps) = (0u32, 0);
        run.len = count;
        let leaf = &mut self.tree.leaves[path.leaf];
        for (region, &slot) in run.regions.iter_mut().zip(order) {
            let slot = usize::from(slot);
            gaps += usize::from(leaf.gap(slot) > 0);
            slots |= 1 << slot;
            let entry = entry_within(leaf, slot, leaf.bounds(slot), self.shift);
            let (span, taken) = (entry.span, entry.taken());
            let value =
                leaf.replace_value(slot, None).expect("K16: a placeholder is freed by its move alone");
            *region = Some(RemovedRegion { span, taken, value });
        }
        // From the highest slot down, so that the entry that moves to a slot is never one of these.
        while let Some(slot) = slots.checked_ilog2() {
            let slot = slot as usize;
            slots &= !(1 << slot);
            leaf.remove(slot);
            if before == Some(leaf.len()) {
                before = Some(slot);
            }
        }
        let gap_start = self.extend_before(&path, before, next, None, &mut ());
        self.regions -= count;
        let block = self.span(gap_start, next);
        self.blocks = self.blocks + 1 - gaps - usize::from(block.first() < span.first());
        Some(block)
    }
}

impl<V> Leaf<V> {
    /// The slots of the regions from the one that starts at `first` to the last that starts at or below `last`, or to
    /// the first hole, in address order; and their number.
    fn run_from(&self, first: u64, last: u64) -> ([u8; WIDTH], usize) {
        let (mut order, mut len) = ([0; WIDTH], 0);
        if let Some((low, high)) = self.lanes_within(first, last) {
            let mut keys = [0u32; WIDTH];
            let mut slots = self.starts_within(low, high);
            while slots != 0 {
                let slot = slots.trailing_zeros();
                slots &= slots - 1;
                keys[len] = (self.start[slot as usize] as u32) << SLOT_BITS | slot;
                len += 1;
            }
            keys[..len].sort_unstable();
            order.iter_mut().zip(&keys[..len]).for_each(|(slot, &key)| *slot = (key as usize % WIDTH) as u8);
        } else {
            for slot in 0..self.len() {
                if self.is_region(slot) && (first..=last).contains(&self.start(slot)) {
                    order[len] = slot as u8;
                    len += 1;
                }
            }
            order[..len].sort_unstable_by_key(|&slot| self.start(slot.into()));
        }
        let mut end = u128::from(first);
        let touching = |slot: &&u8| {
            let slot = usize::from(**slot);
            core::mem::replace(&mut end, self.next(slot)) == self.start(slot).into()
        };
        let count = order[..len].iter().take_while(touching).count();
        (order, count)
    }
}
