//! How several stores are all undone: nodes as they were before they were changed.
//!
//! While it is on, nodes that go keep their content and are not used again, so that what was known of them stays true.
//! Memory for what one store can change is asked for before it.

use super::Tree;
use super::path::MAX_HEIGHT;
use crate::error::OutOfMemory;
use crate::node::{Inner, Leaf, NodeId, Shape};
use alloc::vec::Vec;

/// Inner nodes that one store changes, splits and joins included: on two paths, each with a neighbour, twice.
const MOST_INNERS: usize = 8 * MAX_HEIGHT;
/// Leaves that it changes.
const MOST_LEAVES: usize = 16;

#[derive(Debug)]
pub(crate) struct Undo {
    on: bool,
    leaves: Vec<(NodeId, Leaf)>,
    inners: Vec<(NodeId, Inner)>,
    made: (Vec<NodeId>, Vec<NodeId>),
    /// Nodes whose content is elsewhere.
    gone: (Vec<NodeId>, Vec<NodeId>),
    /// The root, the height, the entries, before.
    before: (NodeId, usize, u64),
}

impl Undo {
    pub(super) const fn new() -> Self {
        Self {
            on: false,
            leaves: Vec::new(),
            inners: Vec::new(),
            made: (Vec::new(), Vec::new()),
            gone: (Vec::new(), Vec::new()),
            before: (0, 0, 0),
        }
    }

    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    fn reserve(&mut self) -> Result<(), OutOfMemory> {
        self.leaves.try_reserve(MOST_LEAVES)?;
        self.inners.try_reserve(MOST_INNERS)?;
        self.made.0.try_reserve(MOST_LEAVES)?;
        self.made.1.try_reserve(MOST_INNERS)?;
        self.gone.0.try_reserve(MOST_LEAVES)?;
        self.gone.1.try_reserve(MOST_INNERS)?;
        Ok(())
    }

    #[cold]
    pub(super) fn keep_leaf(&mut self, id: NodeId, leaf: &Leaf) {
        // The same node is changed several times in a row: its first content is the one to go back to.
        if self.leaves.last().is_none_or(|&(kept, _)| kept != id) {
            self.leaves.push((id, leaf.clone()));
        }
    }

    #[cold]
    pub(super) fn keep_inner(&mut self, id: NodeId, inner: &Inner) {
        if self.inners.iter().rev().take(MOST_INNERS).all(|&(kept, _)| kept != id) {
            self.inners.push((id, inner.clone()));
        }
    }

    pub(super) fn made_leaf(&mut self, id: NodeId) {
        if self.on {
            self.made.0.push(id);
        }
    }

    pub(super) fn made_inner(&mut self, id: NodeId) {
        if self.on {
            self.made.1.push(id);
        }
    }

    pub(super) fn gone_leaf(&mut self, id: NodeId) {
        self.gone.0.push(id);
    }

    pub(super) fn gone_inner(&mut self, id: NodeId) {
        self.gone.1.push(id);
    }
}

impl<S: Shape> Tree<S> {
    /// From here on everything can be undone. What began before and was never ended is final.
    pub(crate) fn begin(&mut self) {
        self.make_final();
        self.undo.on = true;
        self.undo.before = (self.root, self.height, self.len);
    }

    /// Asks for the memory to undo one more store.
    pub(crate) fn prepare_undo(&mut self) -> Result<(), OutOfMemory> {
        self.undo.reserve()
    }

    /// Undoes everything since [`begin`](Self::begin).
    pub(crate) fn roll_back(&mut self) {
        let Undo { leaves, inners, made, before, .. } = core::mem::replace(&mut self.undo, Undo::new());
        for (id, leaf) in leaves.into_iter().rev() {
            *self.leaves.get_mut(id) = leaf;
        }
        for (id, inner) in inners.into_iter().rev() {
            *self.inners.get_mut(id) = inner;
        }
        for id in made.0 {
            self.leaves.give_back(id);
        }
        for id in made.1 {
            self.inners.give_back(id);
        }
        (self.root, self.height, self.len) = before;
    }

    /// Makes everything since [`begin`](Self::begin) final.
    pub(crate) fn make_final(&mut self) {
        let Undo { gone, .. } = core::mem::replace(&mut self.undo, Undo::new());
        for id in gone.0 {
            self.leaves.give_back(id);
        }
        for id in gone.1 {
            self.inners.give_back(id);
        }
    }
}
