//! How many nodes a store asks for before it starts: the kernel's formulas as the library has them, against what was
//! recorded.

use freehold::maple::linux::{Heights, Planner};
use freehold_trace::maple::StoreType;

/// Where a store meets the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    pub(super) store_type: StoreType,
    pub(super) heights: Heights,
    /// The tree has readers that take no lock.
    pub(super) rcu: bool,
}

/// The nodes that a kernel's formula asks for; `None` of the planner that has none. A store into a tree without nodes
/// asks for one, unless it is of an entry over index 0 alone that can live without; see [`agrees`].
pub(super) fn requested(planner: Planner, situation: Situation) -> Option<u64> {
    planner.rule(ours(situation.store_type), situation.heights, situation.rcu)
}

/// A planner's name in rows.
pub(super) fn name(planner: Planner) -> &'static str {
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
pub(super) fn agrees(planner: Planner, situation: Situation, over_index_0: bool, recorded: u64) -> bool {
    let no_node = situation.store_type == StoreType::StoreRoot && over_index_0;
    requested(planner, situation) == Some(recorded) || no_node && recorded == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(planner: Planner, store_type: StoreType, [height, vacant, sufficient]: [u64; 3]) -> u64 {
        let heights = Heights { height, vacant, sufficient };
        requested(planner, Situation { store_type, heights, rcu: false }).unwrap()
    }

    #[test]
    fn formulas_are_those_described() {
        use Planner::{Vacancy, Worst};
        for (store_type, heights, worst, vacancy) in [
            (StoreType::Split, [3, 2, 0], 7, 3),
            (StoreType::Rebalance, [3, 2, 1], 5, 5),
            (StoreType::Rebalance, [2, 0, 0], 3, 5),
            (StoreType::Spanning, [3, 2, 2], 10, 4),
            (StoreType::NewRoot, [3, 0, 0], 1, 1),
            (StoreType::Append, [3, 0, 0], 0, 0),
            (StoreType::NodeStore, [3, 0, 0], 0, 0),
        ] {
            assert_eq!(asks(Worst, store_type, heights), worst, "{store_type:?} {heights:?}");
            assert_eq!(asks(Vacancy, store_type, heights), vacancy, "{store_type:?} {heights:?}");
        }
        let heights = Heights { height: 1, vacant: 0, sufficient: 0 };
        let rcu = Situation { store_type: StoreType::NodeStore, heights, rcu: true };
        assert_eq!(requested(Vacancy, rcu), Some(1));
    }

    #[test]
    fn an_entry_at_index_0_alone_may_ask_for_nothing() {
        let heights = Heights::default();
        let situation = Situation { store_type: StoreType::StoreRoot, heights, rcu: false };
        for (over_index_0, recorded, right) in
            [(true, 0, true), (true, 1, true), (false, 1, true), (false, 0, false), (true, 2, false)]
        {
            assert_eq!(agrees(Planner::Vacancy, situation, over_index_0, recorded), right);
        }
    }
}
