//! What the kernel's planners ask for before a store, computed for a plan of ours.
//!
//! The kernel asks for nodes before it stores, without knowing yet what it needs. Up to 6.15 it asked for the worst case of
//! a tree of that height. Since the vacancy series it looks on the way down for the lowest ancestor with room, and asks for
//! no more than it takes to get there.
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", 2025.

use crate::entry::StoredValue;
use crate::plan::{Plan, RemovalPlan};
use crate::tree::{Path, StoreKind, StorePlan, Tree, fork, replace_edit};
use freehold_units::Span;

/// What a store does to the tree, in the kernel's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreType {
    /// Replaces exactly one slot; the leaf has room.
    ExactFit,
    /// Changes the leaf's last slot; the leaf has room.
    Append,
    /// Moves bounds of slots, of which there are as many as before.
    SlotStore,
    /// Changes how many slots the leaf has; it has room.
    NodeStore,
    /// The leaf overflows and becomes two.
    Split,
    /// The leaf is left with too little, and is filled up or merged.
    Rebalance,
    /// Ends in another leaf than it begins in.
    Spanning,
    /// Replaces everything.
    NewRoot,
    /// The first store of an empty tree.
    StoreRoot,
}

/// What a walk has seen of the nodes above the leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heights {
    /// Levels of the tree; 1 if the root is a leaf.
    pub height: u64,
    /// The lowest ancestor with room for a child more, counted from the root, which is 1; 0 if there is none. Of a
    /// spanning store, ancestors above the one where the span begins count alone.
    pub vacant: u64,
    /// The lowest ancestor that can lose a child without becoming underfull, counted likewise.
    pub sufficient: u64,
}

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
}

/// What is known of a store before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it does to the tree.
    pub store_type: StoreType,
    /// What was seen on the way.
    pub heights: Heights,
    /// The nodes that it takes.
    pub nodes: u64,
}

impl Facts {
    /// Those of a planned store.
    #[must_use]
    pub fn of_store<E: StoredValue>(plan: &Plan<'_, E>) -> Self {
        Self::new(plan.map.tree(), &plan.plan, true)
    }

    /// Those of a planned removal.
    #[must_use]
    pub fn of_removal<E: StoredValue>(plan: &RemovalPlan<'_, E>) -> Self {
        Self::new(plan.0.map.tree(), &plan.0.plan, false)
    }

    fn new(tree: &Tree, plan: &StorePlan, entry: bool) -> Self {
        let (store_type, heights) = (store_type(tree, plan, entry), heights(tree, plan));
        Self { store_type, heights, nodes: plan.need.nodes() as u64 }
    }

    /// The nodes that a planner asks for.
    #[must_use]
    pub const fn requested(&self, planner: Planner) -> u64 {
        match planner.rule(self.store_type, self.heights, false) {
            Some(nodes) => nodes,
            None => self.nodes,
        }
    }
}

fn store_type(tree: &Tree, plan: &StorePlan, entry: bool) -> StoreType {
    let edit = match &plan.kind {
        StoreKind::NewRoot => return StoreType::StoreRoot,
        StoreKind::Spanning => return StoreType::Spanning,
        StoreKind::InLeaf(_) => replace_edit(tree.leaf_of(&plan.path), &plan.path, plan.span, entry),
    };
    let slots = edit.slots_after();
    if slots > tree.limits().leaf_slots {
        StoreType::Split
    } else if edit.is_exact() {
        StoreType::ExactFit
    } else if plan.span == Span::ALL {
        StoreType::NewRoot
    } else if tree.limits().underfills(edit.slots_before(), slots) && tree.height() > 1 {
        StoreType::Rebalance
    } else if edit.is_at_end() {
        StoreType::Append
    } else if edit.keeps_slots() {
        StoreType::SlotStore
    } else {
        StoreType::NodeStore
    }
}

/// The lowest ancestors with room, and with children to spare.
fn heights(tree: &Tree, plan: &StorePlan) -> Heights {
    let mut heights = Heights { height: tree.height() as u64, vacant: 0, sufficient: 0 };
    let mut above = plan.path.above();
    if plan.is_spanning() {
        let mut right = Path::new();
        tree.walk(plan.span.last(), &mut right);
        above = &above[..fork(&plan.path, &right)];
    }
    for (depth, step) in above.iter().enumerate() {
        let end = tree.inner(step.id).len() - 1;
        if end + 1 < tree.limits().fanout {
            heights.vacant = depth as u64 + 1;
        }
        let spare = if depth == 0 { end > 2 } else { end > tree.limits().inner_min + 1 };
        if spare {
            heights.sufficient = depth as u64 + 1;
        }
    }
    heights
}
