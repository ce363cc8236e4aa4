//! A node: a free block, its links, and the largest block below it.

use crate::arena::{Chained, Link};
use freehold_units::Span;

/// The colour of a node of a red-black tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Its children are black.
    Red,
    /// Counts for the black height.
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
    /// Bytes of the largest block in the subtree of which this node is the root; the one block of 2^64 bytes
    /// counts as `u64::MAX`, which no request exceeds. 0 in the sentinel, so that an absent child needs no test.
    pub(super) subtree_max_size: u64,
    pub(super) left: Link,
    pub(super) right: Link,
    pub(super) parent: Link,
    pub(super) colour: Colour,
}

const _: () = assert!(size_of::<Node>() == 40);

impl Node {
    /// What an absent child or parent reads as: black, with nothing below it. Its span is never read.
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

impl Chained for Node {
    fn chain(&mut self) -> &mut Link {
        &mut self.parent
    }
}

/// A node as seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeView {
    /// The free block.
    pub span: Span,
    /// Bytes of the largest block in this node's subtree.
    pub subtree_max_size: u64,
    /// Its colour.
    pub colour: Colour,
    /// Edges between it and the root.
    pub depth: u32,
}
