//! The place of a zone in the mapping, and the numbering of its space.
//!
//! ```text
//!   lent       | .. | ........ range ........ | .. |     blocks: a position is an address
//!   positions       0      1      2      3               a pool: the number of a slot
//! ```

use super::Shape;
use crate::builder::Advice;
use crate::mapping::Mapping;
use freehold_units::Span;
use std::ops::Range;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    /// The position of the first byte of `range`.
    first: u64,
    /// Bytes per position: one, or the stride of a pool.
    unit_bytes: u64,
    /// The bytes of the mapping that have positions.
    pub(crate) range: Range<usize>,
    /// All bytes that belong to the zone, including those before and after the slots of a pool.
    pub(crate) lent: Range<usize>,
    /// The advice that the system accepted for these.
    pub(crate) advice: Advice,
}

impl Place {
    /// All of the mapping, for blocks.
    pub(super) fn of_blocks(mapping: &Mapping) -> Self {
        let (name, all) = ("freehold blocks".to_owned(), 0..mapping.len());
        let (first, advice) = (mapping.address(0), mapping.advice);
        Self { name, first, unit_bytes: 1, range: all.clone(), lent: all, advice }
    }

    /// A range of whole slots, within bytes that were lent to a pool.
    pub(crate) fn of_slots(
        name: &str,
        lent: Range<usize>,
        range: Range<usize>,
        shape: &Shape,
        advice: Advice,
    ) -> Self {
        Self { name: name.to_owned(), first: 0, unit_bytes: shape.stride, range, lent, advice }
    }

    /// All positions; `None` if there are none.
    pub(super) fn positions(&self) -> Option<Span> {
        Span::from_size(self.first, self.range.len() as u64 / self.unit_bytes)
    }

    /// The bytes lent before and after the range, if there are any.
    pub(crate) fn edges(&self) -> impl Iterator<Item = Range<usize>> {
        let edges = [self.lent.start..self.range.start, self.range.end..self.lent.end];
        edges.into_iter().filter(|edge| !edge.is_empty())
    }

    /// The bytes of `positions` positions.
    pub(crate) fn bytes(&self, positions: u64) -> u64 {
        positions * self.unit_bytes
    }

    /// The bytes of the mapping at a position.
    #[inline]
    pub(crate) fn offset(&self, position: u64) -> usize {
        self.range.start + self.bytes(position - self.first) as usize
    }

    /// The offsets of some positions in the mapping.
    pub(crate) fn offsets(&self, span: Span) -> Range<usize> {
        let start = self.offset(span.first());
        start..start + self.bytes(span.size_saturating()) as usize
    }

    /// The position of an offset of the mapping; `None` if it is not in the zone.
    pub(crate) fn position(&self, offset: usize) -> Option<u64> {
        let is_here = self.range.contains(&offset);
        is_here.then(|| self.first + (offset - self.range.start) as u64 / self.unit_bytes)
    }
}
