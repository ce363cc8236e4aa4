//! What is known of a planned store before it is done: what it does to the tree, in the kernel's words, what was seen of the nodes
//! above, and the nodes that it takes.
//!
//! The crate `freehold-linux` has the rules of the kernel's planners over it.

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

impl<E: StoredValue> Plan<'_, E> {
    /// What is known of the store.
    ///
    /// Cost: O(log n) for n entries.
    #[must_use]
    pub fn facts(&self) -> Facts {
        Facts::new(self.map.tree(), &self.plan, true)
    }
}

impl<E: StoredValue> RemovalPlan<'_, E> {
    /// What is known of the removal.
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
