//! How several stores are all undone: nodes as they were before they were changed.
//!
//! While it is on, nodes that go keep their content and are not used again, so that what was known of them stays true.
//! Memory for what one store can change is asked for before it.

use super::Tree;
use super::path::MAX_HEIGHT;
use crate::OutOfMemory;
use crate::node::{Inner, Leaf, NodeId, boxed};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Inner nodes that one store changes on each level, splits and joins included: on two paths, each with a neighbour,
/// twice.
const MOST_INNERS: usize = 8;
/// Leaves that it changes.
const MOST_LEAVES: usize = 16;

/// What there is to go back to; empty where nothing is to be undone. It keeps its memory for the next time.
#[derive(Debug)]
pub(super) struct Undo(Option<Box<[Changes; 1]>>);

/// What has changed since it began.
#[derive(Debug, Default)]
struct Changes {
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
        Self(None)
    }

    #[inline]
    fn changes(&mut self) -> Option<&mut Changes> {
        self.0.as_deref_mut().map(|[changes]| changes).filter(|changes| changes.on)
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.0.as_deref().is_some_and(|[changes]| changes.on)
    }

    #[cold]
    pub(super) fn keep_leaf(&mut self, id: NodeId, leaf: &Leaf) {
        let Some(changes) = self.changes() else { return };
        // The same node is changed several times in a row: its first content is the one to go back to.
        if changes.leaves.last().is_none_or(|&(kept, _)| kept != id) {
            changes.leaves.push((id, leaf.clone()));
        }
    }

    #[cold]
    pub(super) fn keep_inner(&mut self, id: NodeId, inner: &Inner) {
        let Some(changes) = self.changes() else { return };
        if changes.inners.iter().rev().take(MOST_INNERS * MAX_HEIGHT).all(|&(kept, _)| kept != id) {
            changes.inners.push((id, inner.clone()));
        }
    }

    pub(super) fn made_leaf(&mut self, id: NodeId) {
        if let Some(changes) = self.changes() {
            changes.made.0.push(id);
        }
    }

    pub(super) fn made_inner(&mut self, id: NodeId) {
        if let Some(changes) = self.changes() {
            changes.made.1.push(id);
        }
    }

    /// False if nothing is to be undone.
    pub(super) fn gone_leaf(&mut self, id: NodeId) -> bool {
        self.changes().map(|changes| changes.gone.0.push(id)).is_some()
    }

    /// False if nothing is to be undone.
    pub(super) fn gone_inner(&mut self, id: NodeId) -> bool {
        self.changes().map(|changes| changes.gone.1.push(id)).is_some()
    }
}

impl Changes {
    /// Asks for the memory to undo one more store of a tree of so many levels, which may become one more.
    fn reserve(&mut self, levels: usize) -> Result<(), OutOfMemory> {
        let inners = MOST_INNERS * (levels + 1);
        self.leaves.try_reserve(MOST_LEAVES)?;
        self.inners.try_reserve(inners)?;
        self.made.0.try_reserve(MOST_LEAVES)?;
        self.made.1.try_reserve(inners)?;
        self.gone.0.try_reserve(MOST_LEAVES)?;
        self.gone.1.try_reserve(inners)?;
        Ok(())
    }

    /// Undoes or finishes nothing any more.
    fn end(&mut self) {
        self.on = false;
        self.leaves.clear();
        self.inners.clear();
        self.made.0.clear();
        self.made.1.clear();
    }
}

impl Tree {
    /// Asks for the memory to undo one more store. From the first time on, everything can be undone.
    pub(crate) fn prepare_undo(&mut self) -> Result<(), OutOfMemory> {
        if self.undo.0.is_none() {
            self.undo.0 = Some(boxed([Changes::default()])?);
        }
        let before = (self.root, self.height, self.len);
        if let Some([changes]) = self.undo.0.as_deref_mut() {
            changes.reserve(self.height)?;
            if !changes.on {
                changes.on = true;
                changes.before = before;
            }
        }
        Ok(())
    }

    /// Undoes everything since the first [`prepare_undo`](Self::prepare_undo).
    pub(crate) fn roll_back(&mut self) {
        let Some(changes) = self.undo.changes() else { return };
        for (id, leaf) in changes.leaves.drain(..).rev() {
            self.leaves[id] = leaf;
        }
        for (id, inner) in changes.inners.drain(..).rev() {
            self.inners[id] = inner;
        }
        for &id in &changes.made.0 {
            self.leaves.give_back(id);
        }
        for &id in &changes.made.1 {
            self.inners.give_back(id);
        }
        (self.root, self.height, self.len) = changes.before;
        changes.gone.0.clear();
        changes.gone.1.clear();
        changes.end();
    }

    /// Makes everything final.
    #[inline]
    pub(crate) fn make_final(&mut self) {
        if self.undo.is_on() {
            self.give_gone_back();
        }
    }

    #[inline(never)]
    fn give_gone_back(&mut self) {
        let Some(changes) = self.undo.changes() else { return };
        for id in changes.gone.0.drain(..) {
            self.leaves.give_back(id);
        }
        for id in changes.gone.1.drain(..) {
            self.inners.give_back(id);
        }
        changes.end();
    }
}
