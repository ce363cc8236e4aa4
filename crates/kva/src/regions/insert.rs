//! Adds a region: it takes a part of a gap, and the rest after it becomes the new entry's gap.
//!
//! ```text
//!   before   |##|..............|##|          after   |##|....|####|.....|##|
//!             e        gap       n                    e   gap  new  gap   n
//! ```

use super::leaf::far::high_halves;
use super::leaf::{Entry, Leaf, RegionAttrs, WIDTH};
use super::{EntryHandle, RegionTree};
use crate::bplus::LeafPath;
use freehold_units::Span;
use freehold_units::pool::NodeId;

impl<V> RegionTree<V> {
    /// Adds a region, or a placeholder if there is no value, in the gap after the entry `at`. The caller has reserved an
    /// entry. Invalidates paths.
    #[inline]
    pub(crate) fn insert(&mut self, at: EntryHandle, taken: Span, terms: RegionAttrs, value: Option<V>) {
        let (start, last) = (taken.first() >> self.shift, taken.last() >> self.shift);
        let EntryHandle { leaf: id, slot, parent } = at;
        let leaf = &mut self.tree.leaves[id];
        if leaf.is_far() || leaf.len() == WIDTH || leaf.is_tail(slot) {
            return self.insert_cold(at, start, last, terms, value);
        }
        let (end, next) = (leaf.end[slot], leaf.next[slot]);
        let (from, to) = ((start - leaf.base) as i32, (last - leaf.base) as i32 + 1);
        debug_assert!(end <= from && to <= next, "K4: a region lies in a gap");
        leaf.push_within(slot, from, to, terms, value);
        self.regions += 1;
        self.blocks += usize::from(end < from) + usize::from(to < next);
        self.blocks -= 1;
        if self.tree.height > 1 && u32::from(terms.align) == self.shift {
            self.lower(id, parent, (next - end) as u64);
        }
    }

    /// Slow path of [`RegionTree::insert`]: the leaf is full or far, or its last gap passes the lanes' reach.
    #[cold]
    fn insert_cold(&mut self, at: EntryHandle, start: u64, last: u64, terms: RegionAttrs, value: Option<V>) {
        let EntryHandle { leaf: id, slot, .. } = at;
        let leaf = &mut self.tree.leaves[id];
        let (gap_start, next) = (leaf.end(slot), leaf.next(slot));
        let end = u128::from(last) + 1;
        debug_assert!(gap_start <= start.into() && end <= next, "K4: a region lies in a gap");
        leaf.set_gap(slot, gap_start, start.into());
        self.regions += 1;
        self.blocks += usize::from(gap_start < start.into()) + usize::from(end < next);
        self.blocks -= 1;
        let entry = Entry { start, end, next, terms, value };
        self.add_entry(id, entry);
    }

    /// Adds an entry to its leaf, or to another leaf if that one is full or cannot reach it. Does not raise bounds for
    /// the gap after it.
    pub(super) fn add_entry(&mut self, leaf: NodeId, entry: Entry<V>) {
        if self.tree.leaves[leaf].has_room_for(entry.start) {
            self.tree.leaves[leaf].push(entry);
        } else {
            self.split_leaf(&self.tree.path_to(entry.start), entry);
        }
    }

    /// Adds an entry that does not fit its leaf: to the next leaf, or to one of the two halves of a split.
    pub(super) fn split_leaf(&mut self, path: &LeafPath, entry: Entry<V>) {
        // A region at the end of a gap goes to the leaf after the gap, so leaves fill from the top down, too.
        let (start, mut behind) = (entry.start, *path);
        if self.make_far(path.leaf) {
            self.tree.leaves[path.leaf].push(entry);
            return;
        }
        let leaf = &self.tree.leaves[path.leaf];
        let is_last = leaf.start(leaf.last()) < start;
        if (is_last || leaf.gives_last_for(start))
            && self.tree.next(&mut behind)
            && (self.tree.leaves[behind.leaf].has_room_for(start) || (is_last && self.make_far(behind.leaf)))
        {
            let last = if is_last { entry } else { self.tree.leaves[path.leaf].swap_last(entry) };
            let start = last.start;
            self.tree.leaves[behind.leaf].push(last);
            self.tree.set_low(&behind, start);
            return self.refresh(start);
        }
        let id = self.tree.take_leaf();
        self.far_leaves -= usize::from(self.tree.leaves[path.leaf].is_far());
        let leaf = &mut self.tree.leaves[path.leaf];
        // An entry can only lie below all of its leaf in the tree's first leaf: all other separators are exact.
        let right = if entry.start < leaf.low() {
            core::mem::replace(leaf, Leaf::of(entry))
        } else if is_last {
            // Appending regions in address order leaves full leaves behind.
            Leaf::of(entry)
        } else {
            let mut right = leaf.split(entry.start);
            if entry.start < right.low() {
                leaf.push(entry)
            } else {
                right.push(entry)
            };
            right
        };
        let low = right.low();
        self.far_leaves += usize::from(leaf.is_far()) + usize::from(right.is_far());
        self.tree.leaves[id] = right;
        self.tree.insert_leaf(path, low, id);
    }

    fn make_far(&mut self, leaf: NodeId) -> bool {
        let is_made = self.tree.leaves[leaf].make_far();
        self.far_leaves += usize::from(is_made);
        is_made
    }
}

impl<V> Leaf<V> {
    /// Whether an entry that starts at `start` can be added.
    pub(super) fn has_room_for(&self, start: u64) -> bool {
        self.len() < WIDTH && self.reaches(start)
    }

    /// A leaf with one entry.
    fn of(entry: Entry<V>) -> Self {
        let mut leaf = Self::starting_at(entry.start, None);
        leaf.push(entry);
        leaf
    }

    /// Moves the upper half of the entries to a new leaf, before an entry that starts at `new` is added. Each half of a
    /// far leaf becomes near if possible.
    fn split(&mut self, new: u64) -> Self {
        let order = self.in_order();
        let start = |at: usize| self.start(order[at].into());
        // A region that starts at its marker stays with it, since both have the same key.
        let half = WIDTH / 2 + usize::from(start(WIDTH / 2) == start(WIDTH / 2 - 1));
        let left_last = if new < start(half) { new.max(start(half - 1)) } else { start(half - 1) };
        let high = |first, last| match self.is_far() && !Self::is_near(first, last) {
            true => high_halves().map(Some),
            false => Some(None),
        };
        let highs = (high(start(0), left_last), high(start(half), start(WIDTH - 1)));
        let (Some(left), Some(right)) = highs else { return self.split_last() };
        let left = Self::starting_at(start(0), left);
        let mut right = Self::starting_at(start(half), right);
        let mut whole = core::mem::replace(self, left);
        for (at, &slot) in order.iter().enumerate() {
            whole.move_to(slot.into(), if at < half { self } else { &mut right });
        }
        right
    }

    /// Moves the last entry to a near leaf, and the marker at its start, if there is one.
    fn split_last(&mut self) -> Self {
        let start = self.start(self.last());
        let mut right = Self::starting_at(start, None);
        while self.start(self.last()) == start {
            let slot = self.last();
            right.push(self.take(slot));
            self.remove(slot);
        }
        right
    }
}
