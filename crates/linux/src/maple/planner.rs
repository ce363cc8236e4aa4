//! The numbers of nodes that the kernel's planners request before a store, computed from the facts of a plan of
//! [`freehold_maple`].
//!
//! The kernel allocates nodes before it stores, when it does not know its exact need yet. Up to 6.15 it allocated the
//! worst case for a tree of that height. Since the vacancy series it looks on the way down for the lowest ancestor with
//! a vacant slot, and allocates only for the levels below that.
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", 2025.

use freehold_maple::{Facts, Heights, StoreType};

/// A planner: the rule for the number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Planner {
    /// The kernel up to 6.15: the worst case of the height.
    Worst,
    /// The kernel since the vacancy series, 6.16: the worst case up to the lowest ancestor with a vacant slot.
    Vacancy,
    /// The exact need of the store.
    Exact,
}

impl Planner {
    /// All planners, oldest first.
    pub const ALL: [Self; 3] = [Self::Worst, Self::Vacancy, Self::Exact];

    /// The number of nodes by the kernel's rule; `None` for [`Exact`](Self::Exact), which is not a rule.
    ///
    /// `rcu`: readers use the tree concurrently, so that a changed leaf is a new one. The kernel keeps a lone entry at
    /// [0, 0] in its root pointer without a node; the rule does not model such a root.
    #[doc(alias = "mas_prealloc_calc")]
    #[must_use]
    pub const fn rule(self, store_type: StoreType, heights: Heights, rcu: bool) -> Option<u64> {
        let Heights { height, vacant, sufficient } = heights;
        let lower = if sufficient < vacant { sufficient } else { vacant };
        // The number of levels that may change: all of them, or those below an ancestor with a vacant slot.
        let (splitting, joining) = match self {
            Self::Worst => (height, height),
            Self::Vacancy => (height.saturating_sub(vacant), height.saturating_sub(lower)),
            Self::Exact => return None,
        };
        Some(match store_type {
            StoreType::ExactFit | StoreType::Append | StoreType::SlotStore => 0,
            StoreType::NodeStore => rcu as u64,
            StoreType::NewRoot | StoreType::StoreRoot => 1,
            StoreType::Split => per_level(2, splitting) + 1,
            StoreType::Rebalance => match self {
                Self::Worst => per_level(2, height).saturating_sub(1),
                _ => per_level(2, joining) + 1,
            },
            StoreType::Spanning => per_level(3, joining) + 1,
        })
    }

    /// The number of nodes that the planner requests before a store with these facts.
    #[must_use]
    pub const fn requested(self, facts: &Facts) -> u64 {
        match self.rule(facts.store_type, facts.heights, false) {
            Some(nodes) => nodes,
            None => facts.nodes,
        }
    }
}

/// Nodes for levels. Heights that no tree has end at `u64::MAX - 1`, so that one more is a number still.
const fn per_level(nodes: u64, levels: u64) -> u64 {
    match nodes.checked_mul(levels) {
        Some(all) if all < u64::MAX => all,
        _ => u64::MAX - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [StoreType; 9] = [
        StoreType::ExactFit,
        StoreType::Append,
        StoreType::SlotStore,
        StoreType::NodeStore,
        StoreType::NewRoot,
        StoreType::StoreRoot,
        StoreType::Split,
        StoreType::Rebalance,
        StoreType::Spanning,
    ];

    fn rules(planner: Planner, heights: Heights, rcu: bool) -> [Option<u64>; 9] {
        TYPES.map(|store_type| planner.rule(store_type, heights, rcu))
    }

    #[test]
    fn each_planner_has_its_formula() {
        let heights = Heights { height: 5, vacant: 3, sufficient: 2 };
        assert_eq!(rules(Planner::Worst, heights, false), [0, 0, 0, 0, 1, 1, 11, 9, 16].map(Some));
        assert_eq!(rules(Planner::Vacancy, heights, true), [0, 0, 0, 1, 1, 1, 5, 7, 10].map(Some));
        assert_eq!(rules(Planner::Exact, heights, true), [None; 9]);
        let other = Heights { sufficient: 4, ..heights };
        assert_eq!(rules(Planner::Vacancy, other, false), [0, 0, 0, 0, 1, 1, 5, 5, 7].map(Some));
    }

    #[test]
    fn heights_that_no_tree_has_do_not_overflow() {
        let ends = [0, 1, u64::MAX / 3, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX];
        for (height, vacant) in ends.iter().flat_map(|&height| ends.map(|vacant| (height, vacant))) {
            let heights = Heights { height, vacant, sufficient: vacant };
            for planner in [Planner::Worst, Planner::Vacancy] {
                assert!(rules(planner, heights, false)[6..].iter().all(Option::is_some));
            }
        }
    }
}
