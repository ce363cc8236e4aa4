//! Frees a span, merging it with either or both neighbours.

use super::insert::LinkPoint;
use super::node::{Link, Side};
use super::{Policy, RbTree};
use freehold_kva::Merge;
use freehold_units::{Probe, Span, Work};

/// The insert point of a span, and its neighbours.
pub(super) struct InsertPoint {
    pub(super) place: LinkPoint,
    pub(super) previous: Link,
    pub(super) next: Link,
}

impl<P: Policy> RbTree<P> {
    #[inline]
    pub(in crate::kva) fn release_span(&mut self, span: Span, probe: &mut impl Probe) -> Result<Merge, Span> {
        let InsertPoint { place, previous, next } =
            match self.insert_point_before_hot(span, probe).filter(|_| P::HOT_BLOCK) {
                Some(point) => point,
                None => self.locate(span, probe)?,
            };
        let before = self.block(previous).map(|(_, block)| block).filter(|block| block.touches(span));
        let after = self.block(next).map(|(_, block)| block).filter(|&block| span.touches(block));
        let merge = Merge::of(before.is_some(), after.is_some());
        probe.count(merge.work(), 1);
        let merged = joined(before, span, after);
        let link = match merge {
            Merge::None => self.insert_at(place, span, probe),
            Merge::Previous => previous,
            Merge::Next => next,
            Merge::Both => {
                self.erase(next, probe);
                previous
            }
        };
        if merge != Merge::None {
            self.resize(link, merged, probe);
        }
        self.lowest = self.lowest.min(span.first());
        self.note_released(link);
        Ok(merge)
    }

    /// Descends to the vacant place for `span`; the last turns give its neighbours.
    pub(super) fn locate(&self, span: Span, probe: &mut impl Probe) -> Result<InsertPoint, Span> {
        let mut point = InsertPoint {
            place: LinkPoint { parent: Link::NONE, side: Side::Left },
            previous: Link::NONE,
            next: Link::NONE,
        };
        let mut at = self.root;
        while !at.is_none() {
            probe.count(Work::LinkVisited, 1);
            let node = &self.nodes[at];
            let side = if span.last() < node.span.first() {
                point.next = at;
                Side::Left
            } else if node.span.last() < span.first() {
                point.previous = at;
                Side::Right
            } else {
                return Err(node.span);
            };
            point.place = LinkPoint { parent: at, side };
            at = node.child(side);
        }
        Ok(point)
    }
}

/// The span from the start of the first to the end of the last.
fn joined(before: Option<Span>, span: Span, after: Option<Span>) -> Span {
    [before, after].into_iter().flatten().fold(span, Span::hull)
}
