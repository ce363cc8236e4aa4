//! Removing an entry; a leaf less than half full, or an inner node less than a quarter, joins a neighbour or takes from it.

use super::{Columns, Found, Summaries, Tree, Way};
use crate::arena::Link;

/// What became of two neighbouring nodes.
enum Evened<K> {
    /// The left one holds everything.
    Joined,
    /// Entries moved over; the right one now starts here.
    Shared(K),
}

/// What a removal did to the shape of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// Ways are still right.
    InPlace,
    /// Nodes were evened out: ways are void, and all summaries are right.
    Evened,
}

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    /// A leaf or inner node with fewer entries is evened out with a neighbour.
    pub(super) const FEW_ENTRIES: usize = L / 2;
    /// A leaf with so many places left can take entries from a full neighbour.
    pub(super) const SPARE_ENTRIES: usize = if L / 4 < 2 { 2 } else { L / 4 };
    pub(super) const FEW_CHILDREN: usize = if N / 4 < 2 { 2 } else { N / 4 };

    /// Whether two neighbours become one: with room left for insertions, or because two halves would be few.
    const fn join(entries: usize, width: usize, few: usize) -> bool {
        entries <= width - few || entries < 2 * few
    }

    /// Removes the entry that was found and those after it, `count` in all, from one leaf. Summaries are as with
    /// [`Tree::remove`].
    #[inline]
    pub(crate) fn remove_run(&mut self, found: Found, count: usize) -> Removed {
        for _ in 1..count {
            self.leaves[found.way().end()].remove(found.at());
            self.len -= 1;
        }
        self.remove(found).1
    }

    /// Removes the entry that was found. Whether summaries are right after it is then the caller's concern,
    /// unless nodes were evened out.
    #[inline]
    pub(crate) fn remove(&mut self, found: Found) -> (C::Item, Removed) {
        let leaf = &mut self.leaves[found.way().end()];
        let item = leaf.remove(found.at());
        self.len -= 1;
        if leaf.len() >= Self::FEW_ENTRIES || self.height == 0 {
            self.last = found.way();
            return (item, Removed::InPlace);
        }
        self.last = Way::NOWHERE;
        self.even_out(found.way());
        (item, Removed::Evened)
    }

    /// Goes up from a leaf with few entries, as far as nodes have few.
    #[cold]
    fn even_out(&mut self, way: Way) {
        let (mut above, mut height) = (way.above(), 0);
        while let Some((parent, taken)) = above {
            // A parent has two children or more: with one it would have been joined or dropped.
            let left_at = taken.saturating_sub(1);
            let children = &self.inners[parent].children;
            let (left, right) = (children[left_at], children[left_at + 1]);
            let (evened, sums) = if height == 0 {
                (self.even_leaves(left, right), (self.leaf_sum(left), self.leaf_sum(right)))
            } else {
                let evened = self.even_inners(left, right);
                self.adopt(left, height);
                self.adopt(right, height);
                (evened, (self.inner_sum(left), self.inner_sum(right)))
            };
            above = self.above(parent);
            height += 1;
            self.sums.set(parent, left_at, sums.0);
            match evened {
                Evened::Joined => {
                    self.remove_child(parent, left_at + 1);
                    self.adopt(parent, height);
                }
                Evened::Shared(low) => {
                    self.inners[parent].lows[left_at + 1] = low;
                    self.sums.set(parent, left_at + 1, sums.1);
                }
            }
            if self.inners[parent].len >= Self::FEW_CHILDREN {
                self.refresh_above(parent);
                break;
            }
        }
        self.shrink_root();
    }

    /// Moves entries between two neighbouring leaves until they have as many. The first key of the right one.
    pub(super) fn balance_leaves(&mut self, left: Link, right: Link) -> C::Key {
        let (left, right) = self.leaves.pair(left, right);
        let keep = (left.len() + right.len()) / 2;
        if left.len() > keep {
            left.move_tail(keep, right);
        } else {
            left.move_head(keep - left.len(), right);
        }
        right.keys()[0]
    }

    fn even_leaves(&mut self, left_link: Link, right_link: Link) -> Evened<C::Key> {
        let (left, right) = self.leaves.pair(left_link, right_link);
        let entries = left.len() + right.len();
        if !Self::join(entries, L, Self::FEW_ENTRIES) {
            return Evened::Shared(self.balance_leaves(left_link, right_link));
        }
        left.move_head(right.len(), right);
        let after = right.next;
        left.next = after;
        if !after.is_none() {
            self.leaves[after].previous = left_link;
        }
        self.leaves.give_back(right_link);
        Evened::Joined
    }

    fn even_inners(&mut self, left: Link, right: Link) -> Evened<C::Key> {
        let (left_len, right_len) = (self.inners[left].len, self.inners[right].len);
        let entries = left_len + right_len;
        if !Self::join(entries, N, Self::FEW_CHILDREN) {
            let keep = entries / 2;
            if left_len > keep {
                self.move_children_up(left, keep, right);
            } else {
                self.move_children_down(left, keep - left_len, right);
            }
            return Evened::Shared(self.inners[right].lows[0]);
        }
        self.move_children_down(left, right_len, right);
        self.inners.give_back(right);
        Evened::Joined
    }

    fn shrink_root(&mut self) {
        while self.height > 0 && self.inners[self.root].len == 1 {
            let root = self.root;
            self.root = self.inners[root].children[0];
            // A vacant node's row is empty.
            self.remove_child(root, 0);
            self.inners.give_back(root);
            self.height -= 1;
            if self.height > 0 {
                self.inners[self.root].parent = Link::NONE;
            }
        }
    }
}
