//! Ways through a tree and places in it. They are two words that fit two registers: what is passed on at every step
//! of a request should not go through memory.

use crate::arena::Link;

/// Where an entry lies, valid until the tree changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) leaf: Link,
    pub(crate) at: usize,
}

/// The way to a node, as much of it as is needed often: the node, a leaf but during a descent, and which child of
/// its parent it is. Valid until the shape of the tree changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// The node in the lower half, its parent in the upper.
    nodes: u64,
    taken: u32,
}

impl Way {
    /// To no leaf: its sentinel has no keys.
    pub(crate) const NOWHERE: Self = Self { nodes: 0, taken: 0 };

    #[inline]
    pub(super) fn new(end: Link, parent: Link, taken: usize) -> Self {
        Self { nodes: u64::from(parent.number()) << 32 | u64::from(end.number()), taken: taken as u32 }
    }

    /// To the root, be it a leaf or not; or to an inner node, from which to go on down.
    #[inline]
    pub(crate) fn from_here(node: Link) -> Self {
        Self::new(node, Link::NONE, 0)
    }

    /// One step down, to a child of the node that it led to.
    #[inline]
    pub(crate) fn down(self, child: Link, taken: usize) -> Self {
        Self::new(child, self.end(), taken)
    }

    /// The node that it leads to.
    #[inline]
    pub(crate) fn end(self) -> Link {
        Link::from_number(self.nodes as u32)
    }

    /// The parent of that node, and which child of it the node is; `None` for the root.
    #[inline]
    pub(crate) fn above(self) -> Option<(Link, usize)> {
        let parent = Link::from_number((self.nodes >> 32) as u32);
        if parent.is_none() { None } else { Some((parent, self.taken as usize)) }
    }

    /// An entry of the leaf that it leads to.
    #[inline]
    pub(crate) const fn entry(self, at: usize) -> Found {
        Found { nodes: self.nodes, taken_at: self.taken << 16 | at as u32 }
    }
}

/// An entry and the way to it, valid until the tree changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    nodes: u64,
    /// The child taken in the upper half, the entry in the lower: nodes have fewer than 2^16 of both.
    taken_at: u32,
}

impl Found {
    #[inline]
    pub(crate) fn way(self) -> Way {
        Way { nodes: self.nodes, taken: self.taken_at >> 16 }
    }

    #[inline]
    pub(crate) fn at(self) -> usize {
        (self.taken_at & 0xffff) as usize
    }

    #[inline]
    pub(crate) fn position(self) -> Position {
        Position { leaf: self.way().end(), at: self.at() }
    }
}
