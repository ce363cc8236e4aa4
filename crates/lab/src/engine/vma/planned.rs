//! Our range tree, every store planned first, and what each planner asks for noted.

use crate::engine::maple::no_memory;
use crate::workload::vma::{AreaMap, Nodes};
use freehold::maple::{Facts, RangeMap};
use freehold::units::{Align, Span};
use freehold_trace::maple::{End, Ranges};

/// A range tree that stores by plans.
#[derive(Debug, Default)]
pub struct PlannedRanges {
    map: RangeMap<u64>,
    /// Plans that were committed since somebody looked.
    committed: Vec<Facts>,
}

impl PlannedRanges {
    /// The tree.
    #[must_use]
    pub fn map(&self) -> &RangeMap<u64> {
        &self.map
    }

    /// The plan that was committed last, if that was after the last question.
    pub fn last_committed(&mut self) -> Option<Facts> {
        let last = self.committed.pop();
        self.committed.clear();
        last
    }

    /// Plans that were committed since this was asked last.
    pub fn take_committed(&mut self) -> Vec<Facts> {
        std::mem::take(&mut self.committed)
    }

    /// What a store, or without a value a removal, would take; nothing is stored.
    pub fn plan(&mut self, span: Span, stores: bool) -> Facts {
        let facts = if stores {
            self.map.plan_store(span).map(|plan| *plan.facts())
        } else {
            self.map.plan_removal(span).map(|plan| *plan.facts())
        };
        facts.unwrap_or_else(|_| no_memory())
    }
}

impl Ranges for PlannedRanges {
    const GAP_IS_LINEAR: bool = false;

    fn new() -> Self {
        Self::default()
    }

    fn store(&mut self, span: Span, value: u64) {
        let plan = self.map.plan_store(span).unwrap_or_else(|_| no_memory());
        self.committed.push(*plan.facts());
        plan.commit(value);
    }

    fn clear(&mut self, span: Span) {
        let plan = self.map.plan_removal(span).unwrap_or_else(|_| no_memory());
        self.committed.push(*plan.facts());
        plan.commit();
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        let free = self.map.range(span.first()..=span.last()).next().is_none();
        if free {
            self.store(span, value);
        }
        free
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        self.map.erase(index).map(|(_, value)| value)
    }

    fn get(&self, index: u64) -> Option<u64> {
        self.map.get(index)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.map.iter().map(|(span, value)| (span.first(), span.last(), value))
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        crate::engine::maple::gap(&self.map, end, size, align, window)
    }

    fn duplicate(&self) -> Self {
        let map = self.map.try_clone().unwrap_or_else(|_| no_memory());
        Self { map, committed: Vec::new() }
    }

    fn bytes(&self) -> usize {
        self.map.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.map.validate().map_err(|broken| broken.to_string())
    }
}

impl AreaMap for PlannedRanges {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let range = self.map.range(span.first()..=span.last());
        range.map(|(area, kind)| (area.first(), area.last(), kind))
    }

    fn areas(&self) -> u64 {
        self.map.len()
    }

    fn nodes(&self) -> Option<Nodes> {
        Some(super::maps::nodes_of(&self.map))
    }
}
