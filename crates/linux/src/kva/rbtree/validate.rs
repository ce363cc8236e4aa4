//! Checks the tree from scratch: K1, K2, K3 and that no node is lost.

use super::node::{Colour, Link};
use super::{Node, Policy, RbTree};
use freehold_units::{Broken, check};

impl<P: Policy> RbTree<P> {
    pub(super) fn check_nodes(&self) -> Result<(), Broken> {
        check(self.nodes[Link::NONE].subtree_max_size == 0, "K3", "the sentinel's maximum is 0", 0)?;
        check(self.nodes[Link::NONE].colour == Colour::Black, "K2", "the sentinel is black", 0)?;
        let root = &self.nodes[self.root];
        check(root.colour == Colour::Black, "K2", "the root is black", root.span.first())?;
        let black_height = self.black_height_of_leftmost();
        let (mut at, mut count) = (self.leftmost_checked()?, 0usize);
        let mut previous: Option<&Node> = None;
        while let Some((_, span)) = self.block(at) {
            let node = &self.nodes[at];
            self.check_node(at, black_height)?;
            if let Some(previous) = previous {
                let apart =
                    previous.span.last() < span.first() && !(P::FREE_BLOCKS && previous.span.touches(span));
                check(apart, "K1", "blocks ascend and never touch", span.first())?;
            }
            previous = Some(node);
            count += 1;
            check(count <= self.nodes.in_use(), "K7", "the tree has no cycle", span.first())?;
            at = self.successor(at);
        }
        check(count == self.nodes.in_use(), "K7", "every node in use is in the tree", 0)?;
        self.check_hot()
    }

    fn leftmost_checked(&self) -> Result<Link, Broken> {
        let root = &self.nodes[self.root];
        check(
            self.root.is_none() || root.parent.is_none(),
            "K2",
            "the root has no parent",
            root.span.first(),
        )?;
        Ok(self.leftmost(self.root))
    }

    fn check_node(&self, link: Link, black_height: u32) -> Result<(), Broken> {
        let node = &self.nodes[link];
        let address = node.span.first();
        for child in [node.left, node.right] {
            let below = &self.nodes[child];
            check(child.is_none() || below.parent == link, "K2", "a child knows its parent", address)?;
            let reds = node.colour == Colour::Red && below.colour == Colour::Red;
            check(!reds, "K2", "a red node's children are black", address)?;
            if child.is_none() {
                let height = self.black_height_above(link);
                check(height == black_height, "K2", "every path has as many black nodes", address)?;
            }
        }
        if !P::FREE_BLOCKS {
            return Ok(());
        }
        let largest = self.computed_max(node);
        let right = if link == self.pending {
            node.subtree_max_size >= largest
        } else {
            node.subtree_max_size == largest
        };
        check(right, "K3", "subtree_max_size is the largest block of the subtree, or pending", address)
    }

    fn black_height_of_leftmost(&self) -> u32 {
        self.black_height_above(self.leftmost(self.root))
    }

    /// The number of black nodes from `link`, included, to the root.
    fn black_height_above(&self, link: Link) -> u32 {
        let (mut at, mut height) = (link, 0);
        while !at.is_none() {
            height += u32::from(self.nodes[at].colour == Colour::Black);
            at = self.nodes[at].parent;
        }
        height
    }
}
