//! Checks the tree from scratch.

use super::RegionTree;
use super::leaf::Leaf;
use freehold_units::pool::NO_NODE;
use freehold_units::{Broken, check};

/// Counts of the entries checked so far.
struct Seen {
    far_leaves: usize,
    /// The end of the last gap: the next entry starts there or later. `None` before the first entry.
    next: Option<u128>,
    regions: usize,
    blocks: usize,
}

impl<V> RegionTree<V> {
    /// Checks every invariant of the tree. Cost: linear.
    pub(crate) fn validate(&self) -> Result<(), Broken> {
        if self.tree.root == NO_NODE {
            return check(self.regions + self.blocks == 0, "K8", "a tree without root is empty", 0);
        }
        let mut seen = Seen { far_leaves: 0, next: None, regions: 0, blocks: 0 };
        let address = |granule: u64| granule << self.shift;
        self.tree.validate(address, &mut |whole| {
            let leaf = &self.tree.leaves[whole.leaf];
            self.check_slots(leaf)?;
            seen.far_leaves += usize::from(leaf.is_far());
            let at = address(leaf.low());
            let exact = whole.low.is_none_or(|low| low == leaf.low());
            check(exact, "K8", "a separator is the first start in its leaf", at)?;
            self.check_entries(leaf, &mut seen)?;
            let below = whole.end.is_none_or(|end| leaf.start(leaf.last()) < end);
            check(below, "K8", "entries lie below the next separator", at)
        })?;
        check(seen.far_leaves == self.far_leaves, "K8", "there are as many far leaves as are counted", 0)?;
        check(seen.regions == self.regions, "K4", "there are as many regions as are counted", 0)?;
        check(seen.blocks == self.blocks, "K4", "there are as many free blocks as are counted", 0)
    }

    /// Checks that no search can return a vacant slot, and that only the last entry passes the lanes' reach.
    fn check_slots(&self, leaf: &Leaf<V>) -> Result<(), Broken> {
        let at = leaf.base << self.shift;
        check(leaf.len() > 0, "K8", "no leaf is empty", at)?;
        for slot in 0..leaf.start.len() {
            let in_use = slot < leaf.len();
            let lanes = (leaf.start[slot], leaf.end[slot], leaf.next[slot]);
            let is_blank = lanes.1 > super::leaf::REACH && lanes.2 == -1;
            check(in_use || (is_blank && lanes.0 == i32::MAX), "K8", "a vacant slot is blank", at)?;
            let as_kept = !in_use || leaf.is_far() || is_blank == leaf.is_tail(slot);
            check(as_kept, "K8", "an entry within reach is in the lanes", at)?;
            let is_last = !leaf.is_tail(slot) || slot == leaf.last();
            check(is_last, "K8", "what passes the lanes' reach is the last entry", at)?;
            let may_have_value = in_use && leaf.is_region(slot);
            check(may_have_value || leaf.value(slot).is_none(), "K4", "regions alone have values", at)?;
        }
        Ok(())
    }

    fn check_entries(&self, leaf: &Leaf<V>, seen: &mut Seen) -> Result<(), Broken> {
        for &slot in &leaf.all_in_order()[..leaf.len()] {
            let slot = usize::from(slot);
            let (start, end, next) = (u128::from(leaf.start(slot)), leaf.end(slot), leaf.next(slot));
            let at = leaf.start(slot) << self.shift;
            if leaf.is_region(slot) {
                check(Some(start) == seen.next, "K4", "a region starts where the gap before it ends", at)?;
                let holds = u128::from(leaf.terms(slot).guard_granules) < end.saturating_sub(start);
                check(holds, "K4", "a region is longer than its guard", at)?;
                seen.regions += 1;
            } else {
                check(seen.next < Some(start), "K1", "spans of the layout do not touch", at)?;
                check(start == end, "K4", "a marker has no length", at)?;
            }
            let aligned = (leaf.start(slot) << self.shift).trailing_zeros() >= leaf.terms(slot).align.into();
            check(aligned, "K6", "a region starts at a multiple of its alignment", at)?;
            check(end <= next && next <= 1 << (64 - self.shift), "K4", "a gap ends behind its start", at)?;
            seen.blocks += usize::from(end < next);
            seen.next = Some(next);
        }
        Ok(())
    }
}
