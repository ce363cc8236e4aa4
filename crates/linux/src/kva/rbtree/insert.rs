//! Inserts a block at a known place, and rotates the tree back into balance.

use super::node::{Colour, Link, Node, Side};
use super::{Policy, RbTree};
use freehold_units::{Probe, Span, Work};

/// A vacant place of the tree, and the nodes that enclose it in address order.
#[derive(Clone, Copy)]
pub(super) struct LinkPoint {
    pub(super) parent: Link,
    pub(super) side: Side,
}

impl<P: Policy> RbTree<P> {
    /// Adds a node for `span` at `place`. The caller has reserved it.
    pub(super) fn insert_at(&mut self, place: LinkPoint, span: Span, probe: &mut impl Probe) -> Link {
        self.settle(probe);
        let link = self.nodes.take();
        self.nodes[link] = Node { span, parent: place.parent, colour: Colour::Red, ..Node::SENTINEL };
        if place.parent.is_none() {
            self.root = link;
        } else {
            self.nodes[place.parent].set_child(place.side, link);
        }
        self.rebalance_after_insert(link, probe);
        // A rotation may have given the new node a maximum. 0 is never correct, so the walk up that updates its
        // ancestors is sure to start.
        self.nodes[link].subtree_max_size = 0;
        self.propagate(link, Link::NONE, probe);
        link
    }

    fn rebalance_after_insert(&mut self, inserted: Link, probe: &mut impl Probe) {
        let mut node = inserted;
        loop {
            let mut parent = self.nodes[node].parent;
            if self.nodes[parent].colour == Colour::Black {
                break;
            }
            // A red node is not the root, so there is a grandparent.
            let grand = self.nodes[parent].parent;
            let side = self.side_of(parent, grand);
            let uncle = self.nodes[grand].child(side.other());
            if self.nodes[uncle].colour == Colour::Red {
                self.nodes[parent].colour = Colour::Black;
                self.nodes[uncle].colour = Colour::Black;
                self.nodes[grand].colour = Colour::Red;
                node = grand;
                continue;
            }
            if self.side_of(node, parent) != side {
                self.rotate(parent, side, probe);
                parent = node;
            }
            self.nodes[parent].colour = Colour::Black;
            self.nodes[grand].colour = Colour::Red;
            self.rotate(grand, side.other(), probe);
            break;
        }
        let root = self.root;
        self.nodes[root].colour = Colour::Black;
    }

    pub(super) fn side_of(&self, child: Link, parent: Link) -> Side {
        if self.nodes[parent].left == child { Side::Left } else { Side::Right }
    }

    /// Replaces `old` by `new` under `old`'s parent.
    pub(super) fn replace_child(&mut self, old: Link, new: Link) {
        let parent = self.nodes[old].parent;
        if parent.is_none() {
            self.root = new;
        } else {
            let side = self.side_of(old, parent);
            self.nodes[parent].set_child(side, new);
        }
        if !new.is_none() {
            self.nodes[new].parent = parent;
        }
    }

    /// Moves `down` to the given side of its child on the other side, which takes its place.
    ///
    /// The subtree holds the same blocks after as before, so the new top takes the old top's maximum as it is,
    /// and only the old top's is recomputed.
    pub(super) fn rotate(&mut self, down: Link, side: Side, probe: &mut impl Probe) {
        probe.count(Work::Rotated, 1);
        let up = self.nodes[down].child(side.other());
        let across = self.nodes[up].child(side);
        self.replace_child(down, up);
        self.nodes[down].set_child(side.other(), across);
        if !across.is_none() {
            self.nodes[across].parent = down;
        }
        self.nodes[up].set_child(side, down);
        self.nodes[down].parent = up;
        if P::FREE_BLOCKS {
            self.nodes[up].subtree_max_size = self.nodes[down].subtree_max_size;
            self.nodes[down].subtree_max_size = self.computed_max(&self.nodes[down]);
        }
    }
}
