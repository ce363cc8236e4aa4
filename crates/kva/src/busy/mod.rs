//! Regions by address, with their owners' values: a B+tree that answers for any interior address.
//!
//! ```text
//!   inner   lows     |   0 | 200 | 580 |          child i holds the regions that start in lows[i]..lows[i+1]
//!                       |     |     +------------------------+
//!                       |     +------------+                 |
//!   leaves  firsts   | 0 40 90 |<->| 200 210 300 |<->| 580 600 |
//!           lasts    |39 79 99 |   | 209 219 399 |   | 589 999 |
//!           guards, values         (one array each, so that a search touches starts alone)
//! ```
//!
//! Invariants: K8 ordered, linked, every node but the root and the last of a level at least a quarter full; K4 regions are disjoint
//! (kept by the space, which takes them from free blocks).
//! Cost: O(log n) for each operation. Memory: 28 bytes a slot and the value's size; slots are at least a quarter
//! full, all full after allocation in address order, and about three quarters full after random use.

mod insert;
mod node;
mod remove;
#[cfg(test)]
mod tests;
mod validate;

use crate::OutOfMemory;
use crate::arena::{Arena, Link};
use freehold_units::Span;
use node::{Inner, Leaf};

/// Entries of a node. Measured: 32 is as fast as 64 at 10^5 regions and wastes less at 10^2.
const WIDTH: usize = 32;
/// Inner nodes have eight children or more, but for one on each level, so 2^32 leaves stand no higher.
const MAX_HEIGHT: usize = 12;

/// A region as the index knows it.
#[derive(Debug)]
pub(crate) struct Entry<'a, V> {
    /// The usable addresses.
    pub(crate) span: Span,
    /// Granules after them that are taken too.
    pub(crate) guard_granules: u32,
    pub(crate) value: &'a V,
}

/// Where an entry lies, valid until the index changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    leaf: Link,
    at: usize,
}

/// The inner nodes passed on the way to a leaf, each with the child that was taken.
#[derive(Clone, Copy)]
struct Path {
    steps: [(Link, u32); MAX_HEIGHT],
    leaf: Link,
}

/// An entry and the way to it, valid until the index changes.
pub(crate) struct Found {
    path: Path,
    at: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct BusyIndex<V, const W: usize = WIDTH> {
    leaves: Arena<Leaf<V, W>>,
    inners: Arena<Inner<W>>,
    /// A leaf if `height` is 0, else an inner node.
    root: Link,
    /// Levels of inner nodes.
    height: usize,
    len: usize,
}

impl<V, const W: usize> BusyIndex<V, W> {
    pub(crate) fn new() -> Result<Self, OutOfMemory> {
        let mut leaves = Arena::new(Leaf::empty())?;
        leaves.reserve(1, Leaf::with_room)?;
        let root = leaves.take();
        leaves[root].restart();
        Ok(Self { leaves, inners: Arena::new(Inner::EMPTY)?, root, height: 0, len: 0 })
    }

    /// Makes sure that `regions` more can be inserted without asking for memory.
    #[inline]
    pub(crate) fn reserve(&mut self, regions: usize) -> Result<(), OutOfMemory> {
        self.leaves.reserve(regions, Leaf::with_room)?;
        // Each insertion can split every level and add one.
        let inners = regions.saturating_mul(self.height.saturating_add(1));
        self.inners.reserve(inners, || Ok(Inner::EMPTY))
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held, spare room included.
    pub(crate) fn bytes(&self) -> usize {
        let values = self.leaves.in_use().saturating_mul(W * size_of::<V>());
        self.leaves.bytes().saturating_add(self.inners.bytes()).saturating_add(values)
    }

    /// The region that starts highest at or below `address`.
    #[inline]
    pub(crate) fn at_or_below(&self, address: u64) -> Option<Position> {
        let mut at = self.root;
        for _ in 0..self.height {
            let inner = &self.inners[at];
            at = inner.children[inner.child_for(address)];
        }
        let leaf = &self.leaves[at];
        let above = leaf.starts().partition_point(|&first| first <= address);
        match above.checked_sub(1) {
            Some(entry) => Some(Position { leaf: at, at: entry }),
            None => self.last_of(leaf.previous),
        }
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
        if at + 1 < self.leaves[leaf].len() {
            return Some(Position { leaf, at: at + 1 });
        }
        let leaf = self.leaves[leaf].next;
        if leaf.is_none() { None } else { Some(Position { leaf, at: 0 }) }
    }

    /// The region that starts at `first`.
    #[inline]
    pub(crate) fn find(&self, first: u64) -> Option<Found> {
        let path = self.path_to(first);
        let at = self.leaves[path.leaf].starts().partition_point(|&start| start < first);
        (self.leaves[path.leaf].starts().get(at) == Some(&first)).then_some(Found { path, at })
    }

    pub(crate) fn found(&self, found: &Found) -> Option<Entry<'_, V>> {
        self.entry(Position { leaf: found.path.leaf, at: found.at })
    }

    pub(crate) fn entry(&self, position: Position) -> Option<Entry<'_, V>> {
        let leaf = &self.leaves[position.leaf];
        Some(Entry {
            span: leaf.span(position.at)?,
            guard_granules: *leaf.guards.get(position.at)?,
            value: leaf.values.get(position.at)?,
        })
    }

    pub(crate) fn value_mut(&mut self, position: Position) -> Option<&mut V> {
        self.leaves[position.leaf].values.get_mut(position.at)
    }

    fn path_to(&self, address: u64) -> Path {
        let mut path = Path { steps: [(Link::NONE, 0); MAX_HEIGHT], leaf: self.root };
        for step in path.steps.iter_mut().take(self.height) {
            let inner = &self.inners[path.leaf];
            let child = inner.child_for(address);
            *step = (path.leaf, child as u32);
            path.leaf = inner.children[child];
        }
        path
    }
}
