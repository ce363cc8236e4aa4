//! Planning a store: what it is, what it takes, and what the kernel's rules would have asked for.
//!
//! The kernel asks for nodes before it stores, without knowing yet what it needs. Up to 6.15 it asked for the worst a
//! tree of that height can need; the vacancy series looks for the lowest ancestor with room on the way down, and asks
//! for no more than it takes to get there. Here the way down is all there is to know: a plan holds exactly the nodes
//! that its store takes, and committing it cannot fail, allocate or block.
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", 2025.

use crate::OutOfMemory;
use crate::entry::Entry;
use crate::map::RangeMap;
use crate::node::{Full, Shape};
use crate::tree::Spot;
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
    /// The lowest that can lose a child without becoming thin, counted likewise.
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
    /// The nodes that a planner asks for.
    #[must_use]
    pub const fn requested(&self, planner: Planner) -> u64 {
        match planner.rule(self.store_type, self.heights, false) {
            Some(nodes) => nodes,
            None => self.nodes,
        }
    }
}

/// A store that cannot fail any more: its nodes are there.
///
/// ```
/// use freehold_maple::{Planner, RangeMap, StoreType};
/// use freehold_units::Span;
///
/// let mut map = RangeMap::new();
/// let plan = map.plan_store(Span::new(0x1000, 0x1fff).unwrap())?;
/// assert_eq!(plan.facts().store_type, StoreType::StoreRoot);
/// assert_eq!(plan.facts().requested(Planner::Exact), 1);
/// plan.commit(7u32);
/// assert_eq!(map.get(0x1000), Some(7));
/// # Ok::<(), freehold_maple::OutOfMemory>(())
/// ```
#[must_use = "a plan that is not committed stores nothing"]
pub struct Plan<'a, E: Entry, S: Shape = Full> {
    map: &'a mut RangeMap<E, S>,
    spot: Spot,
    facts: Facts,
}

/// A removal that cannot fail any more.
#[must_use = "a plan that is not committed removes nothing"]
pub struct RemovalPlan<'a, E: Entry, S: Shape = Full>(Plan<'a, E, S>);

impl<E: Entry, S: Shape> RangeMap<E, S> {
    /// Plans a store over a range, whatever is there.
    ///
    /// # Errors
    /// There is no memory for the nodes that it takes; nothing has changed then.
    #[doc(alias = "mas_preallocate")]
    pub fn plan_store(&mut self, span: Span) -> Result<Plan<'_, E, S>, OutOfMemory> {
        self.plan(span, true)
    }

    /// Plans the removal of everything in a range.
    ///
    /// # Errors
    /// As for [`plan_store`](Self::plan_store).
    pub fn plan_removal(&mut self, span: Span) -> Result<RemovalPlan<'_, E, S>, OutOfMemory> {
        self.plan(span, false).map(RemovalPlan)
    }

    fn plan(&mut self, span: Span, entry: bool) -> Result<Plan<'_, E, S>, OutOfMemory> {
        let mut spot = Spot::new(span);
        let tree = self.tree_mut();
        tree.look(&mut spot, entry, &mut ());
        tree.provide(&spot)?;
        let facts = tree.classify(&spot);
        Ok(Plan { map: self, spot, facts })
    }
}

impl<E: Entry, S: Shape> Plan<'_, E, S> {
    /// What is known of the store.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Stores the value.
    #[doc(alias = "mas_store_prealloc")]
    pub fn commit(mut self, value: E) {
        self.map.carry_out(&mut self.spot, Some(value.into_word()));
    }
}

impl<E: Entry, S: Shape> RemovalPlan<'_, E, S> {
    /// What is known of the removal.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        self.0.facts()
    }

    /// The gap that there will be, whole: the range, and the gaps on either side of it.
    #[must_use]
    pub const fn gap(&self) -> Span {
        if self.0.spot.is_rootless() { Span::ALL } else { self.0.spot.span }
    }

    /// Removes what is there.
    pub fn commit(mut self) {
        self.0.map.carry_out(&mut self.0.spot, None);
    }
}
