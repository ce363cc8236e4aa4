//! Lazy fix-ups: the maxima above a block that became smaller are left until another block changes.
//!
//! ```text
//!            30/60                    30/60   still as if the pending block had 60
//!           /     \                  /     \
//!      20/20      60/60  - 25 ->  20/20   35/60  pending        then - 5, and + 10: one node changes each time
//! ```
//!
//! A run of requests served from one block, and what is given back to it meanwhile, then climbs the tree once, at its
//! end. At most one node is pending. What is stored at it is too high, and so may be what is stored above it, which
//! agrees with it; so a search that never misses what is too low to be seen may step there in vain, and no more.
//! The kernel's own search answers by which nodes it steps on, and so is told the right maxima.
//!
//! Source: the talk's wish to fix the tree only when the block is switched.

use super::node::Link;
use super::{Policy, RbTree};
use freehold_units::{Probe, Span};

impl<P: Policy> RbTree<P> {
    /// Gives the node another span, and climbs only if it now has more than is known of it.
    pub(super) fn resize_lazily(&mut self, link: Link, span: Span, probe: &mut impl Probe) {
        if self.pending != link {
            self.settle(probe);
        }
        let node = &mut self.nodes[link];
        let (before, now, known) =
            (node.span.size_saturating(), span.size_saturating(), node.subtree_max_size);
        node.span = span;
        if now > known {
            self.pending = Link::NONE;
            self.propagate(link, Link::NONE, probe);
        } else if now == known {
            self.pending = Link::NONE;
        } else if before == known {
            self.pending = link;
        }
    }

    /// Puts the maxima above the pending node right.
    #[inline]
    pub(super) fn settle(&mut self, probe: &mut impl Probe) {
        if P::LAZY_FIXUPS && !self.pending.is_none() {
            let pending = core::mem::replace(&mut self.pending, Link::NONE);
            self.propagate(pending, Link::NONE, probe);
        }
    }

    /// [`RbTree::settle`], unless it is the node that is about to go: its parent is looked at anyway.
    #[inline]
    pub(super) fn settle_before_erasing(&mut self, node: Link, probe: &mut impl Probe) {
        if self.pending == node {
            self.pending = Link::NONE;
        }
        self.settle(probe);
    }

    /// What is stored at the node, or will be once nothing is pending.
    pub(super) fn settled_max(&self, link: Link) -> u64 {
        let mut at = self.pending;
        let mut max = self.computed_max(&self.nodes[at]);
        while !at.is_none() {
            if at == link {
                return max;
            }
            let parent = self.nodes[at].parent;
            let sibling = self.nodes[parent].child(self.side_of(at, parent).other());
            max =
                max.max(self.nodes[parent].span.size_saturating()).max(self.nodes[sibling].subtree_max_size);
            at = parent;
        }
        self.nodes[link].subtree_max_size
    }
}
