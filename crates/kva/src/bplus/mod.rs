//! A B+tree in an arena: ordered keys, columns of data beside them, and per child a summary of what lies below.
//!
//! ```text
//!   inner   lows     |   0 | 200 | 580 |          child i holds the keys in lows[i]..lows[i+1]
//!           sums     |   7 |  90 |  12 |          what a search must know of a child without entering it
//!                       |     |     +------------------------+
//!                       |     +------------+                 |
//!   leaves  keys     | 0 40 90 |<->| 200 210 300 |<->| 580 600 |
//!           columns  | a b  c  |   | d   e   f   |   | g   h   |      one array per column
//! ```
//!
//! It serves the index of regions (no summary), the B+tree of free blocks (summary: the largest block) and the
//! index of free blocks by size (nothing but keys).
//!
//! Invariants: K8 ordered, linked, every node but the root and the last of a level at least a quarter full;
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

use crate::OutOfMemory;
use crate::arena::{Arena, Link};
pub(crate) use columns::{Columns, array};
pub(crate) use insert::Inserted;
use node::{Inner, Leaf};
pub(crate) use remove::Removed;
pub(crate) use summary::{Nothing, Summaries};

/// Entries of a leaf: with two columns of words it takes 512 bytes.
pub(crate) const LEAF_WIDTH: usize = 31;
/// Children of an inner node. Inner nodes are few and stay in the cache, so they are wide.
pub(crate) const INNER_WIDTH: usize = 64;
/// Inner nodes have sixteen children or more, but for one on each level, so 2^32 leaves stand no higher.
const MAX_HEIGHT: usize = 12;

/// Where an entry lies, valid until the tree changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) leaf: Link,
    pub(crate) at: usize,
}

/// The inner nodes passed on the way to a leaf, each with the child that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    inners: [Link; MAX_HEIGHT],
    taken: [u8; MAX_HEIGHT],
    pub(crate) leaf: Link,
}

impl Path {
    /// A path of no steps.
    pub(crate) fn to(leaf: Link) -> Self {
        Self { inners: [Link::NONE; MAX_HEIGHT], taken: [0; MAX_HEIGHT], leaf }
    }

    /// At `level`, counted from the root, the node `inner` was passed to its child `taken`.
    #[inline]
    pub(crate) fn set(&mut self, level: usize, inner: Link, taken: usize) {
        self.inners[level] = inner;
        self.taken[level] = taken as u8;
    }

    /// The node passed at `level`, and the child taken.
    #[inline]
    pub(crate) fn step(&self, level: usize) -> (Link, usize) {
        (self.inners[level], usize::from(self.taken[level]))
    }
}

/// An entry and the way to it, valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) path: Path,
    pub(crate) at: usize,
}

impl Found {
    pub(crate) fn position(&self) -> Position {
        Position { leaf: self.path.leaf, at: self.at }
    }
}

/// Leaves hold up to `L` entries, inner nodes up to `N` children.
#[derive(Clone, Debug)]
pub(crate) struct Tree<C: Columns, S: Summaries<C>, const L: usize = LEAF_WIDTH, const N: usize = INNER_WIDTH> {
    /// What summaries depend on.
    pub(crate) context: S::Context,
    pub(crate) leaves: Arena<Leaf<C, L>>,
    pub(crate) inners: Arena<Inner<S, N>>,
    /// A leaf if `height` is 0, else an inner node.
    pub(crate) root: Link,
    /// Levels of inner nodes.
    pub(crate) height: usize,
    len: usize,
}

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    pub(crate) fn new(context: S::Context) -> Result<Self, OutOfMemory> {
        let mut leaves = Arena::new(Leaf::empty())?;
        leaves.reserve(1, Leaf::empty)?;
        let root = leaves.take();
        leaves[root].restart();
        Ok(Self { context, leaves, inners: Arena::new(Inner::empty())?, root, height: 0, len: 0 })
    }

    /// Makes sure that `entries` more can be inserted without asking for memory.
    #[inline]
    pub(crate) fn reserve(&mut self, entries: usize) -> Result<(), OutOfMemory> {
        self.leaves.reserve(entries, Leaf::empty)?;
        // Each insertion can split every level and add one.
        let inners = entries.saturating_mul(self.height.saturating_add(1));
        self.inners.reserve(inners, Inner::empty)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held, spare room included.
    pub(crate) fn bytes(&self) -> usize {
        self.leaves.bytes().saturating_add(self.inners.bytes())
    }

    /// Sums up anew, every leaf and every node, after a change of the context. Cost: linear. Returns the number
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
            self.inners[link].sums.set(self.context, at, sum);
            count += summaries;
        }
        let inner = &self.inners[link];
        (inner.sums.total(self.context, inner.len), count)
    }

    /// The entry with the highest key at or below `key`.
    #[inline]
    pub(crate) fn at_or_below(&self, key: C::Key) -> Option<Position> {
        let mut at = self.root;
        for _ in 0..self.height {
            let inner = &self.inners[at];
            at = inner.children[inner.child_for(key)];
        }
        let leaf = &self.leaves[at];
        match leaf.first_above(key).checked_sub(1) {
            Some(entry) => Some(Position { leaf: at, at: entry }),
            None => self.last_of(leaf.previous),
        }
    }

    /// Where a key is or would be; perhaps one past the last of a leaf.
    pub(crate) fn place_of(&self, key: C::Key) -> Position {
        let path = self.path_to(key);
        let leaf = &self.leaves[path.leaf];
        let at = leaf.first_above(key);
        let is_there = at > 0 && leaf.keys()[at - 1] == key;
        Position { leaf: path.leaf, at: at - usize::from(is_there) }
    }

    /// The entry of that key, and the way to it.
    #[inline]
    pub(crate) fn find(&self, key: C::Key) -> Option<Found> {
        self.find_on(&self.path_to(key), key)
    }

    /// The entry of that key, at the end of the path to it.
    #[inline]
    pub(crate) fn find_on(&self, path: &Path, key: C::Key) -> Option<Found> {
        let leaf = &self.leaves[path.leaf];
        let at = leaf.first_above(key).checked_sub(1)?;
        (leaf.keys().get(at) == Some(&key)).then_some(Found { path: *path, at })
    }

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

    pub(crate) fn next(&self, position: Position) -> Option<Position> {
        let Position { leaf, at } = position;
        self.at_or_after(Position { leaf, at: at + 1 })
    }

    /// The entry at a place, which may be one past the leaf's last: then the first of the next leaf.
    pub(crate) fn at_or_after(&self, position: Position) -> Option<Position> {
        if position.at < self.leaves[position.leaf].len() {
            return Some(position);
        }
        let leaf = self.leaves[position.leaf].next;
        if leaf.is_none() { None } else { Some(Position { leaf, at: 0 }) }
    }

    /// The entry before a place, which may be one past the leaf's last.
    pub(crate) fn previous(&self, position: Position) -> Option<Position> {
        match position.at.checked_sub(1) {
            Some(at) => Some(Position { at, ..position }),
            None => self.last_of(self.leaves[position.leaf].previous),
        }
    }

    pub(crate) fn key(&self, position: Position) -> Option<C::Key> {
        self.leaves[position.leaf].keys().get(position.at).copied()
    }

    pub(crate) fn columns(&self, position: Position) -> &C {
        &self.leaves[position.leaf].columns
    }

    pub(crate) fn columns_mut(&mut self, position: Position) -> &mut C {
        &mut self.leaves[position.leaf].columns
    }

    /// Asks for the start of a leaf ahead of its use: what the caller does meanwhile hides the wait for memory.
    #[inline]
    pub(crate) fn touch(&self, leaf: Link) {
        core::hint::black_box(self.leaves[leaf].len());
    }

    #[inline]
    pub(crate) fn path_to(&self, key: C::Key) -> Path {
        let mut path = Path::to(self.root);
        for level in 0..self.height {
            let inner = &self.inners[path.leaf];
            let child = inner.child_for(key);
            path.set(level, path.leaf, child);
            path.leaf = inner.children[child];
        }
        path
    }
}
