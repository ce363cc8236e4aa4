//! What one writes with the standard library for best fit: free blocks in a `BTreeMap` by address and in a
//! `BTreeSet` by size.
//!
//! A request that any block of its size can serve is logarithmic; so is one for a fixed place. With an alignment or a window it is
//! a scan from the smallest block that is large enough.

use super::memory::btreemap_bytes;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span, Work};
use std::collections::{BTreeMap, BTreeSet};

/// Best fit over standard collections: the lowest address in the smallest block that has one.
#[derive(Clone, Debug)]
pub struct BTreeMapBestFit {
    /// First to last address of each free block.
    free: BTreeMap<u64, u64>,
    /// Size less one and first address of each free block.
    sizes: BTreeSet<(u64, u64)>,
    /// First to last address of each region.
    busy: BTreeMap<u64, u64>,
    granule: Align,
}

impl BTreeMapBestFit {
    /// A space of the given spans.
    #[must_use]
    pub fn new(layout: &[Span], granule: Align) -> Self {
        let mut engine =
            Self { free: BTreeMap::new(), sizes: BTreeSet::new(), busy: BTreeMap::new(), granule };
        for &span in layout {
            engine.release(span);
        }
        engine
    }

    fn add(&mut self, first: u64, last: u64) {
        self.free.insert(first, last);
        self.sizes.insert((last - first, first));
    }

    fn release(&mut self, span: Span) {
        let (mut first, mut last) = (span.first(), span.last());
        if let Some((&before, &before_last)) = self.free.range(..first).next_back()
            && before_last.checked_add(1) == Some(first)
        {
            self.sizes.remove(&(before_last - before, before));
            first = before;
        }
        if let Some(after) = last.checked_add(1)
            && let Some(after_last) = self.free.remove(&after)
        {
            self.sizes.remove(&(after_last - after, after));
            last = after_last;
        }
        self.add(first, last);
    }

    fn find(
        &self,
        size_bytes: u64,
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Option<(Span, Span)> {
        if window.size_saturating() == size_bytes {
            probe.count(Work::NodeVisited, 1);
            let (&first, &last) = self.free.range(..=window.first()).next_back()?;
            let fits = last >= window.last() && align.divides(window.first());
            return Some((Span::new(first, last)?, window)).filter(|_| fits);
        }
        self.sizes.range((size_bytes.checked_sub(1)?, 0)..).find_map(|&(size_less_one, first)| {
            probe.count(Work::NodeVisited, 1);
            let block = Span::new(first, first.checked_add(size_less_one)?)?;
            Some((block, block.intersection(window)?.lowest_fit(size_bytes, align, 0)?))
        })
    }
}

impl Engine for BTreeMapBestFit {
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        let (block, span) = self.find(size_bytes, align.max(self.granule), window, probe)?;
        self.sizes.remove(&(block.last() - block.first(), block.first()));
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
        2 * btreemap_bytes(self.free.len(), 16) + btreemap_bytes(self.busy.len(), 16)
    }

    fn free_index_bytes(&self) -> Option<usize> {
        Some(2 * btreemap_bytes(self.free.len(), 16))
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        let mut pieces: Vec<(u64, u64)> = self.free.iter().chain(&self.busy).map(|(&f, &l)| (f, l)).collect();
        pieces.sort_unstable();
        let apart = pieces.windows(2).all(|pair| matches!(pair, [(_, last), (next, _)] if last < next));
        let sizes: BTreeSet<(u64, u64)> = self.free.iter().map(|(&f, &l)| (l - f, f)).collect();
        match (apart, sizes == self.sizes) {
            (true, true) => Ok(()),
            (false, _) => Err("blocks or regions overlap".to_owned()),
            (_, false) => Err("the sizes are not those of the free blocks".to_owned()),
        }
    }
}
