//! The facts of a planned store, in the kernel's terms: what it changes in the tree, what its walk saw in the nodes
//! above the leaf, and how many nodes it takes.
//!
//! The crate `freehold-linux` builds the rules of the kernel's planners on them.

use crate::entry::StoredValue;
use crate::plan::{Plan, RemovalPlan};
use crate::tree::{Path, StoreKind, StorePlan, Tree, fork, replace_edit};
use freehold_units::Span;

/// The effect of a store on the tree, in the kernel's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreType {
    /// Replaces exactly one slot; the leaf has room.
    ExactFit,
    /// Changes the leaf's last slot; the leaf has room.
    Append,
    /// Moves bounds of slots; their number stays the same.
    SlotStore,
    /// Changes the number of slots; the leaf has room.
    NodeStore,
    /// The leaf overflows and becomes two.
    Split,
    /// The leaf is left underfull, and is refilled or merged.
    Rebalance,
    /// Ends in another leaf than it begins in.
    Spanning,
    /// Replaces everything.
    NewRoot,
    /// The first store of an empty tree.
    StoreRoot,
}

/// The heights that a walk records of the nodes above the leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heights {
    /// Levels of the tree; 1 if the root is a leaf.
    pub height: u64,
    /// Level of the lowest ancestor with room for another child, counted from the root, which is 1; 0 if there is none.
    /// For a spanning store, only ancestors above the one where the span begins count.
    pub vacant: u64,
    /// Level of the lowest ancestor that can lose a child without becoming underfull, counted likewise.
    pub sufficient: u64,
}

/// The facts of a planned store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its effect on the tree.
    pub store_type: StoreType,
    /// The heights of the ancestors.
    pub heights: Heights,
    /// The number of nodes that it takes.
    pub nodes: u64,
}

impl<E: StoredValue> Plan<'_, E> {
    /// The facts of the planned store.
    ///
    /// Cost: O(log n) for n entries.
    #[must_use]
    pub fn facts(&self) -> Facts {
        Facts::new(self.map.tree(), &self.plan, true)
    }
}

impl<E: StoredValue> RemovalPlan<'_, E> {
    /// The facts of the planned removal.
    ///
    /// Cost: O(log n) for n entries.
    #[must_use]
    pub fn facts(&self) -> Facts {
        Facts::new(self.0.map.tree(), &self.0.plan, false)
    }
}

impl Facts {
    fn new(tree: &Tree, plan: &StorePlan, entry: bool) -> Self {
        let (store_type, heights) = (store_type(tree, plan, entry), heights(tree, plan));
        Self { store_type, heights, nodes: plan.need.nodes() as u64 }
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
