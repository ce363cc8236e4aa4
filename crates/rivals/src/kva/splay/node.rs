//! A node: a free block, its links, and the largest block below it; and the vector that nodes live in.

use freehold_units::Span;
use std::ops::{Index, IndexMut};

/// The place of a node in its vector. [`Link::NONE`] is the first, a sentinel that is no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link(u32);

impl Link {
    /// No node.
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// A free block. A vacant node chains to the next in `left`.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The block, in bytes.
    pub(super) span: Span,
    /// Bytes of the largest block in the subtree of which this node is the root; 2^64 counts as `u64::MAX`, which
    /// no request exceeds. 0 in the sentinel, so that an absent child needs no test.
    pub(super) subtree_max_size: u64,
    pub(super) left: Link,
    pub(super) right: Link,
}

const _: () = assert!(size_of::<Node>() == 32);

impl Node {
    fn alone(span: Span, subtree_max_size: u64) -> Self {
        Self { span, subtree_max_size, left: Link::NONE, right: Link::NONE }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Nodes {
    /// Position 0 is the sentinel, whose span is never read.
    nodes: Vec<Node>,
    vacant: Link,
    vacant_len: usize,
}

impl Nodes {
    pub(super) fn new() -> Self {
        Self { nodes: vec![Node::alone(Span::ALL, 0)], vacant: Link::NONE, vacant_len: 0 }
    }

    /// A node without children.
    pub(super) fn take(&mut self, span: Span) -> Link {
        let node = Node::alone(span, span.size_saturating());
        let link = self.vacant;
        if link.is_none() {
            self.nodes.push(node);
            return Link((self.nodes.len() - 1) as u32);
        }
        self.vacant = self[link].left;
        self.vacant_len -= 1;
        self[link] = node;
        link
    }

    /// Makes a node vacant that nothing links to.
    pub(super) fn give_back(&mut self, link: Link) {
        self[link].left = self.vacant;
        self.vacant = link;
        self.vacant_len += 1;
    }

    /// Nodes that are neither vacant nor the sentinel.
    pub(super) fn in_use(&self) -> usize {
        self.nodes.len() - 1 - self.vacant_len
    }

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
