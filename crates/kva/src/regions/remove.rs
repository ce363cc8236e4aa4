//! Removes a region: its addresses, its guard and the gap after it become part of the gap before it.
//!
//! ```text
//!   before   |##|....|####|.....|##|         after   |##|..............|##|
//! ```
//!
//! A removal needs no memory. If the region is the first of its leaf, the gap before it is in the previous leaf. The
//! leaf then starts with another entry, and separators rise. A leaf with few entries is merged with a neighbour.

use super::RegionTree;
use super::leaf::far::{MANY, high_halves};
use super::leaf::{RegionAttrs, WIDTH};
use crate::bplus::LeafPath;
use freehold_units::pool::NO_NODE;
use freehold_units::{Probe, Span, Work};

/// A leaf with fewer entries is merged with a neighbour if both together have at most [`JOINED`].
pub(super) const FEW: usize = WIDTH / 4;
const JOINED: usize = WIDTH * 3 / 4;

/// A region that was removed.
#[derive(Debug)]
pub(crate) struct Removed<V> {
    /// The region's usable addresses.
    pub(crate) span: Span,
    /// The usable addresses and the guard, all free now.
    pub(crate) taken: Span,
    pub(crate) terms: RegionAttrs,
    /// `None` for a placeholder.
    pub(crate) value: Option<V>,
    /// The free block that `taken` is now a part of.
    pub(crate) block: Span,
}

/// An entry that was removed, in granules.
pub(super) struct Gone<V> {
    /// The end of the region, guard included.
    end: u128,
    /// The gap that the entry before it has now.
    gap_start: u128,
    next: u128,
    terms: RegionAttrs,
    pub(super) value: Option<V>,
}

impl<V> RegionTree<V> {
    /// Removes the region that starts at `first`, if there is one.
    #[inline]
    pub(crate) fn remove(&mut self, first: u64, probe: &mut impl Probe) -> Option<Removed<V>> {
        let granule = first >> self.shift;
        if granule << self.shift != first {
            return None;
        }
        if self.tree.root == NO_NODE {
            return None;
        }
        let mut path = LeafPath::NOWHERE;
        self.tree.go_to(granule, &mut path);
        probe.count(Work::LinkVisited, self.tree.height as u64 + 1);
        let leaf = &mut self.tree.leaves[path.leaf];
        let (slot, before) = match leaf.is_far() {
            true => leaf.far_region_and_before(granule),
            false => leaf.region_and_before(leaf.lane_of(granule)?),
        };
        let slot = slot?;
        let (last, block, terms, value) = match before.filter(|_| !leaf.is_tail(slot) && !leaf.is_far()) {
            Some(before) => {
                let (gap_start, end, next) = (leaf.end[before], leaf.end[slot], leaf.next[slot]);
                leaf.next[before] = next;
                let (terms, value) = leaf.remove_near(slot);
                let (base, is_few) = (leaf.base, leaf.len() < FEW);
                self.tree.raise(&path, base + gap_start as u64, (next - gap_start) as u64, probe);
                if is_few {
                    self.join_leaf(&path);
                }
                // An end of 2^64 wraps to 0.
                let last_before = |lane| (base.wrapping_add(lane as u64) << self.shift).wrapping_sub(1);
                let block = Span::new((base + gap_start as u64) << self.shift, last_before(next));
                (last_before(end), block.expect("K4: a gap has an address"), terms, value)
            }
            None => {
                let gone = self.remove_cold(&path, slot, before, false, probe);
                let last = ((gone.end << self.shift) - 1) as u64;
                (last, self.span(gone.gap_start, gone.next), gone.terms, gone.value)
            }
        };
        self.regions -= 1;
        self.blocks = self.blocks + 1 - usize::from(block.first() < first) - usize::from(last < block.last());
        let usable_last = last - (u64::from(terms.guard_granules) << self.shift);
        Some(Removed {
            span: Span::new(first, usable_last).expect("K4: a region has an address"),
            taken: Span::new(first, last).expect("K4: a region has an address"),
            terms,
            value,
            block,
        })
    }

    /// Slow path of a removal, and of a merge: the region is the first of its leaf, its leaf is far, or its gap passes
    /// the lanes' reach. The entry before gets the gap after the region. If `is_merged`, it gets the region's addresses
    /// and guard, too.
    #[cold]
    pub(super) fn remove_cold(
        &mut self,
        path: &LeafPath,
        slot: usize,
        before_here: Option<usize>,
        is_merged: bool,
        probe: &mut impl Probe,
    ) -> Gone<V> {
        let leaf = &mut self.tree.leaves[path.leaf];
        let (end, next) = (leaf.end(slot), leaf.next(slot));
        let (terms, value) = leaf.remove(slot);
        // The last slot's entry has taken the region's slot.
        let before = if before_here == Some(leaf.len()) { Some(slot) } else { before_here };
        let gap_start = self.extend_before(path, before, next, is_merged.then_some((end, terms)), probe);
        Gone { end, gap_start, next, terms, value }
    }

    /// After entries were removed from the leaf at the end of `path`: gives the addresses up to `next` to the entry
    /// before them, which is `before` in that leaf, or the last of the leaf before. They become its gap, except those of
    /// a region that is merged into it, given by its end and attributes. Returns the start of the gap.
    pub(super) fn extend_before(
        &mut self,
        path: &LeafPath,
        before: Option<usize>,
        next: u128,
        merged: Option<(u128, RegionAttrs)>,
        probe: &mut impl Probe,
    ) -> u128 {
        let (before_path, slot) = match before {
            Some(slot) => (*path, slot),
            None => {
                let mut left = *path;
                let there_is = self.tree.previous(&mut left);
                assert!(there_is, "K4: a region has an entry before it");
                (left, self.tree.leaves[left.leaf].last())
            }
        };
        let left = &mut self.tree.leaves[before_path.leaf];
        let gap_start = merged.map_or(left.end(slot), |(end, _)| end);
        left.set_gap(slot, gap_start, next);
        if let Some((_, terms)) = merged {
            left.set_terms(slot, left.terms(slot).with_guard_of(terms));
        }
        let gap = left.gap(slot);
        self.tree.raise(&before_path, gap_start as u64, gap, probe);
        let len = self.tree.leaves[path.leaf].len();
        if before.is_none() {
            self.drop_first(path, len);
        } else if len < FEW {
            self.join_leaf(path);
        }
        gap_start
    }

    /// Updates the tree after the first entry of a leaf was removed.
    fn drop_first(&mut self, path: &LeafPath, len: usize) {
        if len == 0 {
            return self.remove_leaf(path);
        }
        self.tree.set_low(path, self.tree.leaves[path.leaf].low());
        if len < FEW {
            self.join_leaf(path);
        }
    }

    /// Removes an empty leaf.
    pub(super) fn remove_leaf(&mut self, path: &LeafPath) {
        self.far_leaves -= usize::from(self.tree.leaves[path.leaf].is_far());
        self.tree.remove_leaf(path);
    }

    /// Merges a leaf that has few entries with a sibling, if possible.
    #[cold]
    pub(super) fn join_leaf(&mut self, path: &LeafPath) {
        let has_few = self.has_few_leaves(2);
        let far_leaves = &mut self.far_leaves;
        self.tree.join_leaf(path, |left, right| {
            let (len, reaches) = (left.len() + right.len(), left.reaches(right.start(right.last())));
            let is_far = left.is_far() || !reaches;
            if len > if is_far && has_few { MANY / 2 } else { JOINED } {
                return false;
            }
            let were_far = usize::from(left.is_far()) + usize::from(right.is_far());
            if !reaches {
                let Some(high) = high_halves().filter(|_| left.len() < MANY) else { return false };
                left.refill(Some(high));
            }
            *far_leaves = *far_leaves + usize::from(left.is_far()) - were_far;
            if let Some(tail) = left.tail() {
                // The tail is no longer the last entry, so its gap is within reach.
                left.set_gap(tail, left.end(tail), left.next(tail));
            }
            for slot in 0..right.len() {
                right.move_to(slot, left);
            }
            true
        });
    }
}
