//! What sessions of address spaces can do beyond running operations.

use super::{Answer, AreaMap, Kind, Op};
use super::{Footprint, Spaces};
use crate::engine::Driven;
use freehold::units::Span;

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
        Self::footprint(self)
    }

    fn digest(&self) -> u64 {
        Self::digest(self)
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
