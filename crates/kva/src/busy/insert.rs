//! Adding a region; a full node splits in two.

use super::node::Inner;
use super::{BusyIndex, Path};
use crate::arena::Link;
use freehold_units::Span;

impl<V, const W: usize> BusyIndex<V, W> {
    /// Adds a region that overlaps none, after [`BusyIndex::reserve`].
    #[inline]
    pub(crate) fn insert(&mut self, span: Span, guard_granules: u32, value: V) {
        let path = self.path_to(span.first());
        let leaf = &mut self.leaves[path.leaf];
        let at = leaf.starts().partition_point(|&first| first < span.first());
        if leaf.len() < W {
            leaf.insert(at, span, guard_granules, value);
        } else {
            self.split_leaf(&path, at, span, guard_granules, value);
        }
        self.len += 1;
    }

    fn split_leaf(&mut self, path: &Path, at: usize, span: Span, guard_granules: u32, value: V) {
        let right_link = self.leaves.take();
        let (left, right) = self.leaves.pair(path.leaf, right_link);
        // Regions that come in address order leave full leaves behind them.
        let rising = at == W && left.next.is_none();
        let keep = if rising { W } else { W / 2 };
        right.previous = path.leaf;
        right.next = left.next;
        left.next = right_link;
        left.move_tail(keep, right);
        match at.checked_sub(keep) {
            Some(at) if at > 0 || keep == W => right.insert(at, span, guard_granules, value),
            _ => left.insert(at, span, guard_granules, value),
        }
        let (low, after) = (right.firsts[0], right.next);
        if !after.is_none() {
            self.leaves[after].previous = right_link;
        }
        self.insert_child(path, low, right_link, rising);
    }

    /// Adds a child right of the one that the path took on the lowest level of inner nodes. If regions come in
    /// address order (`rising`), nodes that split are left full.
    fn insert_child(&mut self, path: &Path, low: u64, child: Link, rising: bool) {
        let (mut low, mut child) = (low, child);
        for &(link, taken) in path.steps[..self.height].iter().rev() {
            let at = taken as usize + 1;
            let inner = &mut self.inners[link];
            if inner.len < W {
                inner.insert(at, low, child);
                return;
            }
            let right_link = self.inners.take();
            let (left, right) = self.inners.pair(link, right_link);
            right.len = 0;
            let keep = if rising { W - 1 } else { W / 2 };
            left.move_tail(keep, right);
            match at.checked_sub(keep) {
                Some(at) if at > 0 => right.insert(at, low, child),
                _ => left.insert(at, low, child),
            }
            (low, child) = (right.lows[0], right_link);
        }
        self.grow_root(low, child);
    }

    fn grow_root(&mut self, low: u64, child: Link) {
        let root = self.inners.take();
        self.inners[root] = Inner::EMPTY;
        let old = self.root;
        self.inners[root].insert(0, 0, old);
        self.inners[root].insert(1, low, child);
        self.root = root;
        self.height += 1;
    }
}
