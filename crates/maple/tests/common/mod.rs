//! The model that a map is held against: entries in a sorted list, every question answered by going through it.

use freehold_units::{Align, Span};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model(pub Vec<(Span, u32)>);

pub fn span(first: u64, last: u64) -> Span {
    Span::new(first.min(last), first.max(last)).unwrap()
}

impl Model {
    pub fn remove_range(&mut self, over: Span) {
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

    pub fn store(&mut self, over: Span, value: u32) {
        self.remove_range(over);
        self.0.push((over, value));
        self.0.sort();
    }

    pub fn at(&self, index: u64) -> Option<(Span, u32)> {
        self.0.iter().copied().find(|(at, _)| at.contains(index))
    }

    pub fn erase(&mut self, index: u64) -> Option<(Span, u32)> {
        let found = self.at(index)?;
        self.0.retain(|entry| *entry != found);
        Some(found)
    }

    pub fn in_the_way(&self, over: Span) -> Option<Span> {
        self.0.iter().map(|&(at, _)| at).find(|at| at.overlaps(over))
    }

    pub fn gaps(&self) -> Vec<Span> {
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

    pub fn find_gap(&self, size: u64, align: Align, window: Span, highest: bool) -> Option<Span> {
        let open = self.gaps().into_iter().filter_map(|gap| gap.intersection(window));
        if highest {
            open.filter_map(|gap| gap.highest_fit(size, align, gap.last())).last()
        } else {
            open.filter_map(|gap| gap.lowest_fit(size, align, gap.first())).next()
        }
    }
}
