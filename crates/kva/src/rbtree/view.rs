//! Reading the tree from outside: blocks in address order, nodes in preorder, neighbours.

use super::hot::Hot;
use super::node::Link;
use super::{Block, NodeView, Policy, RbTree};
use freehold_units::Span;

impl<P: Policy> RbTree<P> {
    /// Every node, parents before children, left before right: the tree's shape. Cost: linear.
    pub fn preorder(&self) -> impl Iterator<Item = NodeView> {
        let mut at = self.root;
        let mut depth = 0;
        core::iter::from_fn(move || {
            if at.is_none() {
                return None;
            }
            let node = &self.nodes[at];
            let view = NodeView {
                span: node.span,
                subtree_max_size: self.settled_max(at),
                colour: node.colour,
                depth,
            };
            (at, depth) = self.next_in_preorder(at, depth);
            Some(view)
        })
    }

    fn next_in_preorder(&self, link: Link, depth: u32) -> (Link, u32) {
        let node = &self.nodes[link];
        if !node.left.is_none() {
            return (node.left, depth + 1);
        }
        if !node.right.is_none() {
            return (node.right, depth + 1);
        }
        let (mut from, mut depth) = (link, depth);
        loop {
            let parent = self.nodes[from].parent;
            if parent.is_none() {
                return (Link::NONE, 0);
            }
            let right = self.nodes[parent].right;
            if right != from && !right.is_none() {
                return (right, depth);
            }
            from = parent;
            depth -= 1;
        }
    }

    pub(super) fn ascending(&self) -> impl Iterator<Item = Span> {
        let mut at = self.leftmost(self.root);
        core::iter::from_fn(move || {
            let (_, span) = self.block(at)?;
            at = self.successor(at);
            Some(span)
        })
    }

    pub(super) fn block(&self, link: Link) -> Option<(Block, Span)> {
        if link.is_none() {
            None
        } else {
            Some((Block { link, no_fit_below: Hot::UNKNOWN }, self.nodes[link].span))
        }
    }

    pub(super) fn leftmost(&self, top: Link) -> Link {
        let mut at = top;
        while !self.nodes[at].left.is_none() {
            at = self.nodes[at].left;
        }
        at
    }

    pub(super) fn successor(&self, link: Link) -> Link {
        let right = self.nodes[link].right;
        if !right.is_none() {
            return self.leftmost(right);
        }
        let mut at = link;
        loop {
            let parent = self.nodes[at].parent;
            if parent.is_none() || self.nodes[parent].left == at {
                return parent;
            }
            at = parent;
        }
    }
}
