//! Removing a region: what it took, and the gap behind it, belong to the gap before it.
//!
//! ```text
//!   before   |##|....|####|.....|##|         after   |##|..............|##|
//! ```
//!
//! It needs no memory. Where the region is the first of its leaf, the gap before it is in the leaf before; the leaf then
//! starts with another entry, and separators rise. A leaf with few entries is joined with a neighbour.

use super::RegionTree;
use super::leaf::{Leaf, Terms, WIDTH};
use crate::Merge;
use crate::bplus::{LeafPath, Step};
use freehold_units::pool::{NO_NODE, PoolNode};
use freehold_units::{Probe, Span, Work};

/// A leaf with fewer entries is joined with a neighbour, if both together leave room for more.
const FEW: usize = WIDTH / 4;
const JOINED: usize = WIDTH * 3 / 4;

/// A region that was removed.
#[derive(Debug)]
pub(crate) struct Removed<V> {
    /// Its usable addresses.
    pub(crate) span: Span,
    /// These and the guard's, which are free now.
    pub(crate) taken: Span,
    pub(crate) value: V,
    /// Which free blocks they touch.
    pub(crate) merge: Merge,
}

/// A region to remove, in its leaf.
struct Doomed {
    slot: usize,
    /// The entry before it, if it is in the same leaf.
    before: Option<usize>,
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
        let path = self.tree.path_to(granule);
        probe.count(Work::LinkVisited, self.tree.height as u64 + 1);
        let leaf = &mut self.tree.leaves[path.leaf];
        let lane = leaf.lane_of(granule)?;
        let (slot, before) = leaf.region_and_before(lane);
        let doomed = Doomed { slot: slot?, before };
        let (last, merge, terms, value) = match before {
            Some(before) if !leaf.is_tail(doomed.slot) => {
                let slot = doomed.slot;
                let (gap_start, end, next) = (leaf.end[before], leaf.end[slot], leaf.next[slot]);
                let merge = Merge::of(gap_start < lane, end < next);
                leaf.next[before] = next;
                let (terms, value) = leaf.remove(slot);
                let (base, is_few) = (leaf.base, leaf.len() < FEW);
                self.raise(&path, base + gap_start as u64, (next - gap_start) as u64, probe);
                if is_few {
                    self.join_leaf(&path);
                }
                // One past the last address of all is 0.
                let last = (base.wrapping_add(end as u64) << self.shift).wrapping_sub(1);
                (last, merge, terms, value)
            }
            _ => self.remove_cold(&path, &doomed, probe),
        };
        self.regions -= 1;
        self.blocks = self.blocks + 1 - merge.blocks();
        let usable_last = last - (u64::from(terms.guard_granules) << self.shift);
        Some(Removed {
            span: Span::new(first, usable_last).expect("K4: a region has an address"),
            taken: Span::new(first, last).expect("K4: a region has an address"),
            value: value.expect("K4: a region has a value"),
            merge,
        })
    }

    /// Removes the first region of a leaf, or one whose gap passes the lanes' reach. Returns its last address, guard
    /// included, and what it leaves.
    #[cold]
    fn remove_cold(
        &mut self,
        path: &LeafPath,
        doomed: &Doomed,
        probe: &mut impl Probe,
    ) -> (u64, Merge, Terms, Option<V>) {
        let slot = doomed.slot;
        let (before_path, before) = match doomed.before {
            Some(before) => (*path, before),
            None => {
                let mut left = *path;
                let there_is = self.tree.previous(&mut left);
                assert!(there_is, "K4: a region has an entry before it");
                (left, self.tree.leaves[left.leaf].last())
            }
        };
        let leaf = &self.tree.leaves[path.leaf];
        let (start, end, next) = (leaf.start(slot), leaf.end(slot), leaf.next(slot));
        let gap_start = self.tree.leaves[before_path.leaf].end(before);
        let leaf = &mut self.tree.leaves[path.leaf];
        let (terms, value) = leaf.remove(slot);
        // The last slot's entry has taken the region's slot.
        let before = if doomed.before == Some(leaf.len()) { slot } else { before };
        let len = leaf.len();
        self.tree.leaves[before_path.leaf].set_gap(before, gap_start, next);
        let merged = self.tree.leaves[before_path.leaf].gap(before);
        self.raise(&before_path, gap_start as u64, merged, probe);
        if doomed.before.is_none() {
            self.drop_first(path, len);
        } else if len < FEW {
            self.join_leaf(path);
        }
        let last = ((end << self.shift) - 1) as u64;
        (last, Merge::of(gap_start < start.into(), end < next), terms, value)
    }

    /// The first entry of a leaf is gone.
    fn drop_first(&mut self, path: &LeafPath, len: usize) {
        if len == 0 {
            return self.tree.remove_leaf(path);
        }
        self.tree.set_low(path, self.tree.leaves[path.leaf].low());
        if len < FEW {
            self.join_leaf(path);
        }
    }

    /// Joins a leaf that has few entries with one beside it below the same node, if it can be.
    #[cold]
    fn join_leaf(&mut self, path: &LeafPath) {
        if self.tree.height > 0 && !(path.steps[0].slot() > 0 && self.join_at(path, path.steps[0].slot() - 1))
        {
            self.join_at(path, path.steps[0].slot());
        }
    }

    /// Joins the child at `left` of the leaf's parent with the child behind it.
    fn join_at(&mut self, path: &LeafPath, left: usize) -> bool {
        let parent = &self.tree.inners[path.steps[0].inner()];
        if left + 1 >= parent.len() {
            return false;
        }
        let (left_id, right_id) = (parent.child(left), parent.child(left + 1));
        let (one, other) = (&self.tree.leaves[left_id], &self.tree.leaves[right_id]);
        let reaches = one.reaches(other.start(other.last()));
        if one.len() + other.len() > JOINED || !reaches {
            return false;
        }
        let mut gone = core::mem::replace(&mut self.tree.leaves[right_id], Leaf::VACANT);
        let joined = &mut self.tree.leaves[left_id];
        if let Some(tail) = joined.tail() {
            // It is the last entry no longer, so it is within reach.
            joined.set_gap(tail, joined.end(tail), joined.next(tail));
        }
        for slot in 0..gone.len() {
            joined.push(gone.take(slot));
        }
        let rooms = self.rooms(&self.tree.leaves[left_id]);
        let mut right = LeafPath { leaf: right_id, ..*path };
        self.tree.inners[right.steps[0].inner()].set_bounds(left, rooms);
        right.steps[0] = Step::new(path.steps[0].inner(), left + 1);
        self.tree.remove_leaf(&right);
        true
    }
}
