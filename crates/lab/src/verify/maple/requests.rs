//! How many nodes a store asks for before it starts, by the kernel's formulas.

use freehold_trace::maple::StoreType;

/// Whose formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Planner {
    /// Linux up to 6.15: the worst case of the height.
    Worst,
    /// The vacancy series, from 6.16 on.
    Vacancy,
}

/// Where a store meets the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    pub(super) store_type: StoreType,
    /// Levels of nodes.
    pub(super) height: u8,
    /// The lowest level above the leaf with a free slot, 1 for the root; 0 for none.
    pub(super) vacant: u8,
    /// The lowest level above the leaf with entries to spare, likewise.
    pub(super) sufficient: u8,
    /// The tree has readers that take no lock.
    pub(super) rcu: bool,
}

/// The nodes asked for. A store into a tree without nodes asks for one, unless it is of an entry over index 0 alone
/// that can live without; see [`agrees`].
pub(super) fn requested(planner: Planner, situation: Situation) -> u64 {
    let Situation { store_type, height, vacant, sufficient, rcu } = situation;
    let [height, vacant, sufficient] = [height, vacant, sufficient].map(u64::from);
    let converges = if sufficient < vacant { sufficient } else { vacant };
    let (split, rebalance, spanning) = match planner {
        Planner::Worst => (2 * height + 1, (2 * height).saturating_sub(1), 3 * height + 1),
        Planner::Vacancy => {
            let (split, other) = (height.saturating_sub(vacant), height.saturating_sub(converges));
            (2 * split + 1, 2 * other + 1, 3 * other + 1)
        }
    };
    match store_type {
        StoreType::ExactFit | StoreType::Append | StoreType::SlotStore => 0,
        StoreType::NodeStore => u64::from(rcu),
        StoreType::NewRoot | StoreType::StoreRoot => 1,
        StoreType::Split => split,
        StoreType::Rebalance => rebalance,
        StoreType::Spanning => spanning,
    }
}

/// Whether a recorded request is what the formula gives. What was stored is not recorded, and over index 0 alone it
/// decides whether a node is asked for: there none is right as well.
pub(super) fn agrees(planner: Planner, situation: Situation, over_index_0: bool, recorded: u64) -> bool {
    let no_node = situation.store_type == StoreType::StoreRoot && over_index_0;
    requested(planner, situation) == recorded || no_node && recorded == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(planner: Planner, store_type: StoreType, [height, vacant, sufficient]: [u8; 3]) -> u64 {
        requested(planner, Situation { store_type, height, vacant, sufficient, rcu: false })
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
        let rcu =
            Situation { store_type: StoreType::NodeStore, height: 1, vacant: 0, sufficient: 0, rcu: true };
        assert_eq!(requested(Vacancy, rcu), 1);
    }

    #[test]
    fn an_entry_at_index_0_alone_may_ask_for_nothing() {
        let situation =
            Situation { store_type: StoreType::StoreRoot, height: 0, vacant: 0, sufficient: 0, rcu: false };
        for (over_index_0, recorded, right) in
            [(true, 0, true), (true, 1, true), (false, 1, true), (false, 0, false), (true, 2, false)]
        {
            assert_eq!(agrees(Planner::Vacancy, situation, over_index_0, recorded), right);
        }
    }
}
