//! How many nodes a store asks for before it starts: the kernel's formulas as the library has them, against what was
//! recorded.

use crate::engine::maple::{TYPES, planner_name};
use crate::verify::Checked;
use freehold::maple::Heights;
use freehold::units::Span;
use freehold_linux::maple::Planner;
use freehold_trace::TraceError;
use freehold_trace::maple::{Example, Examples, StoreType};
use std::path::Path;

/// Where a store meets the tree.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// What it does.
    pub store_type: StoreType,
    /// Of the tree and of nodes with room.
    pub heights: Heights,
    /// The tree has readers that take no lock.
    pub rcu: bool,
}

/// The nodes that a kernel's formula asks for; `None` of the planner that has none. A store into a tree without nodes
/// asks for one, unless it is of an entry over index 0 alone that can live without; see [`agrees`].
pub fn requested(planner: Planner, situation: Situation) -> Option<u64> {
    let (store_type, _) = TYPES.iter().find(|(_, name)| *name == situation.store_type.name())?;
    planner.rule(*store_type, situation.heights, situation.rcu)
}

/// Whether a recorded request is what the formula gives. What was stored is not recorded, and over index 0 alone it
/// decides whether a node is asked for: there none is right as well.
pub fn agrees(planner: Planner, situation: Situation, over_index_0: bool, recorded: u64) -> bool {
    let no_node = situation.store_type == StoreType::StoreRoot && over_index_0;
    requested(planner, situation) == Some(recorded) || no_node && recorded == 0
}

/// What was recorded, held against a formula.
pub(super) struct Formula {
    planner: Planner,
    pub(super) checked: Checked,
    /// Nodes that were asked for.
    pub(super) nodes: u64,
}

impl Formula {
    pub(super) fn new(what: impl Into<String>, planner: Planner) -> Self {
        Self { planner, checked: Checked::new(what, planner_name(planner)), nodes: 0 }
    }

    /// A request that was made so many times.
    pub(super) fn check(&mut self, line: u64, at: Situation, over_index_0: bool, recorded: u32, times: u32) {
        self.checked.operations += u64::from(times);
        self.nodes += u64::from(times) * u64::from(recorded);
        let right = agrees(self.planner, at, over_index_0, recorded.into());
        let texts = || [format!("{recorded} for {at:?}"), format!("{:?}", requested(self.planner, at))];
        self.checked.right(line, right, texts);
    }
}

/// The worked examples, by both formulas.
pub(in crate::verify) fn verify(file: &Path) -> Result<Vec<Checked>, TraceError> {
    let mut examples = Examples::open(file)?;
    let mut older = Formula::new("requests 6.12", Planner::Worst);
    let mut newer = Formula::new("requests 6.16", Planner::Vacancy);
    while let Some(example) = examples.next().transpose()? {
        let (line, situation) = (examples.line(), situation(&example));
        let over_index_0 = Span::new(0, 0) == Some(example.asked);
        older.check(line, situation, over_index_0, example.requested_6_12, 1);
        newer.check(line, situation, over_index_0, example.requested_6_16, 1);
    }
    Ok(vec![older.checked, newer.checked])
}

fn situation(example: &Example) -> Situation {
    let heights = Heights {
        height: example.height.into(),
        vacant: example.vacant_height.into(),
        sufficient: example.sufficient_height.into(),
    };
    Situation { store_type: example.store_type, heights, rcu: false }
}
