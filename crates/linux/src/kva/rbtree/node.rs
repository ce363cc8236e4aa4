//! A node: a free block, its links, and the largest block below it.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use freehold_units::{OutOfMemory, Span};

/// The colour of a node of a red-black tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// A red node; its children are black.
    Red,
    /// A black node; it counts for the black height.
    Black,
}

/// A child's side of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The free block, in bytes.
    pub(super) span: Span,
    /// Bytes of the largest block in this node's subtree. A block of 2^64 bytes counts as `u64::MAX`, which no request
    /// exceeds. 0 in the sentinel, so that an absent child needs no test.
    pub(super) subtree_max_size: u64,
    pub(super) left: Link,
    pub(super) right: Link,
    pub(super) parent: Link,
    pub(super) colour: Colour,
}

const _: () = assert!(size_of::<Node>() == 40);

impl Node {
    /// The node that stands for an absent child or parent: black, with no blocks below it. Its span is never read.
    pub(super) const SENTINEL: Self = Self {
        span: Span::ALL,
        subtree_max_size: 0,
        left: Link::NONE,
        right: Link::NONE,
        parent: Link::NONE,
        colour: Colour::Black,
    };

    pub(super) const fn child(&self, side: Side) -> Link {
        match side {
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }

    pub(super) const fn set_child(&mut self, side: Side, child: Link) {
        match side {
            Side::Left => self.left = child,
            Side::Right => self.right = child,
        }
    }
}

/// The number of a node. [`Link::NONE`] is the sentinel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link(pub(super) u32);

impl Link {
    /// No node.
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// All nodes, in one vector: a search follows a link at every step, and a pool's pieces would cost it a third more
/// instructions. The first node is the sentinel; vacant nodes form a free list. The vector grows by a sixteenth, so
/// that little of it is spare.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    vacant: Link,
    vacant_len: usize,
}

impl Nodes {
    /// Only the sentinel.
    pub(super) fn new() -> Result<Self, OutOfMemory> {
        let mut nodes = Vec::new();
        nodes.try_reserve_exact(1)?;
        nodes.push(Node::SENTINEL);
        Ok(Self { nodes, vacant: Link::NONE, vacant_len: 0 })
    }

    /// Reserves memory for `count` more nodes.
    #[inline]
    pub(super) fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        match count.checked_sub(self.vacant_len) {
            None | Some(0) => Ok(()),
            Some(lacking) => self.grow(lacking),
        }
    }

    /// Adds all that is lacking, or nothing.
    #[cold]
    fn grow(&mut self, lacking: usize) -> Result<(), OutOfMemory> {
        let len = self.nodes.len();
        let grown =
            len.checked_add(lacking).and_then(|grown| u32::try_from(grown).ok()).ok_or(OutOfMemory)?;
        if grown as usize > self.nodes.capacity() {
            self.nodes.try_reserve_exact(lacking.max(len / 16).max(4))?;
        }
        for number in len as u32..grown {
            self.nodes.push(Node::SENTINEL);
            self.give_back(Link(number));
        }
        Ok(())
    }

    /// Takes a reserved node.
    pub(super) fn take(&mut self) -> Link {
        let link = self.vacant;
        debug_assert!(!link.is_none(), "K7: a node is reserved before it is taken");
        self.vacant = self[link].parent;
        self.vacant_len -= 1;
        link
    }

    pub(super) fn give_back(&mut self, link: Link) {
        self[link].parent = self.vacant;
        self.vacant = link;
        self.vacant_len += 1;
    }

    /// The number of nodes in use.
    pub(super) fn in_use(&self) -> usize {
        self.nodes.len() - 1 - self.vacant_len
    }

    /// One more than the largest number of a node.
    pub(super) fn numbers(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes of memory held, including spare capacity.
    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }
}

impl Index<Link> for Nodes {
    type Output = Node;
    #[inline]
    fn index(&self, link: Link) -> &Node {
        &self.nodes[link.0 as usize]
    }
}

impl IndexMut<Link> for Nodes {
    #[inline]
    fn index_mut(&mut self, link: Link) -> &mut Node {
        &mut self.nodes[link.0 as usize]
    }
}

/// A read-only copy of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeView {
    /// The free block.
    pub span: Span,
    /// Bytes of the largest block in this node's subtree.
    pub subtree_max_size: u64,
    /// The node's colour.
    pub colour: Colour,
    /// Number of edges between the node and the root.
    pub depth: u32,
}
