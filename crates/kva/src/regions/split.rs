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
use freehold_units::Span;

impl<V> RegionTree<V> {
    /// Cuts the region of an entry in two: one ends before `hole`, and the other, with `value`, starts at `second`, after
    /// it. Without a hole, the first ends where the second starts. The caller has reserved an entry. Invalidates paths
    /// and entries.
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
        if leaf.has_room_for(start) {
            leaf.push(entry);
            self.raise_at(at, end, start - end);
        } else {
            self.split_leaf(&self.tree.path_to(start), entry);
            self.tree.raise(&self.tree.path_to(first), end, start - end, &mut ());
        }
    }

    /// Where the gap after a region ends: the start of the next region, if no hole lies between; `None` for 2^64.
    pub(crate) fn next_start(&self, at: EntryHandle) -> Option<u64> {
        let next = self.tree.leaves[at.leaf].next(at.slot) << self.shift;
        u64::try_from(next).ok()
    }

    /// The region that starts where the region of an entry ends, which has no gap after it.
    pub(crate) fn region_behind(&self, at: EntryHandle) -> Option<EntryHandle> {
        let leaf = &self.tree.leaves[at.leaf];
        let end = u64::try_from(leaf.end(at.slot)).ok()?;
        if leaf.gap(at.slot) > 0 || end.leading_zeros() < self.shift {
            return None;
        }
        let lane = if leaf.is_far() { None } else { leaf.lane_of(end) };
        match lane.and_then(|lane| leaf.region_and_before(lane).0) {
            Some(slot) => Some(EntryHandle { slot, ..at }),
            None => self.region(end << self.shift).map(|(found, _)| found),
        }
    }

    /// Merges the region of `second` into that of `first`, which ends where it starts. Returns its value.
    pub(crate) fn merge(&mut self, first: EntryHandle, second: EntryHandle) -> Option<V> {
        let leaf = &mut self.tree.leaves[second.leaf];
        let start = leaf.start(second.slot);
        self.regions -= 1;
        if first.leaf != second.leaf || leaf.is_far() || leaf.is_tail(second.slot) {
            let before = (first.leaf == second.leaf).then_some(first.slot);
            let path = self.tree.path_to(start);
            return self.remove_cold(&path, second.slot, before, true, &mut ()).value;
        }
        (leaf.end[first.slot], leaf.next[first.slot]) = (leaf.end[second.slot], leaf.next[second.slot]);
        leaf.set_terms(first.slot, leaf.terms(first.slot).with_guard_of(leaf.terms(second.slot)));
        let (_, value) = leaf.remove_near(second.slot);
        if leaf.len() < FEW && self.tree.height > 0 {
            self.join_leaf(&self.tree.path_to(start));
        }
        value
    }

    /// Moves the end of a region, guard included, to `last`: into the gap after it, or back. `guard_granules` of it are
    /// guard from now on. Returns the free block after it.
    pub(crate) fn set_end(&mut self, at: EntryHandle, last: u64, guard_granules: u32) -> Option<Span> {
        let leaf = &mut self.tree.leaves[at.leaf];
        let (was, next) = (leaf.gap(at.slot), leaf.next(at.slot));
        let end = u128::from(last >> self.shift) + 1;
        leaf.set_gap(at.slot, end, next);
        leaf.set_terms(at.slot, RegionAttrs { guard_granules, ..leaf.terms(at.slot) });
        let is = leaf.gap(at.slot);
        self.blocks = self.blocks + usize::from(is > 0) - usize::from(was > 0);
        if is > was {
            self.raise_at(at, end as u64, is);
        } else {
            let start = leaf.start(at.slot);
            self.refresh(start);
        }
        self.span_if(end, next)
    }

    /// Moves the start of a region up to `new`, and replaces its value. Returns the old value, and the free block that
    /// the addresses below the new start are now a part of. The caller has reserved an entry. Invalidates paths and
    /// entries.
    pub(crate) fn set_start(&mut self, at: EntryHandle, new: u64, value: V) -> Option<(V, Span)> {
        let start = new >> self.shift;
        let leaf = &mut self.tree.leaves[at.leaf];
        let first = leaf.start(at.slot);
        let is_within = !leaf.is_far() && !leaf.is_tail(at.slot);
        let before = if is_within { leaf.region_and_before(leaf.start[at.slot]).1 } else { None };
        let Some(before) = before else { return self.set_start_cold(first << self.shift, new, value) };
        let lane = (start - leaf.base) as i32;
        debug_assert!(
            leaf.start[at.slot] < lane && lane < leaf.end[at.slot],
            "K4: a region keeps an address"
        );
        self.blocks += usize::from(leaf.end[before] == leaf.start[at.slot]);
        (leaf.start[at.slot], leaf.next[before]) = (lane, lane);
        leaf.set_terms(at.slot, leaf.terms(at.slot).of_part_from(new));
        let gap_start = leaf.base + leaf.end[before] as u64;
        let old = leaf.replace_value(at.slot, Some(value));
        self.raise_at(at, gap_start, start - gap_start);
        Some((old?, self.span(gap_start.into(), start.into())))
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
