//! Cutting a span out of the root: the four fits.

use super::Tree;
use freehold_units::{Probe, Span, Work};

impl Tree {
    /// Takes `span` out of the root's block, which covers it.
    pub(super) fn carve_root(&mut self, span: Span, probe: &mut impl Probe) {
        let block = self.nodes[self.root].span;
        debug_assert!(block.covers(span));
        match (block.below(span), block.above(span)) {
            (None, None) => {
                probe.count(Work::FitFull, 1);
                self.remove_root(probe);
            }
            (None, Some(rest)) => {
                probe.count(Work::FitLeftEdge, 1);
                self.resize_root(rest, probe);
            }
            (Some(rest), None) => {
                probe.count(Work::FitRightEdge, 1);
                self.resize_root(rest, probe);
            }
            (Some(below), Some(above)) => {
                probe.count(Work::FitNoEdge, 1);
                self.resize_root(above, probe);
                self.add_root(below, probe);
            }
        }
    }

    /// Gives the root another span, between the same neighbours.
    pub(super) fn resize_root(&mut self, span: Span, probe: &mut impl Probe) {
        self.nodes[self.root].span = span;
        self.recompute(self.root, probe);
    }

    /// The next block takes the root's place: the next request that finds too little where this one did goes there.
    fn remove_root(&mut self, probe: &mut impl Probe) {
        let old = self.root;
        let (left, right) = (self.nodes[old].left, self.nodes[old].right);
        self.nodes.give_back(old);
        if right.is_none() {
            self.root = left;
            return;
        }
        self.root = right;
        self.path.clear();
        self.descend_to_lowest(right, probe);
        self.rise_to(0, probe);
        // It is the lowest of its tree, so what was left of the root finds its place free.
        self.nodes[self.root].left = left;
        self.recompute(self.root, probe);
    }
}
