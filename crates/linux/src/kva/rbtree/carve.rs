//! Cuts a span out of a block: the four fits.

use super::insert::LinkPoint;
use super::node::{Link, Side};
use super::{Block, Policy, RbTree};
use freehold_kva::Fit;
use freehold_units::{Probe, Span, Work};

impl<P: Policy> RbTree<P> {
    /// Cuts `span` out of `block`, which covers it. May create one block, which the caller has reserved.
    #[inline]
    pub(in crate::kva) fn carve_node(&mut self, block: Block, span: Span, probe: &mut impl Probe) -> Fit {
        let link = block.link;
        let whole = self.nodes[link].span;
        debug_assert!(whole.covers(span));
        let fit = Fit::of(whole, span);
        probe.count(fit.work(), 1);
        match (whole.below(span), whole.above(span)) {
            (None, None) => {
                self.erase(link, probe);
                self.note_carved(block, Link::NONE, whole.first());
            }
            (None, Some(rest)) | (Some(rest), None) => {
                self.resize(link, rest, probe);
                self.note_carved(block, link, rest.first());
            }
            (Some(below), Some(above)) => {
                self.resize(link, above, probe);
                let place = self.place_below(link, probe);
                let rest = self.insert_at(place, below, probe);
                self.note_carved(block, rest, below.first());
            }
        }
        fit
    }

    /// Changes the node's span, between the same neighbours.
    pub(super) fn resize(&mut self, link: Link, span: Span, probe: &mut impl Probe) {
        if P::LAZY_FIXUPS {
            return self.resize_lazily(link, span, probe);
        }
        self.nodes[link].span = span;
        self.propagate(link, Link::NONE, probe);
    }

    /// The vacant place just below `link` in address order, found from the node itself, not from the root.
    pub(super) fn place_below(&self, link: Link, probe: &mut impl Probe) -> LinkPoint {
        probe.count(Work::LinkVisited, 1);
        let mut place = LinkPoint { parent: link, side: Side::Left };
        let mut next = self.nodes[link].left;
        while !next.is_none() {
            probe.count(Work::LinkVisited, 1);
            place = LinkPoint { parent: next, side: Side::Right };
            next = self.nodes[next].right;
        }
        place
    }
}
