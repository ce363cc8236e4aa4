//! The model that a map is held against: entries in a sorted list, every question answered by going through it.

use freehold_units::{Align, Span};
use std::vec::Vec;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model(pub(crate) Vec<(Span, u32)>);

impl Model {
    pub(crate) fn remove_range(&mut self, over: Span) {
        let mut kept = Vec::new();
        for &(at, value) in &self.0 {
            if at.overlaps(over) {
                kept.extend(at.below(over).map(|left| (left, value)));
                kept.extend(at.above(over).map(|right| (right, value)));
            } else {
                kept.push((at, value));
            }
        }
        self.0 = kept;
    }

    pub(crate) fn store(&mut self, over: Span, value: u32) {
        self.remove_range(over);
        let place = self.0.partition_point(|(at, _)| *at < over);
        self.0.insert(place, (over, value));
    }

    /// Stores, and makes one entry of the new one and of equal ones that touch it; returns its range.
    pub(crate) fn store_merging(&mut self, over: Span, value: u32) -> Span {
        self.store(over, value);
        let equal = |at: Span, held: u32| held == value && (at.touches(over) || over.touches(at));
        let beside = self.0.iter().filter(|&&(at, held)| equal(at, held)).map(|&(at, _)| at);
        let all = beside.fold(over, Span::hull);
        self.store(all, value);
        all
    }

    pub(crate) fn at(&self, index: u64) -> Option<(Span, u32)> {
        self.0.iter().copied().find(|(at, _)| at.contains(index))
    }

    /// The entry or the whole gap at an index.
    pub(crate) fn slot(&self, index: u64) -> (Span, Option<u32>) {
        let gap = || self.gaps().into_iter().find(|gap| gap.contains(index)).map(|gap| (gap, None));
        self.at(index).map(|(at, value)| (at, Some(value))).or_else(gap).unwrap()
    }

    pub(crate) fn erase(&mut self, index: u64) -> Option<(Span, u32)> {
        let found = self.at(index)?;
        self.0.retain(|entry| *entry != found);
        Some(found)
    }

    pub(crate) fn in_the_way(&self, over: Span) -> Option<Span> {
        self.0.iter().map(|&(at, _)| at).find(|at| at.overlaps(over))
    }

    pub(crate) fn gaps(&self) -> Vec<Span> {
        let mut gaps = Vec::new();
        let mut rest = Some(Span::ALL);
        for &(at, _) in &self.0 {
            let Some(open) = rest else { break };
            gaps.extend(open.below(at));
            rest = open.above(at);
        }
        gaps.extend(rest);
        gaps
    }

    pub(crate) fn find_gap(&self, size: u64, align: Align, window: Span, highest: bool) -> Option<Span> {
        let open = self.gaps().into_iter().filter_map(|gap| gap.intersection(window));
        if highest {
            open.filter_map(|gap| gap.highest_fit(size, align, gap.last())).next_back()
        } else {
            open.filter_map(|gap| gap.lowest_fit(size, align, gap.first())).next()
        }
    }

    /// Takes the part from an index on off.
    pub(crate) fn split_at(&mut self, index: u64) -> Self {
        let upper = Span::new(index, u64::MAX).unwrap();
        let part = |&(at, value): &(Span, u32)| at.intersection(upper).map(|at| (at, value));
        let off = Self(self.0.iter().filter_map(part).collect());
        self.remove_range(upper);
        off
    }

    /// The parts of entries within a range.
    pub(crate) fn within(&self, over: Span) -> Vec<(Span, u32)> {
        self.0.iter().filter_map(|&(at, value)| at.intersection(over).map(|at| (at, value))).collect()
    }

    pub(crate) fn merge_adjacent(&mut self) {
        self.merge_in(Span::ALL);
    }

    /// Merges entries that overlap or touch a range.
    pub(crate) fn merge_in(&mut self, range: Span) {
        let near = |at: Span| at.overlaps(range) || at.touches(range) || range.touches(at);
        let mut merged: Vec<(Span, u32)> = Vec::new();
        for &(at, value) in &self.0 {
            match merged.last_mut() {
                Some((before, equal))
                    if *equal == value && before.touches(at) && near(*before) && near(at) =>
                {
                    *before = before.hull(at);
                }
                _ => merged.push((at, value)),
            }
        }
        self.0 = merged;
    }
}
