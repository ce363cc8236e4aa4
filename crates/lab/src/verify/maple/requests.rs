//! How many nodes a store asks for before it starts: the kernel's formulas as the library has them, against what was
//! recorded.

use freehold::maple::linux::{Heights, Planner};
use freehold_trace::maple::StoreType;

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
    planner.rule(ours(situation.store_type), situation.heights, situation.rcu)
}

/// A planner's name in rows.
pub fn name(planner: Planner) -> &'static str {
    match planner {
        Planner::Worst => "worst",
        Planner::Vacancy => "vacancy",
        Planner::Exact => "exact",
    }
}

fn ours(recorded: StoreType) -> freehold::maple::linux::StoreType {
    use freehold::maple::linux::StoreType as Ours;
    match recorded {
        StoreType::NewRoot => Ours::NewRoot,
        StoreType::StoreRoot => Ours::StoreRoot,
        StoreType::ExactFit => Ours::ExactFit,
        StoreType::Spanning => Ours::Spanning,
        StoreType::Split => Ours::Split,
        StoreType::Rebalance => Ours::Rebalance,
        StoreType::Append => Ours::Append,
        StoreType::NodeStore => Ours::NodeStore,
        StoreType::SlotStore => Ours::SlotStore,
    }
}

/// Whether a recorded request is what the formula gives. What was stored is not recorded, and over index 0 alone it
/// decides whether a node is asked for: there none is right as well.
pub fn agrees(planner: Planner, situation: Situation, over_index_0: bool, recorded: u64) -> bool {
    let no_node = situation.store_type == StoreType::StoreRoot && over_index_0;
    requested(planner, situation) == Some(recorded) || no_node && recorded == 0
}
