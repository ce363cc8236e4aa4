//! An inner node: separators, children, and upper bounds for each child.

use super::row::{FANOUT, Row};
use alloc::vec::Vec;
use freehold_units::OutOfMemory;
use freehold_units::pool::{NO_NODE, NodeId, PoolNode};

/// A key, by which leaves are ordered.
pub(crate) trait Key: Copy + Ord {
    /// The largest key, which is the separator of slots without a child.
    const MAX: Self;
}

impl Key for u64 {
    const MAX: Self = u64::MAX;
}

impl Key for u128 {
    const MAX: Self = u128::MAX;
}

/// Children in a group, and groups that a search compares at once.
const GROUP: usize = 4;

const _: () = assert!(GROUP * GROUP * GROUP == FANOUT);

/// A child and its separator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child<K> {
    pub(super) low: K,
    pub(super) id: NodeId,
}

/// Up to [`FANOUT`] children in key order.
#[derive(Clone, Debug)]
pub(crate) struct Inner<K> {
    len: usize,
    /// Separators. All keys of a child are at or above its separator, and all keys of the previous child are below it.
    /// In the tree of regions a separator is the child's first key, except for the tree's first leaf (K8). [`Key::MAX`]
    /// after the last child.
    lows: [K; FANOUT],
    /// Copies of the separators of each group's first child. A search compares three of these to select four groups, three
    /// more to select one of these, and three of `lows` to select the child.
    firsts: [K; FANOUT / GROUP],
    children: [NodeId; FANOUT],
    /// Bounds in the first class, which nearly all searches use.
    first: Row,
    /// Bounds in the other classes.
    others: Vec<Row>,
}

impl<K: Key> PoolNode for Inner<K> {
    const VACANT: Self = Self {
        len: 0,
        lows: [K::MAX; FANOUT],
        firsts: [K::MAX; FANOUT / GROUP],
        children: [NO_NODE; FANOUT],
        first: Row::zero(),
        others: Vec::new(),
    };

    fn link(&self) -> NodeId {
        self.children[0]
    }

    fn set_link(&mut self, next: NodeId) {
        self.lows[..self.len].fill(K::MAX);
        self.set_firsts();
        self.len = 0;
        self.children[0] = next;
    }
}

impl<K: Key> Inner<K> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn child(&self, slot: usize) -> NodeId {
        self.children[slot]
    }

    #[inline]
    pub(crate) fn low(&self, slot: usize) -> K {
        self.lows[slot]
    }

    pub(super) fn set_low(&mut self, slot: usize, low: K) {
        self.lows[slot] = low;
        self.firsts[slot / GROUP] = self.lows[slot / GROUP * GROUP];
    }

    /// Copies the first separator of each group, after separators have moved.
    fn set_firsts(&mut self) {
        self.firsts = self.firsts_of_groups();
    }

    fn firsts_of_groups(&self) -> [K; FANOUT / GROUP] {
        core::array::from_fn(|group| self.lows[group * GROUP])
    }

    /// Whether the copies are those of the separators.
    pub(super) fn has_its_firsts(&self) -> bool {
        self.firsts == self.firsts_of_groups()
    }

    /// The child whose range contains `key`. The range of the first child starts at the lowest key.
    #[inline]
    pub(crate) fn child_for(&self, key: K) -> usize {
        // Three steps of three comparisons each, without branches and independent of each other: a binary search waits
        // for six loads in turn, and took 1.2 to 1.3 of this one's time in a look-up. The next node is not known before
        // the last of them. So a node with few children, as the root is in most trees, omits the first step, which
        // took a tenth of a look-up among 10,000 regions.
        let (firsts, lows) = (&self.firsts, &self.lows);
        let is_at = |low: K| usize::from(low <= key);
        let four = if self.len > GROUP * GROUP {
            GROUP * (is_at(firsts[4]) + is_at(firsts[8]) + is_at(firsts[12]))
        } else {
            0
        };
        let group = four + is_at(firsts[four + 1]) + is_at(firsts[four + 2]) + is_at(firsts[four + 3]);
        let first = GROUP * group;
        let slot = first + is_at(lows[first + 1]) + is_at(lows[first + 2]) + is_at(lows[first + 3]);
        // `Key::MAX` equals the separators of vacant slots, so it may lead past the last child.
        slot.min(self.len - 1)
    }

    /// The child at which a search continues: `from`, or the child for `key` if the search has just entered the node.
    #[inline]
    pub(crate) fn begin(&self, from: Option<usize>, key: K) -> usize {
        match from {
            Some(from) => from,
            None if self.len > 1 && self.lows[1] <= key => self.child_for(key),
            None => 0,
        }
    }

    /// The bounds in a class.
    #[inline]
    pub(crate) fn row(&self, class: usize) -> &Row {
        class.checked_sub(1).map_or(&self.first, |other| &self.others[other])
    }

    /// Reserves memory for the bounds of that many classes.
    pub(super) fn reserve_rows(&mut self, classes: usize) -> Result<(), OutOfMemory> {
        let missing = classes.saturating_sub(1 + self.others.len());
        Ok(self.others.try_reserve_exact(missing)?)
    }

    /// Gives a vacant node a row for each class. The caller has reserved them.
    pub(super) fn make_rows(&mut self, classes: usize) {
        self.others.resize_with(classes.saturating_sub(1), Row::zero);
    }

    /// Adds the bounds of a new class, copied from the class before it. The caller has reserved them.
    pub(super) fn add_row(&mut self, class: usize) {
        let row = self.row(class - 1).clone();
        self.others.insert(class - 1, row);
    }

    /// The upper bound for the whole node in a class.
    pub(crate) fn most(&self, class: usize) -> u64 {
        self.row(class).most(self.len)
    }

    /// The first child from `from` on with a bound of `least` or more.
    #[inline]
    pub(crate) fn first_with(&mut self, class: usize, least: u64, from: usize) -> Option<usize> {
        let row = class.checked_sub(1).map_or(&mut self.first, |other| &mut self.others[other]);
        row.first_with(least, from, self.len)
    }

    /// [`Inner::first_with`] through a shared borrow.
    pub(crate) fn first_with_shared(&self, class: usize, least: u64, from: usize) -> Option<usize> {
        self.row(class).first_with_shared(least, from, self.len)
    }

    /// The last of the first `end` children with a bound of `least` or more.
    pub(crate) fn last_with(&self, class: usize, least: u64, end: usize) -> Option<usize> {
        self.row(class).last_with(least, end)
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        core::iter::once(&mut self.first).chain(&mut self.others)
    }

    pub(super) fn push(&mut self, child: Child<K>) {
        self.insert(self.len, child);
    }

    /// Inserts a child before the one at `slot`. The caller must set its bounds.
    pub(super) fn insert(&mut self, slot: usize, child: Child<K>) {
        let len = self.len;
        self.lows.copy_within(slot..len, slot + 1);
        self.children.copy_within(slot..len, slot + 1);
        self.rows_mut().for_each(|row| row.open(slot, len));
        (self.lows[slot], self.children[slot]) = (child.low, child.id);
        self.set_firsts();
        self.len += 1;
    }

    pub(super) fn remove(&mut self, slot: usize) {
        let len = self.len;
        self.lows.copy_within(slot + 1..len, slot);
        self.children.copy_within(slot + 1..len, slot);
        self.rows_mut().for_each(|row| row.close(slot, len));
        self.len -= 1;
        self.lows[self.len] = K::MAX;
        self.set_firsts();
    }

    /// Moves the children from `keep` on to the end of `right`, which has a row for each class, too.
    pub(super) fn move_tail(&mut self, keep: usize, right: &mut Self) {
        for (slot, to) in (keep..self.len).zip(right.len..) {
            (right.lows[to], right.children[to]) = (self.lows[slot], self.children[slot]);
            self.rows_mut().zip(right.rows_mut()).for_each(|(from, row)| row.set(to, from.bound(slot)));
        }
        right.len += self.len - keep;
        self.lows[keep..].fill(K::MAX);
        self.len = keep;
        self.set_firsts();
        right.set_firsts();
    }
}
