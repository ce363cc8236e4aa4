//! Our range tree, every store planned first, and what each planner asks for noted, or indeed asked for.

use super::WordMapRanges;
use super::range_map::no_memory;
use freehold::maple::{Facts, StoreType, WordMap};
use freehold::units::Span;
use freehold_linux::maple::Planner;
use std::hint::black_box;

/// Planners with their names in rows.
pub const PLANNERS: [(Planner, &str); Planner::ALL.len()] =
    [(Planner::Worst, "worst"), (Planner::Vacancy, "vacancy"), (Planner::Exact, "exact")];

/// A planner's name in rows.
pub fn planner_name(planner: Planner) -> &'static str {
    PLANNERS.iter().find(|(known, _)| *known == planner).map_or("", |(_, name)| name)
}

/// Store types with their names, as they stand in files.
pub const TYPES: [(StoreType, &str); 9] = [
    (StoreType::ExactFit, "exact_fit"),
    (StoreType::Append, "append"),
    (StoreType::SlotStore, "slot_store"),
    (StoreType::NodeStore, "node_store"),
    (StoreType::Split, "split"),
    (StoreType::Rebalance, "rebalance"),
    (StoreType::Spanning, "spanning"),
    (StoreType::NewRoot, "new_root"),
    (StoreType::StoreRoot, "store_root"),
];

/// What is done about the plan of a store or a removal.
pub trait Ask: Default {
    /// Whether there is one.
    const PLANS: bool = true;

    /// Before it is committed.
    fn planned(&mut self, facts: &Facts) {
        let _ = facts;
    }

    /// When it is.
    fn committed(&mut self) {}

    /// A value is stored over a range, whatever is there, or the range is emptied.
    fn stored(&mut self, span: Span, value: Option<u64>) {
        let _ = (span, value);
    }
}

/// Stores and removes without a plan.
#[derive(Debug, Default)]
pub struct Direct;

impl Ask for Direct {
    const PLANS: bool = false;
}

/// Notes plans that are committed, until somebody looks.
#[derive(Debug, Default)]
pub struct Note(Vec<Facts>);

impl Ask for Note {
    fn planned(&mut self, facts: &Facts) {
        self.0.push(*facts);
    }
}

/// Stores and removes without a plan, and notes what and where, until somebody looks.
#[derive(Debug, Default)]
pub struct NoteStores(Vec<(Span, Option<u64>)>);

impl Ask for NoteStores {
    const PLANS: bool = false;

    fn stored(&mut self, span: Span, value: Option<u64>) {
        self.0.push((span, value));
    }
}

/// Our range tree, which notes what is stored over ranges as an address space does it: no insertion, and nothing erased.
pub type StoredRanges = WordMapRanges<NoteStores>;

impl StoredRanges {
    /// What was stored, and what emptied, since this was asked last.
    pub fn take_stored(&mut self) -> Vec<(Span, Option<u64>)> {
        std::mem::take(&mut self.ask.0)
    }
}

/// Asks for as many nodes as the planner of that place in [`PLANNERS`] does: those that the store does not take
/// come from the allocator as well, and go back when it is done.
#[derive(Debug, Default)]
pub struct AskAs<const PLANNER: usize> {
    spare: Vec<Vec<u64>>,
}

/// A node's size in words.
const NODE_WORDS: usize = 32;

impl<const PLANNER: usize> Ask for AskAs<PLANNER> {
    fn planned(&mut self, facts: &Facts) {
        let spare = PLANNERS[PLANNER].0.requested(facts).saturating_sub(facts.nodes);
        self.spare.extend((0..spare).map(|_| black_box(Vec::with_capacity(NODE_WORDS))));
    }

    fn committed(&mut self) {
        self.spare.clear();
    }
}

/// Our range tree that stores by plans.
pub type PlannedRanges<A = Note> = WordMapRanges<A>;

impl PlannedRanges {
    /// The tree.
    pub fn map(&self) -> &WordMap<u64> {
        &self.map
    }

    /// Plans that were committed since this was asked last.
    pub fn take_committed(&mut self) -> Vec<Facts> {
        std::mem::take(&mut self.ask.0)
    }

    /// What a store, or without a value a removal, would take; nothing is stored.
    pub fn plan(&mut self, span: Span, stores: bool) -> Facts {
        let facts = if stores {
            self.map.plan_store(span).map(|plan| plan.facts())
        } else {
            self.map.plan_removal(span).map(|plan| plan.facts())
        };
        facts.unwrap_or_else(|_| no_memory())
    }
}
