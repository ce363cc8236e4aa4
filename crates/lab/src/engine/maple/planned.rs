//! Our range tree, every store planned first, and what each planner asks for noted, or indeed asked for.

use super::{AreaMap, Nodes};
use crate::engine::maple::{WordMapRanges, no_memory};
use freehold::maple::WordMap;
use freehold::maple::linux::{Facts, Planner};
use freehold::units::{Align, Span};
use freehold_trace::maple::{End, Ranges};
use std::hint::black_box;

/// What is done about a plan.
pub trait Ask: Default {
    /// Before it is committed.
    fn planned(&mut self, facts: &Facts);

    /// When it is.
    fn committed(&mut self);
}

/// Notes plans that are committed, until somebody looks.
#[derive(Debug, Default)]
pub struct Note(Vec<Facts>);

impl Ask for Note {
    fn planned(&mut self, facts: &Facts) {
        self.0.push(*facts);
    }

    fn committed(&mut self) {}
}

/// Asks for as many nodes as the planner of that place in [`Planner::ALL`] does: those that the store does not take
/// come from the allocator as well, and go back when it is done.
#[derive(Debug, Default)]
pub struct AskAs<const PLANNER: usize> {
    spare: Vec<Vec<u64>>,
}

/// A node's size in words.
const NODE_WORDS: usize = 32;

impl<const PLANNER: usize> Ask for AskAs<PLANNER> {
    fn planned(&mut self, facts: &Facts) {
        let planner = Planner::ALL.get(PLANNER).copied().unwrap_or(Planner::Exact);
        let spare = facts.requested(planner).saturating_sub(facts.nodes);
        self.spare.extend((0..spare).map(|_| black_box(Vec::with_capacity(NODE_WORDS))));
    }

    fn committed(&mut self) {
        self.spare.clear();
    }
}

/// A range tree that stores by plans.
#[derive(Debug, Default)]
pub struct PlannedRanges<A: Ask = Note> {
    ranges: WordMapRanges,
    ask: A,
}

impl PlannedRanges {
    /// The tree.
    pub fn map(&self) -> &WordMap<u64> {
        &self.ranges.map
    }

    /// The plan that was committed last, if that was after the last question.
    pub fn last_committed(&mut self) -> Option<Facts> {
        let last = self.ask.0.pop();
        self.ask.0.clear();
        last
    }

    /// Plans that were committed since this was asked last.
    pub fn take_committed(&mut self) -> Vec<Facts> {
        std::mem::take(&mut self.ask.0)
    }

    /// What a store, or without a value a removal, would take; nothing is stored.
    pub fn plan(&mut self, span: Span, stores: bool) -> Facts {
        let facts = if stores {
            self.ranges.map.plan_store(span).map(|plan| Facts::of_store(&plan))
        } else {
            self.ranges.map.plan_removal(span).map(|plan| Facts::of_removal(&plan))
        };
        facts.unwrap_or_else(|_| no_memory())
    }
}

impl<A: Ask> Ranges for PlannedRanges<A> {
    const GAP_IS_LINEAR: bool = false;

    fn new() -> Self {
        Self::default()
    }

    fn store(&mut self, span: Span, value: u64) {
        let plan = self.ranges.map.plan_store(span).unwrap_or_else(|_| no_memory());
        self.ask.planned(&Facts::of_store(&plan));
        plan.commit(value);
        self.ask.committed();
    }

    fn clear(&mut self, span: Span) {
        let plan = self.ranges.map.plan_removal(span).unwrap_or_else(|_| no_memory());
        self.ask.planned(&Facts::of_removal(&plan));
        plan.commit();
        self.ask.committed();
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        let free = self.ranges.map.range(span.first()..=span.last()).next().is_none();
        if free {
            self.store(span, value);
        }
        free
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        self.ranges.erase(index)
    }

    fn get(&self, index: u64) -> Option<u64> {
        self.ranges.get(index)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.ranges.iter()
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        self.ranges.gap(end, size, align, window)
    }

    fn duplicate(&self) -> Self {
        Self { ranges: self.ranges.duplicate(), ask: A::default() }
    }

    fn bytes(&self) -> usize {
        self.ranges.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.ranges.validate()
    }
}

impl<A: Ask> AreaMap for PlannedRanges<A> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        super::maps::overlapping(&self.ranges.map, span)
    }

    fn areas(&self) -> u64 {
        self.ranges.map.len()
    }

    fn nodes(&self) -> Option<Nodes> {
        Some(super::maps::nodes_of(&self.ranges.map))
    }
}
