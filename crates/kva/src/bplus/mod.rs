//! A B+tree in an arena: ordered keys, columns of data beside them, and per child a summary of what lies below.
//!
//! ```text
//!   inner   lows     |   0 | 200 | 580 |          child i holds the keys in lows[i]..lows[i+1]
//!   beside  sums     |   7 |  90 |  12 |          what a search must know of a child without entering it
//!                       |     |     +------------------------+
//!                       |     +------------+                 |
//!   leaves  keys     | 0 40 90 |<->| 200 210 300 |<->| 580 600 |
//!           columns  | a b  c  |   | d   e   f   |   | g   h   |      one array per column
//! ```
//!
//! It serves the tree of all segments (summary: the largest room), the index of regions beside the red-black tree (no
//! summary) and the index of free blocks by size (nothing but keys).
//!
//! Invariants: K8 ordered, linked, every leaf at least half full and every inner node a quarter, but for the root and the
//! last of a level;
//! K9 every stored summary is that of its child.
//! Cost: O(log n) for each operation; memory is asked for in [`Tree::reserve`] alone.

mod apart;
mod columns;
mod insert;
mod node;
mod refresh;
mod remove;
mod summary;
#[cfg(test)]
mod tests;
mod validate;
mod way;

use crate::OutOfMemory;
use crate::arena::{Arena, Link};
pub(crate) use columns::{Columns, array};
use freehold_units::Probe;
pub(crate) use insert::Inserted;
use node::Inner;
pub(crate) use node::Leaf;
pub(crate) use remove::Removed;
pub(crate) use summary::{Nothing, Summaries};
pub(crate) use way::{Found, Position, Way};

/// Entries of a leaf: with two columns of words it takes 512 bytes.
pub(crate) const LEAF_WIDTH: usize = 31;
/// Children of an inner node. Inner nodes are few and stay in the cache, so they are wide.
pub(crate) const INNER_WIDTH: usize = 64;

/// Leaves hold up to `L` entries, inner nodes up to `N` children.
#[derive(Clone, Debug)]
pub(crate) struct Tree<C: Columns, S: Summaries<C>, const L: usize = LEAF_WIDTH, const N: usize = INNER_WIDTH>
{
    pub(crate) leaves: Arena<Leaf<C, L>>,
    pub(crate) inners: Arena<Inner<C::Key, N>>,
    /// What is known of the inner nodes' children.
    pub(crate) sums: S,
    /// A leaf if `height` is 0, else an inner node.
    pub(crate) root: Link,
    /// Levels of inner nodes.
    pub(crate) height: usize,
    len: usize,
    /// Where the last change was, while the way still leads there; else to no leaf.
    last: Way,
}

/// A child as its parent knows it.
struct Child<K, One> {
    low: K,
    link: Link,
    sum: One,
}

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    pub(crate) fn new(sums: S) -> Result<Self, OutOfMemory> {
        let mut leaves = Arena::new(Leaf::empty())?;
        leaves.reserve(1, Leaf::empty)?;
        let root = leaves.take();
        leaves[root].restart();
        Ok(Self {
            leaves,
            inners: Arena::new(Inner::empty())?,
            sums,
            root,
            height: 0,
            len: 0,
            last: Way::NOWHERE,
        })
    }

    /// Makes sure that `entries` more can be inserted without asking for memory.
    #[inline]
    pub(crate) fn reserve(&mut self, entries: usize) -> Result<(), OutOfMemory> {
        self.leaves.reserve(entries, Leaf::empty)?;
        // Each insertion can split every level and add one.
        let inners = entries.saturating_mul(self.height.saturating_add(1));
        self.inners.reserve(inners, Inner::empty)?;
        self.sums.reserve(self.inners.len())
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held, spare room included.
    pub(crate) fn bytes(&self) -> usize {
        self.leaves.bytes().saturating_add(self.inners.bytes()).saturating_add(self.sums.bytes())
    }

    /// Sums up anew, every leaf and every node, after a change of what is to be known. Cost: linear. Returns the number
    /// of summaries.
    pub(crate) fn resummarise(&mut self) -> u64 {
        self.resummarise_below(self.root, self.height).1
    }

    fn resummarise_below(&mut self, link: Link, height: usize) -> (S::One, u64) {
        let Some(below) = height.checked_sub(1) else { return (self.leaf_sum(link), 1) };
        let mut count = 1;
        for at in 0..self.inners[link].len {
            let child = self.inners[link].children[at];
            let (sum, summaries) = self.resummarise_below(child, below);
            self.sums.set(link, at, sum);
            count += summaries;
        }
        (self.inner_sum(link), count)
    }

    /// The entry with the highest key at or below `key`.
    #[inline]
    pub(crate) fn at_or_below(&self, key: C::Key) -> Option<Position> {
        let link = self.way_to(key).end();
        let leaf = &self.leaves[link];
        match leaf.first_above(key).checked_sub(1) {
            Some(at) => Some(Position { leaf: link, at }),
            None => self.last_of(leaf.previous),
        }
    }

    /// Where a key is or would be; perhaps one past the last of a leaf.
    pub(crate) fn place_of(&self, key: C::Key) -> Position {
        let link = self.way_to(key).end();
        let leaf = &self.leaves[link];
        let at = leaf.first_above(key);
        let is_there = at > 0 && leaf.keys()[at - 1] == key;
        Position { leaf: link, at: at - usize::from(is_there) }
    }

    /// The entry of that key, and the way to it.
    #[inline]
    pub(crate) fn find(&self, key: C::Key) -> Option<Found> {
        self.find_on(self.way_to(key), key)
    }

    /// The entry of that key, at the end of the way to it.
    #[inline]
    pub(crate) fn find_on(&self, way: Way, key: C::Key) -> Option<Found> {
        let leaf = &self.leaves[way.end()];
        let at = leaf.first_above(key).checked_sub(1)?;
        (leaf.keys().get(at) == Some(&key)).then(|| way.entry(at))
    }

    #[inline]
    fn last_of(&self, leaf: Link) -> Option<Position> {
        let at = self.leaves[leaf].len().checked_sub(1)?;
        Some(Position { leaf, at })
    }

    pub(crate) fn first(&self) -> Option<Position> {
        let mut at = self.root;
        for _ in 0..self.height {
            at = self.inners[at].children[0];
        }
        if self.leaves[at].len() == 0 { None } else { Some(Position { leaf: at, at: 0 }) }
    }

    #[inline]
    pub(crate) fn next(&self, position: Position) -> Option<Position> {
        let Position { leaf, at } = position;
        self.at_or_after(Position { leaf, at: at + 1 })
    }

    /// The entry at a place, which may be one past the leaf's last: then the first of the next leaf.
    #[inline]
    pub(crate) fn at_or_after(&self, position: Position) -> Option<Position> {
        if position.at < self.leaves[position.leaf].len() {
            return Some(position);
        }
        let leaf = self.leaves[position.leaf].next;
        if leaf.is_none() { None } else { Some(Position { leaf, at: 0 }) }
    }

    /// The entry before a place, which may be one past the leaf's last.
    #[inline]
    pub(crate) fn previous(&self, position: Position) -> Option<Position> {
        match position.at.checked_sub(1) {
            Some(at) => Some(Position { at, ..position }),
            None => self.last_of(self.leaves[position.leaf].previous),
        }
    }

    #[inline]
    pub(crate) fn key(&self, position: Position) -> Option<C::Key> {
        self.leaves[position.leaf].keys().get(position.at).copied()
    }

    #[inline]
    pub(crate) fn columns(&self, position: Position) -> &C {
        &self.leaves[position.leaf].columns
    }

    #[inline]
    pub(crate) fn columns_mut(&mut self, position: Position) -> &mut C {
        &mut self.leaves[position.leaf].columns
    }

    /// Counts the memory that finding `key` reads, and changing the entries about it: from `before` entries before
    /// it to the end of its leaf.
    pub(crate) fn touch_change(&self, key: C::Key, before: usize, probe: &mut impl Probe) {
        let way = self.way_probed(key, probe);
        let leaf = &self.leaves[way.end()];
        probe.touch(leaf.keys());
        let at = leaf.first_above(key).saturating_sub(before + 1);
        leaf.columns.touch_from(at, probe);
    }

    /// Counts the memory of two leaves if entries moved from one to the other in the last change, at `key`.
    pub(crate) fn touch_moved(&self, key: C::Key, probe: &mut impl Probe) {
        if self.last.end().is_none() {
            let leaf = &self.leaves[self.way_to(key).end()];
            probe.touch(leaf);
            probe.touch(&self.leaves[leaf.next]);
        }
    }

    /// Asks for the start of a leaf ahead of its use: what the caller does meanwhile hides the wait for memory.
    #[inline]
    pub(crate) fn touch(&self, leaf: Link) {
        core::hint::black_box(self.leaves[leaf].len());
    }

    #[inline]
    pub(crate) fn way_to(&self, key: C::Key) -> Way {
        self.way_probed(key, &mut ())
    }

    /// [`Tree::way_to`], with the memory that it reads counted.
    #[inline]
    pub(crate) fn way_probed(&self, key: C::Key, probe: &mut impl Probe) -> Way {
        if self.leaves[self.last.end()].leads_here(key) {
            return self.last;
        }
        let mut way = Way::from_here(self.root);
        for _ in 0..self.height {
            let inner = &self.inners[way.end()];
            let taken = inner.child_for(key);
            if probe.counts_lines() {
                probe.touch(inner.read_for(key));
                probe.touch(&inner.children[taken]);
            }
            way = way.down(inner.children[taken], taken);
        }
        way
    }

    /// The parent of an inner node, and which child of it the node is; `None` for the root.
    #[inline]
    pub(crate) fn above(&self, inner: Link) -> Option<(Link, usize)> {
        let &Inner { parent, taken, .. } = &self.inners[inner];
        if parent.is_none() { None } else { Some((parent, taken as usize)) }
    }

    /// The children of an inner node, which stands at `height` above the leaves, are told that it is theirs, and where
    /// in it they are.
    fn adopt(&mut self, link: Link, height: usize) {
        // Leaves do not know their parent: whoever comes to them has passed it.
        if height == 1 {
            return;
        }
        for at in 0..self.inners[link].len {
            let child = self.inners[link].children[at];
            let child = &mut self.inners[child];
            (child.parent, child.taken) = (link, at as u32);
        }
    }

    fn leaf_sum(&self, leaf: Link) -> S::One {
        let leaf = &self.leaves[leaf];
        self.sums.of_leaf(leaf.keys(), &leaf.columns)
    }

    fn inner_sum(&self, link: Link) -> S::One {
        self.sums.total(link, self.inners[link].len)
    }

    fn insert_child(&mut self, link: Link, at: usize, child: Child<C::Key, S::One>) {
        let inner = &mut self.inners[link];
        self.sums.insert(link, inner.len, at, child.sum);
        inner.insert(at, child.low, child.link);
    }

    fn remove_child(&mut self, link: Link, at: usize) {
        let inner = &mut self.inners[link];
        self.sums.remove(link, inner.len, at);
        inner.remove(at);
    }

    /// Moves the children of a node from `keep` on to the start of the next node.
    fn move_children_up(&mut self, left_link: Link, keep: usize, right_link: Link) {
        let (left, right) = self.inners.pair(left_link, right_link);
        self.sums.move_tail(left_link, left.len, keep, right_link, right.len);
        left.move_tail(keep, right);
    }

    /// Moves the first `count` children of the next node to the end of a node.
    fn move_children_down(&mut self, left_link: Link, count: usize, right_link: Link) {
        let (left, right) = self.inners.pair(left_link, right_link);
        self.sums.move_head(left_link, left.len, count, right_link, right.len);
        left.move_head(count, right);
    }
}
