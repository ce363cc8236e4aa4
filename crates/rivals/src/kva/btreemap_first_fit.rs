//! What one writes with the standard library alone: free blocks in a `BTreeMap` by address, first fit.
//!
//! Finding the place to start is logarithmic, finding a block that fits is a scan.

use super::memory::btreemap_bytes;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span, Work};
use std::collections::BTreeMap;

/// First fit over a `BTreeMap`; its answers are the lowest addresses.
#[derive(Clone, Debug)]
pub struct BTreeMapFirstFit {
    /// First to last address of each free block.
    free: BTreeMap<u64, u64>,
    /// First to last address of each region.
    busy: BTreeMap<u64, u64>,
    granule: Align,
}

impl BTreeMapFirstFit {
    /// A space of the given spans.
    #[must_use]
    pub fn new(layout: &[Span], granule: Align) -> Self {
        let mut engine = Self { free: BTreeMap::new(), busy: BTreeMap::new(), granule };
        for &span in layout {
            engine.release(span);
        }
        engine
    }

    fn release(&mut self, span: Span) {
        let (mut first, mut last) = (span.first(), span.last());
        if let Some((&before, &before_last)) = self.free.range(..first).next_back()
            && before_last.checked_add(1) == Some(first)
        {
            first = before;
        }
        if let Some(after) = last.checked_add(1)
            && let Some(after_last) = self.free.remove(&after)
        {
            last = after_last;
        }
        self.free.insert(first, last);
    }

    fn find(
        &self,
        size_bytes: u64,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Option<(Span, Span)> {
        let around = self.free.range(..window.first()).next_back();
        let inside = self.free.range(window.first()..=window.last());
        for (&first, &last) in around.into_iter().chain(inside) {
            probe.count(Work::NodeVisited, 1);
            let block = Span::new(first, last)?;
            let fit = block.lowest_fit(size_bytes, align, window.first());
            if let Some(fit) = fit {
                return if window.covers(fit) { Some((block, fit)) } else { None };
            }
        }
        None
    }
}

impl Engine for BTreeMapFirstFit {
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        let (block, span) = self.find(size_bytes, align.max(self.granule), window, probe)?;
        match block.below(span) {
            Some(below) => self.free.insert(below.first(), below.last()),
            None => self.free.remove(&block.first()),
        };
        if let Some(above) = block.above(span) {
            self.free.insert(above.first(), above.last());
        }
        self.busy.insert(span.first(), span.last());
        Some(span.first())
    }

    fn free(&mut self, first: u64, _: &mut impl Probe) -> bool {
        match self.busy.remove(&first).and_then(|last| Span::new(first, last)) {
            Some(span) => {
                self.release(span);
                true
            }
            None => false,
        }
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.free.iter().filter_map(|(&first, &last)| Span::new(first, last)).for_each(visit);
    }

    fn metadata_bytes(&self) -> usize {
        btreemap_bytes(self.free.len(), 16) + btreemap_bytes(self.busy.len(), 16)
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        let mut pieces: Vec<(u64, u64)> = self.free.iter().chain(&self.busy).map(|(&f, &l)| (f, l)).collect();
        pieces.sort_unstable();
        let apart = pieces.windows(2).all(|pair| pair[0].1 < pair[1].0);
        if apart { Ok(()) } else { Err("blocks or regions overlap".to_owned()) }
    }
}
