//! What one writes with the standard library alone: free blocks in a `BTreeMap` by address, and for best fit in a
//! `BTreeSet` by size as well.
//!
//! First fit finds where to start in logarithmic time, and from there scans for a block that fits. Best fit takes
//! logarithmic time for a request that any block of its size can serve, and for one at a fixed place; with an
//! alignment or a window it scans from the smallest block that is large enough.

use super::memory::btreemap_bytes;
use super::regions::check_apart;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span, Work};
use std::collections::{BTreeMap, BTreeSet};

/// A space over standard collections.
#[derive(Clone, Debug)]
pub struct BTreeMapSpace {
    /// First to last address of each free block.
    free: BTreeMap<u64, u64>,
    /// Size less one and first address of each free block; best fit alone.
    sizes: Option<BTreeSet<(u64, u64)>>,
    /// First to last address of each region.
    busy: BTreeMap<u64, u64>,
    granule: Align,
}

impl BTreeMapSpace {
    /// A space of the given spans that takes the lowest address.
    #[must_use]
    pub fn first_fit(layout: &[Span], granule: Align) -> Self {
        Self::new(layout, granule, None)
    }

    /// A space of the given spans that takes the lowest address in the smallest block that has one.
    #[must_use]
    pub fn best_fit(layout: &[Span], granule: Align) -> Self {
        Self::new(layout, granule, Some(BTreeSet::new()))
    }

    fn new(layout: &[Span], granule: Align, sizes: Option<BTreeSet<(u64, u64)>>) -> Self {
        let mut engine = Self { free: BTreeMap::new(), sizes, busy: BTreeMap::new(), granule };
        for &span in layout {
            engine.release(span);
        }
        engine
    }

    fn add(&mut self, first: u64, last: u64) {
        self.free.insert(first, last);
        if let Some(sizes) = &mut self.sizes {
            sizes.insert((last - first, first));
        }
    }

    /// Forgets the size of a block that goes or becomes another.
    fn forget_size(&mut self, first: u64, last: u64) {
        if let Some(sizes) = &mut self.sizes {
            sizes.remove(&(last - first, first));
        }
    }

    fn release(&mut self, span: Span) {
        let (mut first, mut last) = (span.first(), span.last());
        if let Some((&before, &before_last)) = self.free.range(..first).next_back()
            && before_last.checked_add(1) == Some(first)
        {
            self.forget_size(before, before_last);
            first = before;
        }
        if let Some(after) = last.checked_add(1)
            && let Some(after_last) = self.free.remove(&after)
        {
            self.forget_size(after, after_last);
            last = after_last;
        }
        self.add(first, last);
    }

    /// A block, and the span of it for the request.
    fn find(
        &self,
        size_bytes: u64,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Option<(Span, Span)> {
        match &self.sizes {
            None => self.find_lowest(size_bytes, align, window, probe),
            Some(_) if window.size_saturating() == size_bytes => self.find_at(align, window, probe),
            Some(sizes) => sizes.range((size_bytes.checked_sub(1)?, 0)..).find_map(|&(less_one, first)| {
                probe.count(Work::NodeVisited, 1);
                let block = Span::new(first, first.checked_add(less_one)?)?;
                Some((block, block.intersection(window)?.lowest_fit(size_bytes, align, 0)?))
            }),
        }
    }

    fn find_lowest(
        &self,
        size_bytes: u64,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Option<(Span, Span)> {
        let around = self.free.range(..window.first()).next_back();
        let inside = self.free.range(window.first()..=window.last());
        let found = around.into_iter().chain(inside).find_map(|(&first, &last)| {
            probe.count(Work::NodeVisited, 1);
            let block = Span::new(first, last)?;
            Some((block, block.lowest_fit(size_bytes, align, window.first())?))
        });
        // Blocks come in address order: if the first that fits passes the window's end, so does every other.
        found.filter(|(_, fit)| window.covers(*fit))
    }

    fn find_at(&self, align: Align, place: Span, probe: &mut impl Probe) -> Option<(Span, Span)> {
        probe.count(Work::NodeVisited, 1);
        let (&first, &last) = self.free.range(..=place.first()).next_back()?;
        let fits = last >= place.last() && align.divides(place.first());
        Some((Span::new(first, last)?, place)).filter(|_| fits)
    }
}

impl Engine for BTreeMapSpace {
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        let (block, span) = self.find(size_bytes, align.max(self.granule), window, probe)?;
        self.forget_size(block.first(), block.last());
        match block.below(span) {
            Some(below) => self.add(below.first(), below.last()),
            None => drop(self.free.remove(&block.first())),
        }
        if let Some(above) = block.above(span) {
            self.add(above.first(), above.last());
        }
        self.busy.insert(span.first(), span.last());
        Some(span.first())
    }

    fn free(&mut self, first: u64, _: &mut impl Probe) -> bool {
        let span = self.busy.remove(&first).and_then(|last| Span::new(first, last));
        span.is_some_and(|span| {
            self.release(span);
            true
        })
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.free.iter().filter_map(|(&first, &last)| Span::new(first, last)).for_each(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.free_index_bytes().unwrap_or(0) + btreemap_bytes(self.busy.len(), 16)
    }

    fn free_index_bytes(&self) -> Option<usize> {
        let orders = 1 + usize::from(self.sizes.is_some());
        Some(orders * btreemap_bytes(self.free.len(), 16))
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        let right = || self.free.iter().map(|(&first, &last)| (last - first, first)).collect();
        if self.sizes.as_ref().is_some_and(|sizes| *sizes != right()) {
            return Err("the sizes are not those of the free blocks".to_owned());
        }
        check_apart(self.free.iter().chain(&self.busy).map(|(&first, &last)| (first, last)))
    }
}
