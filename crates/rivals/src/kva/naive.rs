//! The brute-force model: a sorted list of free blocks, scanned from the left. Slow and plainly right.

use crate::RivalWork;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};
use std::collections::BTreeMap;

/// The lowest span of `size_bytes` aligned to `align` within `window` among `blocks`, which ascend.
pub fn lowest_fit(
    blocks: impl IntoIterator<Item = Span>,
    size_bytes: u64,
    align: Align,
    window: Span,
) -> Option<Span> {
    let fits = |block: Span| block.intersection(window)?.lowest_fit(size_bytes, align, 0);
    blocks.into_iter().find_map(fits)
}

/// Lowest address first over a plain list.
#[derive(Clone, Debug)]
pub struct Naive {
    /// Ascending, never touching.
    free: Vec<Span>,
    busy: BTreeMap<u64, Span>,
    granule: Align,
}

impl Naive {
    /// A space of the given spans.
    ///
    /// # Errors
    /// Two of them overlap.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let mut naive = Self { free: Vec::new(), busy: BTreeMap::new(), granule };
        for &span in layout {
            if naive.free.iter().any(|block| block.overlaps(span)) {
                return Err(format!("{span} overlaps another span"));
            }
            naive.add(span);
        }
        Ok(naive)
    }

    /// Adds a free span, merged with what it touches.
    fn add(&mut self, span: Span) {
        self.free.push(span);
        self.free.sort_unstable();
        let mut merged: Vec<Span> = Vec::with_capacity(self.free.len());
        for &block in &self.free {
            match merged.last_mut() {
                Some(last) if last.touches(block) => {
                    *last = Span::new(last.first(), block.last()).unwrap_or(*last);
                }
                _ => merged.push(block),
            }
        }
        self.free = merged;
    }

    /// Whether every address of `span` is free.
    #[must_use]
    pub fn is_free(&self, span: Span) -> bool {
        self.free.iter().any(|block| block.covers(span))
    }

    /// Takes a span that is free, wherever it came from; whether it was.
    pub fn take(&mut self, span: Span) -> bool {
        let Some(at) = self.free.iter().position(|block| block.covers(span)) else { return false };
        let block = self.free.remove(at);
        for rest in [block.above(span), block.below(span)].into_iter().flatten() {
            self.free.insert(at, rest);
        }
        self.busy.insert(span.first(), span);
        true
    }

    /// The lowest address for a request.
    #[must_use]
    pub fn lowest(&self, size_bytes: u64, align: Align, window: Span) -> Option<Span> {
        lowest_fit(self.free.iter().copied(), size_bytes, align.max(self.granule), window)
    }

    /// The highest address for a request.
    #[must_use]
    pub fn highest(&self, size_bytes: u64, align: Align, window: Span) -> Option<Span> {
        let align = align.max(self.granule);
        let fits = |block: &Span| block.intersection(window)?.highest_fit(size_bytes, align, u64::MAX);
        self.free.iter().rev().find_map(fits)
    }

    /// The lowest address in the smallest block that can serve a request, the lowest of those.
    #[must_use]
    pub fn best_fit(&self, size_bytes: u64, align: Align, window: Span) -> Option<Span> {
        let align = align.max(self.granule);
        let fits = |block: &Span| {
            let fit = lowest_fit([*block], size_bytes, align, window)?;
            Some((block.size_bytes(), fit))
        };
        self.free.iter().filter_map(fits).min().map(|(_, fit)| fit)
    }
}

impl Engine for Naive {
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        RivalWork::ListStepped.count(self.free.len() as u64, probe);
        let span = self.lowest(size_bytes, align, window)?;
        self.take(span);
        Some(span.first())
    }

    fn free(&mut self, first: u64, probe: &mut impl Probe) -> bool {
        RivalWork::ListStepped.count(self.free.len() as u64, probe);
        match self.busy.remove(&first) {
            Some(span) => {
                self.add(span);
                true
            }
            None => false,
        }
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.free.iter().copied().for_each(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.free.capacity() * size_of::<Span>() + super::memory::btreemap_bytes(self.busy.len(), 24)
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        let apart =
            self.free.windows(2).all(|pair| pair[0].last() < pair[1].first() && !pair[0].touches(pair[1]));
        if apart { Ok(()) } else { Err("free blocks are out of order or touch".to_owned()) }
    }
}
