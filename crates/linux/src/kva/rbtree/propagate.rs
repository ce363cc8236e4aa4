//! Propagates `subtree_max_size` upwards, and stops at the first node that is already correct (K3).

use super::node::Link;
use super::{Node, Policy, RbTree};
use freehold_units::{Probe, Work};

impl<P: Policy> RbTree<P> {
    /// The correct maximum of a node, given its children's.
    #[inline]
    pub(super) fn computed_max(&self, node: &Node) -> u64 {
        let below = self.nodes[node.left].subtree_max_size.max(self.nodes[node.right].subtree_max_size);
        node.span.size_saturating().max(below)
    }

    /// Recomputes maxima from `from` towards the root, up to the first that does not change, not including
    /// `until` ([`Link::NONE`]: the root is included).
    #[inline]
    pub(super) fn propagate(&mut self, from: Link, until: Link, probe: &mut impl Probe) {
        if !P::FREE_BLOCKS {
            return;
        }
        let mut at = from;
        while at != until {
            probe.count(Work::MaxRecomputed, 1);
            let node = &self.nodes[at];
            let max = self.computed_max(node);
            let node = &mut self.nodes[at];
            if node.subtree_max_size == max {
                break;
            }
            node.subtree_max_size = max;
            at = node.parent;
        }
    }
}
