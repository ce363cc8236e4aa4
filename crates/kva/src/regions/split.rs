//! Cuts a region in two, merges two into one, and moves the ends of one.
//!
//! ```text
//!   before   |#############|g|...|##|         after   |####|....|######|g|...|##|
//!             region         gap                       first hole  second    gap
//! ```
//!
//! Only a cut needs memory: an entry. A merge is the opposite of a cut without a hole. The new end or start of a region
//! lies inside it, or in the gap after it, so no other entry changes but the one before.
//!
//! Cost: O(log n).

use super::leaf::Entry;
use super::remove::FEW;
use super::{EntryHandle, RegionAttrs, RegionTree};
use crate::bplus::LeafPath;
use freehold_units::Span;
use freehold_units::pool::NO_NODE;

impl<V> RegionTree<V> {
    /// Cuts the region of an entry in two: one ends before `hole`, and the other, with `value`, starts after it. Without
    /// a hole, the second starts at `second`, and the first ends there. The caller has reserved an entry. Invalidates
    /// paths.
    pub(crate) fn split(&mut self, at: EntryHandle, hole: Option<Span>, second: u64, value: V) {
        let (shift, leaf) = (self.shift, &mut self.tree.leaves[at.leaf]);
        let (first, terms) = (leaf.start(at.slot), leaf.terms(at.slot));
        let (old_end, next) = (leaf.end(at.slot), leaf.next(at.slot));
        let start = second >> shift;
        let end = hole.map_or(start, |hole| hole.first() >> shift);
        debug_assert!(
            first < end && end <= start && u128::from(start) < old_end,
            "K4: a cut leaves two regions"
        );
        leaf.set_gap(at.slot, end.into(), start.into());
        leaf.set_terms(at.slot, terms.of_first_part());
        self.regions += 1;
        self.blocks += usize::from(end < start);
        let entry =
            Entry { start, end: old_end, next, terms: terms.of_part_from(second), value: Some(value) };
        self.add_entry(at.leaf, entry);
        if end < start {
            self.tree.raise(&self.tree.path_to(first), end, start - end, &mut ());
        }
    }

    /// Merges the region that starts at `second` into the one before it, which ends there. Returns its value.
    pub(crate) fn merge(&mut self, second: u64) -> Option<V> {
        let granule = second >> self.shift;
        let path = self.tree.path_to(granule);
        let leaf = &mut self.tree.leaves[path.leaf];
        let (slot, before) = match leaf.is_far() {
            true => leaf.far_region_and_before(granule),
            false => leaf.region_and_before(leaf.lane_of(granule)?),
        };
        let slot = slot?;
        self.regions -= 1;
        match before.filter(|_| !leaf.is_tail(slot) && !leaf.is_far()) {
            Some(before) => {
                (leaf.end[before], leaf.next[before]) = (leaf.end[slot], leaf.next[slot]);
                leaf.set_terms(before, leaf.terms(before).with_guard_of(leaf.terms(slot)));
                let (_, value) = leaf.remove_near(slot);
                if leaf.len() < FEW {
                    self.join_leaf(&path);
                }
                value
            }
            None => self.remove_cold(&path, slot, before, true, &mut ()).value,
        }
    }

    /// Moves the end of a region, guard included, to `last`: into the gap after it, or back. `guard_granules` of it are
    /// guard from now on.
    pub(crate) fn set_end(&mut self, at: EntryHandle, last: u64, guard_granules: u32) {
        let leaf = &mut self.tree.leaves[at.leaf];
        let (was, next, start) = (leaf.gap(at.slot), leaf.next(at.slot), leaf.start(at.slot));
        let end = u128::from(last >> self.shift) + 1;
        leaf.set_gap(at.slot, end, next);
        leaf.set_terms(at.slot, RegionAttrs { guard_granules, ..leaf.terms(at.slot) });
        let is = leaf.gap(at.slot);
        self.blocks = self.blocks + usize::from(is > 0) - usize::from(was > 0);
        if is > was {
            self.tree.raise(&self.tree.path_to(start), end as u64, is, &mut ());
        } else {
            self.refresh(start);
        }
    }

    /// Moves the start of the region that starts at `first` up to `new`, and replaces its value. Returns the old value,
    /// and the free block that the addresses below the new start are now a part of. The caller has reserved an entry.
    pub(crate) fn set_start(&mut self, first: u64, new: u64, value: V) -> Option<(V, Span)> {
        let (granule, start) = (first >> self.shift, new >> self.shift);
        if self.tree.root == NO_NODE {
            return None;
        }
        let mut path = LeafPath::NOWHERE;
        self.tree.go_to(granule, &mut path);
        let leaf = &mut self.tree.leaves[path.leaf];
        let places = match leaf.lane_of(granule) {
            Some(lane) if !leaf.is_far() => leaf.region_and_before(lane),
            _ => (None, None),
        };
        let (Some(slot), Some(before)) = places else { return self.set_start_cold(first, new, value) };
        if leaf.is_tail(slot) {
            return self.set_start_cold(first, new, value);
        }
        let lane = (start - leaf.base) as i32;
        debug_assert!(leaf.start[slot] < lane && lane < leaf.end[slot], "K4: a region keeps an address");
        self.blocks += usize::from(leaf.end[before] == leaf.start[slot]);
        (leaf.start[slot], leaf.next[before]) = (lane, lane);
        leaf.set_terms(slot, leaf.terms(slot).of_part_from(new));
        let gap_start = leaf.end(before);
        let old = leaf.replace_value(slot, Some(value));
        self.tree.raise(&path, gap_start as u64, start - gap_start as u64, &mut ());
        Some((old?, self.span(gap_start, start.into())))
    }

    /// Slow path of [`RegionTree::set_start`]: the region is the first of its leaf, its leaf is far, or its gap passes
    /// the lanes' reach.
    #[cold]
    fn set_start_cold(&mut self, first: u64, new: u64, value: V) -> Option<(V, Span)> {
        let removed = self.remove(first, &mut ())?;
        let rest = Span::new(new, removed.taken.last()).expect("K4: a region keeps an address");
        let (entry, _) = self.block_over(rest).expect("K4: what was removed is free");
        self.insert(entry, rest, removed.terms.of_part_from(new), Some(value));
        let block = self.block_at(first).expect("K4: what was removed is free");
        Some((removed.value?, block))
    }
}
