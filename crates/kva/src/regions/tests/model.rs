//! The model of a tree of regions: intervals of granules in 128 bits, with a linear scan for every question.

use std::vec::Vec;

/// `start..end` in granules.
pub(super) type Interval = (u128, u128);

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// The layout, in order; spans that touch are one.
    pub(super) spans: Vec<Interval>,
    /// Regions in order: start, end and granules of guard before the end.
    pub(super) taken: Vec<(u128, u128, u32)>,
}

impl Model {
    pub(super) fn overlaps(&self, (start, end): Interval) -> bool {
        self.spans.iter().any(|span| span.0 < end && start < span.1)
    }

    pub(super) fn add(&mut self, span: Interval) {
        self.spans.push(span);
        self.spans.sort_unstable();
        self.spans.dedup_by(|next, span| {
            let touches = span.1 == next.0;
            span.1 = if touches { next.1 } else { span.1 };
            touches
        });
    }

    pub(super) fn take(&mut self, region: (u128, u128, u32)) {
        self.taken.push(region);
        self.taken.sort_unstable();
    }

    /// The free intervals, in order.
    pub(super) fn gaps(&self) -> Vec<Interval> {
        let mut gaps = Vec::new();
        for &(first, end) in &self.spans {
            let mut start = first;
            for region in self.taken.iter().filter(|region| first <= region.0 && region.1 <= end) {
                gaps.push((start, region.0));
                start = region.1;
            }
            gaps.push((start, end));
        }
        gaps.retain(|gap| gap.0 < gap.1);
        gaps
    }

    pub(super) fn lowest(&self, size: u128, align: u128, window: Interval) -> Option<u128> {
        self.gaps().into_iter().find_map(|(start, end)| {
            let place = start.max(window.0).next_multiple_of(align);
            (place + size <= end.min(window.1)).then_some(place)
        })
    }

    pub(super) fn highest(&self, size: u128, align: u128, window: Interval) -> Option<u128> {
        self.gaps().into_iter().rev().find_map(|(start, end)| {
            let place = end.min(window.1).checked_sub(size)? / align * align;
            (place >= start.max(window.0)).then_some(place)
        })
    }
}
