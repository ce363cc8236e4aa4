//! Adding an entry; a full node splits in two.

use super::node::Inner;
use super::{Columns, Path, Summaries, Tree};
use crate::arena::Link;

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    /// Adds an entry whose key is not there yet, at the end of the path to it, after [`Tree::reserve`].
    #[inline]
    pub(crate) fn insert(&mut self, path: &Path, key: C::Key, item: C::Item) {
        let at = self.leaves[path.leaf].first_above(key);
        self.insert_at(path, at, key, item);
    }

    /// Adds an entry at its place in the leaf of `path`. Whether summaries are right for it is then the caller's
    /// concern, unless the leaf was split.
    #[inline]
    pub(crate) fn insert_at(&mut self, path: &Path, at: usize, key: C::Key, item: C::Item) -> Inserted {
        self.len += 1;
        let leaf = &mut self.leaves[path.leaf];
        if leaf.len() < L {
            leaf.insert(at, key, item);
            return Inserted::InPlace;
        }
        self.split_leaf(path, at, key, item);
        Inserted::Split
    }

    fn split_leaf(&mut self, path: &Path, at: usize, key: C::Key, item: C::Item) {
        let right_link = self.leaves.take();
        let (left, right) = self.leaves.pair(path.leaf, right_link);
        // Keys that come in rising order leave full leaves behind them.
        let rising = at == L && left.next.is_none();
        let keep = if rising { L } else { L / 2 };
        right.previous = path.leaf;
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
        self.insert_child(path, low, right_link, rising);
    }

    /// Adds a leaf right of the one that the path leads to, whose own summary has changed too. If keys come in
    /// rising order, nodes that split are left full.
    fn insert_child(&mut self, path: &Path, low: C::Key, child: Link, rising: bool) {
        let (mut low, mut child) = (low, child);
        let (mut left_sum, mut sum) = (self.leaf_sum(path.leaf), self.leaf_sum(child));
        for level in (0..self.height).rev() {
            let (link, taken) = path.step(level);
            let at = taken + 1;
            let inner = &mut self.inners[link];
            inner.sums.set(self.context, taken, left_sum);
            if inner.len < N {
                inner.insert(at, low, child, sum);
                self.refresh_above(path, level);
                return;
            }
            let right_link = self.inners.take();
            let (left, right) = self.inners.pair(link, right_link);
            right.len = 0;
            let keep = if rising { N - 1 } else { N / 2 };
            left.move_tail(keep, right);
            match at.checked_sub(keep) {
                Some(at) if at > 0 => right.insert(at, low, child, sum),
                _ => left.insert(at, low, child, sum),
            }
            (low, child) = (right.lows[0], right_link);
            (left_sum, sum) =
                (left.sums.total(self.context, left.len), right.sums.total(self.context, right.len));
        }
        let root = self.inners.take();
        let old = self.root;
        self.inners[root] = Inner::empty();
        self.inners[root].insert(0, C::Key::default(), old, left_sum);
        self.inners[root].insert(1, low, child, sum);
        self.root = root;
        self.height += 1;
    }

    pub(super) fn leaf_sum(&self, leaf: Link) -> S::One {
        let leaf = &self.leaves[leaf];
        S::of_leaf(self.context, leaf.keys(), &leaf.columns)
    }
}

/// What an insertion did to the shape of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    /// The leaf had room: paths are still right.
    InPlace,
    /// The leaf was split: paths are void, and all summaries are right.
    Split,
}
