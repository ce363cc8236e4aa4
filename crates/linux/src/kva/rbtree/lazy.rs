//! Lazy fix-ups: the maxima above a block that became smaller stay too high until another block changes.
//!
//! ```text
//!            30/60                    30/60   still as if the pending block had 60
//!           /     \                  /     \
//!      20/20      60/60  - 25 ->  20/20   35/60  pending        then - 5, and + 10: one node changes each time
//! ```
//!
//! A run of allocations from one block, and of frees into it, then climbs the tree once, at its end. At most one node
//! is pending. Its stored maximum is too high, and the maxima above it are consistent with that one. So an exact search
//! may visit it fruitlessly, but never misses a block. The answer of the kernel's own search depends on the nodes that
//! it visits, so it gets the correct maxima.
//!
//! Source: the talk's wish to fix the tree only when the block is switched.

use super::node::Link;
use super::{Policy, RbTree};
use freehold_units::{Probe, Span};

impl<P: Policy> RbTree<P> {
    /// Changes the node's span, and climbs only if the span is now larger than the node's stored maximum.
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

    /// Fixes the maxima from the pending node upwards.
    #[inline]
    pub(super) fn settle(&mut self, probe: &mut impl Probe) {
        if P::LAZY_FIXUPS && !self.pending.is_none() {
            let pending = core::mem::replace(&mut self.pending, Link::NONE);
            self.propagate(pending, Link::NONE, probe);
        }
    }

    /// [`RbTree::settle`], unless the pending node is about to be removed: the removal fixes its ancestors anyway.
    #[inline]
    pub(super) fn settle_before_erasing(&mut self, node: Link, probe: &mut impl Probe) {
        if self.pending == node {
            self.pending = Link::NONE;
        }
        self.settle(probe);
    }

    /// The node's maximum once no node is pending.
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
