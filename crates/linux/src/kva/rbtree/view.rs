//! Read access to the tree: blocks in address order, nodes in preorder, neighbours.

use super::hot::Hot;
use super::node::Link;
use super::{Block, NodeView, Policy, RbTree};
use core::iter::FusedIterator;
use freehold_units::Span;

impl<P: Policy> RbTree<P> {
    /// All nodes, parents before children, left before right, which shows the tree's shape. Cost: linear, and memory
    /// for the tree's height.
    pub fn preorder(&self) -> impl FusedIterator<Item = NodeView> {
        let mut to_visit = alloc::vec![(self.root, 0)];
        core::iter::from_fn(move || {
            loop {
                let (link, depth) = to_visit.pop()?;
                if link.is_none() {
                    continue;
                }
                let node = &self.nodes[link];
                to_visit.extend([(node.right, depth + 1), (node.left, depth + 1)]);
                let (span, colour) = (node.span, node.colour);
                return Some(NodeView { span, subtree_max_size: self.settled_max(link), colour, depth });
            }
        })
        .fuse()
    }

    pub(super) fn ascending(&self) -> impl FusedIterator<Item = Span> {
        self.links().map(|link| self.nodes[link].span)
    }

    /// All nodes in address order.
    pub(super) fn links(&self) -> impl FusedIterator<Item = Link> {
        let first = Some(self.leftmost(self.root)).filter(|link| !link.is_none());
        core::iter::successors(first, |&link| Some(self.successor(link)).filter(|link| !link.is_none()))
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
