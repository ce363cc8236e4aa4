//! `range-alloc`: free ranges in a vector, best fit by looking at all of them. It frees exact ranges, so the
//! adapter keeps their lengths in a table, whose cost is the adapter's. Numbers are granules.

use super::regions::{Regions, gaps_between};
use super::units::Units;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};
use range_alloc::RangeAllocator;

/// Ranges from the `range-alloc` crate.
#[derive(Debug)]
pub struct RangeAlloc {
    peer: RangeAllocator<u64>,
    regions: Regions<()>,
    units: Units,
}

impl RangeAlloc {
    /// A space of one span.
    ///
    /// # Errors
    /// There are several spans, or the span is not made of whole granules.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let (units, space) = Units::of(layout, granule)?;
        let peer = RangeAllocator::new(units.down(space.first())..units.end(space));
        Ok(Self { peer, regions: Regions::new(space), units })
    }
}

impl Engine for RangeAlloc {
    /// No windows, and no alignment that passes the last number when added to an address.
    fn supports(&self, _: u64, align: Align, window: Span) -> bool {
        let space = self.regions.space();
        let fits = self.units.end(space).checked_add(self.units.align(align)).is_some();
        window.covers(space) && fits
    }

    fn alloc(&mut self, size_bytes: u64, align: Align, _: Span, _: &mut impl Probe) -> Option<u64> {
        let (size, align) = (self.units.down(size_bytes), self.units.align(align));
        let range = if align == 1 {
            self.peer.allocate_range(size)
        } else {
            self.peer.allocate_range_aligned(size, align)
        };
        let first = self.units.bytes(range.ok()?.start);
        self.regions.insert(Span::from_size(first, size_bytes)?, ());
        Some(first)
    }

    fn free(&mut self, first: u64, _: &mut impl Probe) -> bool {
        let Some((span, ())) = self.regions.remove(first) else { return false };
        self.peer.free_range(self.units.down(span.first())..self.units.end(span));
        true
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        let last = |end: u64| self.units.bytes(end.saturating_sub(1)) | self.units.granule().mask();
        let busy = self.peer.allocated_ranges().map(|range| (self.units.bytes(range.start), last(range.end)));
        gaps_between(self.regions.space(), busy, visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.regions.count_gaps() * size_of::<std::ops::Range<u64>>()
    }

    fn validate(&self) -> Result<(), String> {
        self.regions.validate()
    }
}
