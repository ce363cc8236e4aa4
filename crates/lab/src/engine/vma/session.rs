//! What sessions of address spaces can do beyond running operations.

use super::{Answer, AreaMap, Kind, Op};
use super::{Footprint, Spaces};
use crate::engine::Driven;
use freehold::units::Span;
use freehold_trace::maple::Digest;

/// Address spaces at work.
pub trait Session: Driven<Op, Answer> {
    /// What they take now.
    fn footprint(&self) -> Footprint;

    /// A hash of every area of every space.
    fn digest(&self) -> u64;

    /// Shows every area of a space in ascending order.
    fn visit(&self, space: u32, see: &mut dyn FnMut(Span, &Kind));
}

impl<M: AreaMap + 'static> Session for Spaces<M> {
    fn footprint(&self) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.nodes.taken = self.taken_before;
        for (_, space) in self.spaces() {
            let (areas, nodes) = (space.areas(), space.areas().nodes().unwrap_or_default());
            footprint.spaces += 1;
            footprint.areas += areas.areas();
            footprint.areas_most = footprint.areas_most.max(areas.areas());
            footprint.nodes.in_use += nodes.in_use;
            footprint.nodes.taken += nodes.taken;
            footprint.nodes.height = footprint.nodes.height.max(nodes.height);
            footprint.bytes += areas.bytes() as u64;
        }
        footprint
    }

    fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        for (number, space) in self.spaces() {
            for (first, last, kind) in space.areas().iter() {
                [u64::from(number), first, last, kind].into_iter().for_each(|word| digest.push(word));
            }
        }
        digest.value()
    }

    fn visit(&self, space: u32, see: &mut dyn FnMut(Span, &Kind)) {
        let Some(space) = self.space(space) else { return };
        for (first, last, kind) in space.areas().iter() {
            if let Some((span, kind)) = Span::new(first, last).zip(self.kinds().get(kind)) {
                see(span, kind);
            }
        }
    }
}
