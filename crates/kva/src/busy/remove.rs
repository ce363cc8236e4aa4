//! Removing a region; a node less than a quarter full joins a neighbour or takes from it.

use super::{BusyIndex, Found, Path};
use crate::arena::Link;

/// What became of two neighbouring nodes.
enum Evened {
    /// The left one holds everything.
    Joined,
    /// Entries moved over; the right one now starts here.
    Shared(u64),
}

impl<V, const W: usize> BusyIndex<V, W> {
    /// A leaf with fewer regions, or an inner node with fewer children, is evened out with a neighbour.
    pub(super) const FEW_REGIONS: usize = W / 4;
    pub(super) const FEW_CHILDREN: usize = if W / 4 < 2 { 2 } else { W / 4 };

    /// Whether two neighbours become one: with room left for insertions, or because two halves would be few.
    const fn join(entries: usize, few: usize) -> bool {
        entries <= W - few || entries < 2 * few
    }

    /// Removes the region that was found and returns its value.
    #[inline]
    pub(crate) fn remove(&mut self, found: &Found) -> Option<V> {
        let Found { path, at } = found;
        let leaf = &mut self.leaves[path.leaf];
        let value = leaf.remove(*at)?;
        self.len -= 1;
        if leaf.len() < Self::FEW_REGIONS {
            self.even_out(path);
        }
        Some(value)
    }

    /// Goes up the path from a leaf with few regions, as far as nodes have few entries.
    #[cold]
    fn even_out(&mut self, path: &Path) {
        for (level, &(parent, taken)) in path.steps[..self.height].iter().enumerate().rev() {
            // A parent has two children or more: with one it would have been joined or dropped.
            let left_at = (taken as usize).saturating_sub(1);
            let children = &self.inners[parent].children;
            let (left, right) = (children[left_at], children[left_at + 1]);
            let evened = if level + 1 == self.height {
                self.even_leaves(left, right)
            } else {
                self.even_inners(left, right)
            };
            let parent = &mut self.inners[parent];
            match evened {
                Evened::Joined => parent.remove(left_at + 1),
                Evened::Shared(low) => parent.lows[left_at + 1] = low,
            }
            if parent.len >= Self::FEW_CHILDREN {
                break;
            }
        }
        self.shrink_root();
    }

    fn even_leaves(&mut self, left_link: Link, right_link: Link) -> Evened {
        let (left, right) = self.leaves.pair(left_link, right_link);
        let (left_len, right_len) = (left.len(), right.len());
        if !Self::join(left_len + right_len, Self::FEW_REGIONS) {
            let keep = (left_len + right_len) / 2;
            if left_len > keep {
                left.move_tail(keep, right);
            } else {
                left.move_head(keep - left_len, right);
            }
            return Evened::Shared(right.firsts[0]);
        }
        left.move_head(right_len, right);
        let after = right.next;
        left.next = after;
        if !after.is_none() {
            self.leaves[after].previous = left_link;
        }
        self.leaves.give_back(right_link);
        Evened::Joined
    }

    fn even_inners(&mut self, left_link: Link, right_link: Link) -> Evened {
        let (left, right) = self.inners.pair(left_link, right_link);
        if !Self::join(left.len + right.len, Self::FEW_CHILDREN) {
            let keep = (left.len + right.len) / 2;
            if left.len > keep {
                left.move_tail(keep, right);
            } else {
                left.move_head(keep - left.len, right);
            }
            return Evened::Shared(right.lows[0]);
        }
        left.move_head(right.len, right);
        self.inners.give_back(right_link);
        Evened::Joined
    }

    fn shrink_root(&mut self) {
        while self.height > 0 && self.inners[self.root].len == 1 {
            let root = self.root;
            self.root = self.inners[root].children[0];
            self.inners.give_back(root);
            self.height -= 1;
        }
    }
}
