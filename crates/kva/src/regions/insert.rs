//! Adds a region: it takes a part of a gap, and the rest after it becomes the new entry's gap.
//!
//! ```text
//!   before   |##|..............|##|          after   |##|....|####|.....|##|
//!             e        gap       n                    e   gap  new  gap   n
//! ```

use super::leaf::far::{MANY, high_halves};
use super::leaf::{Entry, Leaf, RegionAttrs, WIDTH};
use super::{EntryHandle, RegionTree};
use crate::bplus::LeafPath;
use freehold_units::Span;
use freehold_units::pool::NodeId;

/// Leaves of a space with few, beside one for each [`WIDTH`] regions.
const FEW_LEAVES: usize = 16;

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
        if self.tree.leaves[leaf].has_near_room_for(entry.start) {
            self.tree.leaves[leaf].push(entry);
        } else {
            self.split_leaf(&self.tree.path_to(entry.start), entry);
        }
    }

    /// Adds an entry that does not fit its leaf, or would lie in a far one: to the next leaf, or to one of the two halves
    /// of a split.
    pub(super) fn split_leaf(&mut self, path: &LeafPath, entry: Entry<V>) {
        let (start, mut behind) = (entry.start, *path);
        let has_next = self.tree.next(&mut behind);
        let [leaf, next] = [path, &behind].map(|path| &self.tree.leaves[path.leaf]);
        let (is_last, is_far) = (leaf.start(leaf.last()) < start, leaf.is_far());
        let is_full = leaf.len() == WIDTH || (is_far && leaf.len() >= MANY && self.has_few_leaves(1));
        // A region at the end of a gap goes to the leaf after the gap, so leaves fill from the top down, too.
        let is_near_next = is_last && has_next && !next.is_far() && next.reaches(start);
        if is_near_next && next.len() < WIDTH {
            return self.add_first(&behind, entry);
        }
        // Regions that lie close together fill their leaf and have a new one then, none that is far.
        if !is_near_next && (is_far || !is_full) {
            let (has_room, gives_last) = (next.has_room_for(start), leaf.gives_last_for(start));
            if !is_full && (is_far || self.make_far(path.leaf)) {
                self.tree.leaves[path.leaf].push(entry);
                return;
            } else if is_last && has_next && (has_room || self.make_far(behind.leaf)) {
                return self.add_first(&behind, entry);
            } else if gives_last && has_next && has_room {
                let last = self.tree.leaves[path.leaf].swap_last(entry);
                return self.add_first(&behind, last);
            }
        }
        let id = self.tree.take_leaf();
        self.far_leaves -= usize::from(is_far);
        let leaf = &mut self.tree.leaves[path.leaf];
        // An entry can only lie below all of its leaf in the tree's first leaf: all other separators are exact.
        let right = if start < leaf.low() {
            core::mem::replace(leaf, Leaf::of(entry))
        } else if is_last {
            // Appending regions in address order leaves full leaves behind.
            Leaf::of(entry)
        } else {
            leaf.split(entry)
        };
        let low = right.low();
        self.far_leaves += usize::from(leaf.is_far()) + usize::from(right.is_far());
        self.tree.leaves[id] = right;
        self.tree.insert_leaf(path, low, id);
    }

    /// Adds an entry below all others of a leaf, which has room for it.
    fn add_first(&mut self, path: &LeafPath, entry: Entry<V>) {
        let start = entry.start;
        self.tree.leaves[path.leaf].push(entry);
        self.tree.set_low(path, start);
        self.refresh(start);
    }

    /// Whether there are so few leaves that a look-up's time counts for more than their memory: far leaves are cut early
    /// then. `times` sets apart what cuts a far leaf from what makes one.
    pub(super) fn has_few_leaves(&self, times: usize) -> bool {
        self.tree.leaves.in_use() < times * (FEW_LEAVES + self.regions / WIDTH)
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

    /// [`Leaf::has_room_for`] of a leaf that is not far.
    fn has_near_room_for(&self, start: u64) -> bool {
        !self.is_far() && self.has_room_for(start)
    }

    /// A leaf with one entry.
    fn of(entry: Entry<V>) -> Self {
        let mut leaf = Self::starting_at(entry.start, None);
        leaf.push(entry);
        leaf
    }

    /// Moves the upper half of the entries to a new leaf, and adds an entry to one of the two. Each half of a far leaf
    /// becomes near if possible.
    fn split(&mut self, entry: Entry<V>) -> Self {
        let (order, len, new) = (self.all_in_order(), self.len(), entry.start);
        let start = |at: usize| self.start(order[at].into());
        let (half, first, last) = (self.cut_at(start), start(0), start(len - 1));
        // Between the halves a far leaf's new entry goes where it is near.
        let is_right = new >= start(half)
            || (new > start(half - 1) && !Self::is_near(first, new) && Self::is_near(new, last));
        let (left_last, right_first) = match is_right {
            true => (start(half - 1), new.min(start(half))),
            false => (new.max(start(half - 1)), start(half)),
        };
        let high = |first, last| match self.is_far() && !Self::is_near(first, last) {
            true => high_halves().map(Some),
            false => Some(None),
        };
        let (is_right, mut right) = match (high(first, left_last), high(right_first, last)) {
            (Some(left), Some(right)) => {
                let mut right = Self::starting_at(right_first, right);
                let mut whole = core::mem::replace(self, Self::starting_at(first, left));
                for (at, &slot) in order[..len].iter().enumerate() {
                    whole.move_to(slot.into(), if at < half { self } else { &mut right });
                }
                (is_right, right)
            }
            _ => {
                let right = self.split_last();
                (new >= right.low(), right)
            }
        };
        if is_right { &mut right } else { self }.push(entry);
        right
    }

    /// The first entry of the right half, by the starts of the entries in order. A region that starts at its marker stays
    /// with it, since both have the same key.
    fn cut_at(&self, start: impl Fn(usize) -> u64) -> usize {
        let (len, half) = (self.len(), self.len() / 2);
        let is_near = |first, last| Self::is_near(start(first), start(last));
        match (1..len).find(|&at| self.is_far() && !is_near(0, at)) {
            // Most entries lie close together, below the others or above: without these their leaf is near.
            Some(above) if above >= half => above,
            Some(_) if is_near(half, len - 1) => (1..half).find(|&at| is_near(at, len - 1)).unwrap_or(half),
            _ => half + usize::from(start(half) == start(half - 1)),
        }
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
