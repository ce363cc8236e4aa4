//! The nodes: arrays side by side, shifted as entries come and go.

use super::columns::{Columns, Key, array};
use crate::arena::{Chained, Link};

/// Up to `W` entries in the order of their keys. Whoever comes here wants the length and then keys, so these share
/// the first cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Leaf<C: Columns, const W: usize> {
    len: u32,
    pub(super) previous: Link,
    pub(crate) next: Link,
    keys: [C::Key; W],
    pub(crate) columns: C,
}

impl<C: Columns, const W: usize> Leaf<C, W> {
    pub(super) fn empty() -> Self {
        Self {
            keys: [C::Key::default(); W],
            len: 0,
            columns: C::empty(),
            previous: Link::NONE,
            next: Link::NONE,
        }
    }

    /// Forgets which leaves it stood between; a vacant leaf holds no entry.
    pub(super) fn restart(&mut self) {
        self.previous = Link::NONE;
        self.next = Link::NONE;
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(crate) fn keys(&self) -> &[C::Key] {
        &self.keys[..self.len()]
    }

    /// Whether the way to `key` leads here for certain. It may lead here even if not.
    #[inline]
    pub(super) fn leads_here(&self, key: C::Key) -> bool {
        match self.keys() {
            [] => false,
            &[first, ..] if key < first => self.previous.is_none(),
            &[.., last] => key <= last || self.next.is_none(),
        }
    }

    /// Gives the entry at `at` another key, between the same neighbours and not below what the leaf may hold.
    #[inline]
    pub(crate) fn set_key(&mut self, at: usize, key: C::Key) {
        self.keys[at] = key;
    }

    /// The first entry whose key is above `key`.
    #[inline]
    pub(crate) fn first_above(&self, key: C::Key) -> usize {
        if key < self.keys[0] {
            return 0;
        }
        count_up_to(self.keys(), key)
    }

    #[inline]
    pub(super) fn insert(&mut self, at: usize, key: C::Key, item: C::Item) {
        let len = self.len();
        array::insert(&mut self.keys, len, at, key);
        self.columns.insert(len, at, item);
        self.len += 1;
    }

    #[inline]
    pub(super) fn remove(&mut self, at: usize) -> C::Item {
        let len = self.len();
        array::remove(&mut self.keys, len, at);
        let item = self.columns.remove(len, at);
        self.len -= 1;
        item
    }

    /// Moves the entries from `keep` on to the start of `right`, the leaf after this one.
    pub(super) fn move_tail(&mut self, keep: usize, right: &mut Self) {
        let (len, right_len) = (self.len(), right.len());
        array::move_tail(&self.keys, len, keep, &mut right.keys, right_len);
        self.columns.move_tail(len, keep, &mut right.columns, right_len);
        right.len = (right_len + len - keep) as u32;
        self.len = keep as u32;
    }

    /// Moves the first `count` entries of `right`, the leaf after this one, to the end.
    pub(super) fn move_head(&mut self, count: usize, right: &mut Self) {
        let (len, right_len) = (self.len(), right.len());
        array::move_head(&mut self.keys, len, count, &mut right.keys, right_len);
        self.columns.move_head(len, count, &mut right.columns, right_len);
        self.len = (len + count) as u32;
        right.len = (right_len - count) as u32;
    }
}

impl<C: Columns, const W: usize> Chained for Leaf<C, W> {
    fn chain(&mut self) -> &mut Link {
        &mut self.next
    }
}

/// Up to `W` children, and the lowest key that each may hold.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Inner<K, const W: usize> {
    /// `lows[0]` is not compared: the first child takes everything below `lows[1]`.
    pub(crate) lows: [K; W],
    pub(crate) children: [Link; W],
    /// [`Link::NONE`] for the root.
    pub(crate) parent: Link,
    /// Which child of its parent it is.
    pub(super) taken: u32,
    pub(crate) len: usize,
}

impl<K: Key, const W: usize> Inner<K, W> {
    pub(super) fn empty() -> Self {
        Self { lows: [K::default(); W], children: [Link::NONE; W], parent: Link::NONE, taken: 0, len: 0 }
    }

    /// The child that holds the highest key at or below `key`.
    #[inline]
    pub(crate) fn child_for(&self, key: K) -> usize {
        // A search without a window's start asks for the lowest key at every node.
        if key < self.lows[1] {
            return 0;
        }
        count_up_to(&self.lows[1..self.len], key)
    }

    /// The lows that [`Inner::child_for`] compares.
    #[inline]
    pub(crate) fn read_for(&self, key: K) -> &[K] {
        if key < self.lows[1] { &self.lows[1..2] } else { &self.lows[1..self.len] }
    }

    pub(super) fn insert(&mut self, at: usize, low: K, child: Link) {
        array::insert(&mut self.lows, self.len, at, low);
        array::insert(&mut self.children, self.len, at, child);
        self.len += 1;
    }

    pub(super) fn remove(&mut self, at: usize) {
        array::remove(&mut self.lows, self.len, at);
        array::remove(&mut self.children, self.len, at);
        self.len -= 1;
    }

    pub(super) fn move_tail(&mut self, keep: usize, right: &mut Self) {
        array::move_tail(&self.lows, self.len, keep, &mut right.lows, right.len);
        array::move_tail(&self.children, self.len, keep, &mut right.children, right.len);
        right.len += self.len - keep;
        self.len = keep;
    }

    pub(super) fn move_head(&mut self, count: usize, right: &mut Self) {
        array::move_head(&mut self.lows, self.len, count, &mut right.lows, right.len);
        array::move_head(&mut self.children, self.len, count, &mut right.children, right.len);
        self.len += count;
        right.len -= count;
    }
}

impl<K, const W: usize> Chained for Inner<K, W> {
    fn chain(&mut self) -> &mut Link {
        &mut self.children[0]
    }
}

/// Keys in a cache line.
const GROUP: usize = 8;

/// How many of the ascending `keys` are at or below `key`.
///
/// First the last key of every group is compared, then one group: two waits for memory, not five as in a binary
/// search, and no branch that depends on a key.
#[inline]
fn count_up_to<K: Key>(keys: &[K], key: K) -> usize {
    let groups: usize = keys.chunks_exact(GROUP).map(|group| usize::from(group[GROUP - 1] <= key)).sum();
    let rest = &keys[groups * GROUP..];
    let in_group: usize = rest.iter().take(GROUP).map(|&other| usize::from(other <= key)).sum();
    groups * GROUP + in_group
}
