//! Adding an entry; a full node splits in two.

use super::node::{Inner, Leaf};
use super::{Child, Columns, Summaries, Tree, Way};
use crate::arena::Link;

/// What an insertion did to the shape of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// The leaf had room: ways are still right.
    InPlace,
    /// The leaf was split: ways are void, and all summaries are right.
    Split,
}

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    /// Adds an entry whose key is not there yet, at the end of the way to it, after [`Tree::reserve`].
    #[inline]
    pub(crate) fn insert(&mut self, way: Way, key: C::Key, item: C::Item) -> Inserted {
        let at = self.leaves[way.end()].first_above(key);
        self.insert_at(way, at, key, item)
    }

    /// Adds an entry at its place in the leaf at the end of the way. Whether summaries are right for it is then the
    /// caller's concern, unless the leaf was split.
    #[inline]
    pub(crate) fn insert_at(&mut self, way: Way, at: usize, key: C::Key, item: C::Item) -> Inserted {
        self.len += 1;
        let leaf = &mut self.leaves[way.end()];
        if leaf.len() < L {
            leaf.insert(at, key, item);
            self.last = way;
            return Inserted::InPlace;
        }
        self.last = Way::NOWHERE;
        self.split_leaf(way, at, key, item);
        Inserted::Split
    }

    /// Makes room in a full leaf: a neighbour takes some of its entries, or it splits.
    #[cold]
    fn split_leaf(&mut self, way: Way, at: usize, key: C::Key, item: C::Item) {
        let rising = Self::is_rising(at, &self.leaves[way.end()]);
        if !rising && self.share(way, at, key) {
            let way = self.way_to(key);
            let leaf = &mut self.leaves[way.end()];
            leaf.insert(leaf.first_above(key), key, item);
            self.refresh_leaf(way);
            return;
        }
        let right_link = self.leaves.take();
        let (left, right) = self.leaves.pair(way.end(), right_link);
        let keep = if rising { at } else { L / 2 };
        right.previous = way.end();
        right.next = left.next;
        left.next = right_link;
        left.move_tail(keep, right);
        match at.checked_sub(keep) {
            Some(at) if at > 0 || keep == L => right.insert(at, key, item),
            _ => left.insert(at, key, item),
        }
        let (low, after) = (right.keys()[0], right.next);
        if !after.is_none() {
            self.leaves[after].previous = right_link;
        }
        self.add_leaf(way, low, right_link, rising);
    }

    /// Whether keys seem to come in rising order, a few that stay the highest apart (a space cut from its start keeps
    /// what is left, and the hole after it): such keys leave full leaves behind them.
    fn is_rising(at: usize, leaf: &Leaf<C, L>) -> bool {
        at + 2 >= L && leaf.next.is_none()
    }

    /// Makes a neighbour below the same parent, if one has room, take entries of a full leaf, or the new one alone if
    /// that would be its first.
    fn share(&mut self, way: Way, at: usize, key: C::Key) -> bool {
        let Some((parent, taken)) = way.above() else { return false };
        let inner = &self.inners[parent];
        let has_room = |at: usize| self.leaves[inner.children[at]].len() + Self::SPARE_ENTRIES <= L;
        let left_at = if taken + 1 < inner.len && has_room(taken + 1) {
            if at == L {
                self.inners[parent].lows[taken + 1] = key;
                self.refresh_leaf(way);
                return true;
            }
            taken
        } else if taken > 0 && has_room(taken - 1) {
            taken - 1
        } else {
            return false;
        };
        let (left, right) = (inner.children[left_at], inner.children[left_at + 1]);
        let low = self.balance_leaves(left, right);
        let sums = (self.leaf_sum(left), self.leaf_sum(right));
        self.inners[parent].lows[left_at + 1] = low;
        self.sums.set(parent, left_at, sums.0);
        self.sums.set(parent, left_at + 1, sums.1);
        self.refresh_above(parent);
        true
    }

    /// Adds a leaf right of the one that the way leads to, whose own summary has changed too. If keys come in
    /// rising order, nodes that split are left full.
    fn add_leaf(&mut self, way: Way, low: C::Key, leaf: Link, rising: bool) {
        let mut new = Child { low, link: leaf, sum: self.leaf_sum(leaf) };
        let (mut left_sum, mut height) = (self.leaf_sum(way.end()), 1);
        let mut above = way.above();
        while let Some((link, taken)) = above {
            self.sums.set(link, taken, left_sum);
            if self.inners[link].len < N {
                self.insert_child(link, taken + 1, new);
                self.adopt(link, height);
                self.refresh_above(link);
                return;
            }
            above = self.above(link);
            let right_link = self.split_inner(link, taken + 1, new, rising);
            self.adopt(link, height);
            self.adopt(right_link, height);
            let right = &self.inners[right_link];
            new = Child { low: right.lows[0], link: right_link, sum: self.inner_sum(right_link) };
            left_sum = self.inner_sum(link);
            height += 1;
        }
        let root = self.inners.take();
        self.inners[root] = Inner::empty();
        self.insert_child(root, 0, Child { low: C::Key::default(), link: self.root, sum: left_sum });
        self.insert_child(root, 1, new);
        self.adopt(root, height);
        self.root = root;
        self.height = height;
    }

    /// Splits a full node that is to have a new child at `at`. The node right of it.
    fn split_inner(&mut self, link: Link, at: usize, new: Child<C::Key, S::One>, rising: bool) -> Link {
        let right_link = self.inners.take();
        self.inners[right_link].len = 0;
        let keep = if rising { N - 1 } else { N / 2 };
        self.move_children_up(link, keep, right_link);
        match at.checked_sub(keep) {
            Some(at) if at > 0 => self.insert_child(right_link, at, new),
            _ => self.insert_child(link, at, new),
        }
        right_link
    }
}
