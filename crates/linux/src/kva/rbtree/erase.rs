//! Removes a block, and rotates the tree back into balance.

use super::node::{Colour, Link, Side};
use super::{Policy, RbTree};
use freehold_units::Probe;

/// A place that may lack a black node: the child of `parent` on `side`.
struct Deficit {
    parent: Link,
    side: Side,
}

impl<P: Policy> RbTree<P> {
    /// Removes the node. Maxima are fixed before the tree is rebalanced, so that rotations move correct ones.
    pub(super) fn erase(&mut self, node: Link, probe: &mut impl Probe) {
        self.settle_before_erasing(node, probe);
        let (left, right) = (self.nodes[node].left, self.nodes[node].right);
        let (lost, deficit, orphan) = if left.is_none() || right.is_none() {
            self.unlink_with_one_child(node, if left.is_none() { right } else { left }, probe)
        } else {
            self.unlink_with_two_children(node, probe)
        };
        if lost == Colour::Black {
            if self.nodes[orphan].colour == Colour::Red {
                self.nodes[orphan].colour = Colour::Black;
            } else if !deficit.parent.is_none() {
                self.rebalance_after_erase(deficit, probe);
            }
        }
        self.nodes.give_back(node);
    }

    /// Returns the colour lost at the unlinked place, the place, and the child that moved into it.
    fn unlink_with_one_child(
        &mut self,
        node: Link,
        child: Link,
        probe: &mut impl Probe,
    ) -> (Colour, Deficit, Link) {
        let parent = self.nodes[node].parent;
        let side = if parent.is_none() { Side::Left } else { self.side_of(node, parent) };
        self.replace_child(node, child);
        self.propagate(parent, Link::NONE, probe);
        (self.nodes[node].colour, Deficit { parent, side }, child)
    }

    /// The in-order successor moves into the node's place, so the lost place is the successor's.
    fn unlink_with_two_children(&mut self, node: Link, probe: &mut impl Probe) -> (Colour, Deficit, Link) {
        let (left, right) = (self.nodes[node].left, self.nodes[node].right);
        let successor = self.leftmost(right);
        let orphan = self.nodes[successor].right;
        let deficit = if successor == right {
            Deficit { parent: successor, side: Side::Right }
        } else {
            let parent = self.nodes[successor].parent;
            self.replace_child(successor, orphan);
            self.nodes[successor].right = right;
            self.nodes[right].parent = successor;
            Deficit { parent, side: Side::Left }
        };
        self.nodes[successor].left = left;
        self.nodes[left].parent = successor;
        self.replace_child(node, successor);
        let lost = self.nodes[successor].colour;
        self.nodes[successor].colour = self.nodes[node].colour;
        self.nodes[successor].subtree_max_size = self.nodes[node].subtree_max_size;
        self.propagate(deficit.parent, successor, probe);
        self.propagate(successor, Link::NONE, probe);
        (lost, deficit, orphan)
    }

    fn rebalance_after_erase(&mut self, deficit: Deficit, probe: &mut impl Probe) {
        let Deficit { mut parent, mut side } = deficit;
        loop {
            let mut sibling = self.nodes[parent].child(side.other());
            if self.nodes[sibling].colour == Colour::Red {
                self.nodes[sibling].colour = Colour::Black;
                self.nodes[parent].colour = Colour::Red;
                self.rotate(parent, side, probe);
                sibling = self.nodes[parent].child(side.other());
            }
            let near = self.nodes[sibling].child(side);
            let far = self.nodes[sibling].child(side.other());
            if self.nodes[near].colour == Colour::Red || self.nodes[far].colour == Colour::Red {
                self.borrow_black(parent, side, sibling, probe);
                return;
            }
            self.nodes[sibling].colour = Colour::Red;
            if self.nodes[parent].colour == Colour::Red || parent == self.root {
                self.nodes[parent].colour = Colour::Black;
                return;
            }
            let grand = self.nodes[parent].parent;
            side = self.side_of(parent, grand);
            parent = grand;
        }
    }

    /// The sibling has a red child: one or two rotations bring a black node over.
    fn borrow_black(&mut self, parent: Link, side: Side, sibling: Link, probe: &mut impl Probe) {
        let mut sibling = sibling;
        let far = self.nodes[sibling].child(side.other());
        if self.nodes[far].colour == Colour::Black {
            let near = self.nodes[sibling].child(side);
            self.nodes[near].colour = Colour::Black;
            self.nodes[sibling].colour = Colour::Red;
            self.rotate(sibling, side.other(), probe);
            sibling = near;
        }
        let far = self.nodes[sibling].child(side.other());
        self.nodes[sibling].colour = self.nodes[parent].colour;
        self.nodes[parent].colour = Colour::Black;
        self.nodes[far].colour = Colour::Black;
        self.rotate(parent, side, probe);
    }
}
