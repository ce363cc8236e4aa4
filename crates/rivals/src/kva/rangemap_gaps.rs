//! `rangemap`: a set of busy ranges, and first fit over its gaps: alignment, windows and placing are the
//! adapter's. It removes exact ranges, so the adapter keeps their lengths in a table, whose cost is the
//! adapter's. Numbers are granules.

use super::memory::btreemap_bytes;
use super::regions::{Regions, gaps_between};
use super::units::Units;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span, Work};
use rangemap::RangeSet;

/// First fit over the gaps of a `RangeSet`; its answers are the lowest addresses.
#[derive(Clone, Debug)]
pub struct RangemapGaps {
    busy: RangeSet<u64>,
    regions: Regions<()>,
    units: Units,
}

impl RangemapGaps {
    /// A space of one span.
    ///
    /// # Errors
    /// There are several spans, or the span is not made of whole granules.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let (units, space) = Units::of(layout, granule)?;
        Ok(Self { busy: RangeSet::new(), regions: Regions::new(space), units })
    }

    fn last(&self, end: u64) -> u64 {
        self.units.bytes(end.saturating_sub(1)) | self.units.granule().mask()
    }

    fn find(&self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<Span> {
        let within = window.intersection(self.regions.space())?;
        let outer = self.units.down(within.first())..self.units.end(within);
        self.busy.gaps(&outer).find_map(|gap| {
            probe.count(Work::NodeVisited, 1);
            let gap = Span::new(self.units.bytes(gap.start), self.last(gap.end))?;
            gap.intersection(within)?.lowest_fit(size_bytes, align, 0)
        })
    }
}

impl Engine for RangemapGaps {
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        let span = self.find(size_bytes, align.max(self.units.granule()), window, probe)?;
        self.busy.insert(self.units.down(span.first())..self.units.end(span));
        self.regions.insert(span, ());
        Some(span.first())
    }

    fn free(&mut self, first: u64, _: &mut impl Probe) -> bool {
        let Some((span, ())) = self.regions.remove(first) else { return false };
        self.busy.remove(self.units.down(span.first())..self.units.end(span));
        true
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        let busy = self.busy.iter().map(|range| (self.units.bytes(range.start), self.last(range.end)));
        gaps_between(self.regions.space(), busy, visit);
    }

    fn metadata_bytes(&self) -> usize {
        btreemap_bytes(self.busy.iter().count(), 16)
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        self.regions.validate()
    }
}
