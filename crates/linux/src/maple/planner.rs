//! What the kernel's planners ask for before a store, computed from the facts of a plan of ours.
//!
//! The kernel asks for nodes before it stores, without knowing yet what it needs. Up to 6.15 it asked for the worst case of
//! a tree of that height. Since the vacancy series it looks on the way down for the lowest ancestor with room, and asks for
//! no more than it takes to get there.
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", 2025.

use freehold_maple::{Facts, Heights, StoreType};

/// Who asks for nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Planner {
    /// The kernel up to 6.15: the worst case of the height.
    Worst,
    /// The kernel since the vacancy series, 6.16: the worst case up to the lowest ancestor with room.
    Vacancy,
    /// What the store takes.
    Exact,
}

impl Planner {
    /// All, in the order of their age.
    pub const ALL: [Self; 3] = [Self::Worst, Self::Vacancy, Self::Exact];

    /// The nodes that the kernel's rule asks for; `None` of [`Exact`](Self::Exact), which is no rule.
    ///
    /// `rcu` says whether readers look at the tree meanwhile, so that a changed leaf is a new one. A lone entry at
    /// [0, 0] is kept in the kernel's root pointer and takes no node there; the rule is told of no such root.
    #[doc(alias = "mas_prealloc_calc")]
    #[must_use]
    pub const fn rule(self, store_type: StoreType, heights: Heights, rcu: bool) -> Option<u64> {
        let Heights { height, vacant, sufficient } = heights;
        let lower = if sufficient < vacant { sufficient } else { vacant };
        // How many levels may have to change: all of them, or those below an ancestor with room.
        let (splitting, joining) = match self {
            Self::Worst => (height, height),
            Self::Vacancy => (height.saturating_sub(vacant), height.saturating_sub(lower)),
            Self::Exact => return None,
        };
        Some(match store_type {
            StoreType::ExactFit | StoreType::Append | StoreType::SlotStore => 0,
            StoreType::NodeStore => rcu as u64,
            StoreType::NewRoot | StoreType::StoreRoot => 1,
            StoreType::Split => 2 * splitting + 1,
            StoreType::Rebalance => match self {
                Self::Worst => (2 * height).saturating_sub(1),
                _ => 2 * joining + 1,
            },
            StoreType::Spanning => 3 * joining + 1,
        })
    }

    /// The nodes that the planner asks for before a store of which that is known.
    #[must_use]
    pub const fn requested(self, facts: &Facts) -> u64 {
        match self.rule(facts.store_type, facts.heights, false) {
            Some(nodes) => nodes,
            None => facts.nodes,
        }
    }
}
