//! Giving a span back: found its place, it merges with the block before, the block after, or both.

use super::RbTree;
use super::insert::Place;
use super::node::Side;
use crate::Merge;
use crate::arena::Link;
use freehold_units::{Probe, Span, Work};

/// Where a span belongs, and its neighbours.
pub(super) struct Spot {
    pub(super) place: Place,
    pub(super) previous: Link,
    pub(super) next: Link,
}

impl RbTree {
    #[inline]
    pub(crate) fn release(&mut self, span: Span, probe: &mut impl Probe) -> Result<Merge, Span> {
        let Spot { place, previous, next } = match self.spot_before_hot(span, probe) {
            Some(spot) => spot,
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
        self.note_released(link);
        Ok(merge)
    }

    /// Descends to the vacant place for `span`; the last turns name its neighbours.
    fn locate(&self, span: Span, probe: &mut impl Probe) -> Result<Spot, Span> {
        let mut spot = Spot {
            place: Place { parent: Link::NONE, side: Side::Left },
            previous: Link::NONE,
            next: Link::NONE,
        };
        let mut at = self.root;
        while !at.is_none() {
            probe.count(Work::LinkVisited, 1);
            let node = &self.nodes[at];
            let side = if span.last() < node.span.first() {
                spot.next = at;
                Side::Left
            } else if node.span.last() < span.first() {
                spot.previous = at;
                Side::Right
            } else {
                return Err(node.span);
            };
            spot.place = Place { parent: at, side };
            at = node.child(side);
        }
        Ok(spot)
    }
}

/// The span from the start of the first to the end of the last.
fn joined(before: Option<Span>, span: Span, after: Option<Span>) -> Span {
    let first = before.unwrap_or(span).first();
    let last = after.unwrap_or(span).last();
    Span::new(first, last).unwrap_or(span)
}
