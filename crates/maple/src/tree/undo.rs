//! The undo log of a transaction: nodes as they were before the transaction changed them.
//!
//! While a transaction is open, a node that leaves the tree keeps its content and is not used again. So the nodes of the
//! log, put back, are the tree as it was. The log's memory for one store is reserved before that store.

use super::Tree;
use crate::OutOfMemory;
use crate::node::{Inner, Leaf, NodeId, Pool, PoolNode, boxed};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Inner nodes that one store changes on each level, splits and joins included: on two paths, each with a neighbour,
/// twice.
const MOST_INNERS: usize = 8;
/// Leaves that one store changes.
const MOST_LEAVES: usize = 16;

/// The undo log, once there was a transaction. Its memory is kept for the next one.
#[derive(Debug)]
pub(super) struct Undo(Option<Box<[Changes; 1]>>);

/// What a transaction has changed so far.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether a transaction is open.
    on: bool,
    pub(super) leaves: Log<Leaf>,
    pub(super) inners: Log<Inner>,
    /// Root, height and entries before the transaction.
    before: (NodeId, usize, u64),
}

/// The changes to the nodes of one kind.
#[derive(Debug)]
pub(super) struct Log<N> {
    /// Changed nodes as they were before. A node may be there several times: its oldest content counts.
    before: Vec<(NodeId, N)>,
    /// Nodes that came into the tree.
    made: Vec<NodeId>,
    /// Nodes that left the tree.
    gone: Vec<NodeId>,
    /// How many nodes one store changes at most.
    most: usize,
}

impl<N> Default for Log<N> {
    fn default() -> Self {
        Self { before: Vec::new(), made: Vec::new(), gone: Vec::new(), most: 0 }
    }
}

impl<N: PoolNode + Clone> Log<N> {
    /// Reserves memory for a store that changes, makes and removes no more than `most` nodes.
    fn reserve(&mut self, most: usize) -> Result<(), OutOfMemory> {
        self.most = most;
        self.before.try_reserve(most)?;
        self.made.try_reserve(most)?;
        self.gone.try_reserve(most)?;
        Ok(())
    }

    /// Logs a node that is about to change. A store may change a node several times: the node is logged once, so that no
    /// more is logged than was reserved.
    #[cold]
    pub(super) fn will_change(&mut self, id: NodeId, node: &N) {
        if self.before.iter().rev().take(self.most).all(|&(logged, _)| logged != id) {
            self.before.push((id, node.clone()));
        }
    }

    pub(super) fn made(&mut self, id: NodeId) {
        self.made.push(id);
    }

    pub(super) fn gone(&mut self, id: NodeId) {
        self.gone.push(id);
    }

    /// Puts every node back as it was.
    fn roll_back<I: AsRef<[N]> + AsMut<[N]>>(&mut self, pool: &mut Pool<N, I>) {
        for (id, node) in self.before.drain(..).rev() {
            pool[id] = node;
        }
        self.made.drain(..).for_each(|id| pool.give_back(id));
        self.gone.clear();
    }

    /// Makes the changes final: nodes that left the tree can be used again.
    fn make_final<I: AsRef<[N]> + AsMut<[N]>>(&mut self, pool: &mut Pool<N, I>) {
        self.before.clear();
        self.made.clear();
        self.gone.drain(..).for_each(|id| pool.give_back(id));
    }
}

impl Undo {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// The changes of the open transaction; none if no transaction is open.
    #[inline]
    pub(super) fn changes(&mut self) -> Option<&mut Changes> {
        self.0.as_deref_mut().map(|[changes]| changes).filter(|changes| changes.on)
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.0.as_deref().is_some_and(|[changes]| changes.on)
    }
}

impl Tree {
    /// Reserves the undo log's memory for one more store. The first call opens the transaction.
    pub(crate) fn prepare_undo(&mut self) -> Result<(), OutOfMemory> {
        let [changes] = match &mut self.undo.0 {
            Some(changes) => &mut **changes,
            none => &mut **none.insert(boxed([Changes::default()])?),
        };
        changes.leaves.reserve(MOST_LEAVES)?;
        // The tree may become one level higher.
        changes.inners.reserve(MOST_INNERS * (self.height + 1))?;
        if !changes.on {
            changes.on = true;
            changes.before = (self.root, self.height, self.len);
        }
        Ok(())
    }

    /// Undoes everything since the transaction was opened, and ends it.
    pub(crate) fn roll_back(&mut self) {
        let Some(changes) = self.undo.changes() else { return };
        changes.leaves.roll_back(&mut self.leaves);
        changes.inners.roll_back(&mut self.inners);
        (self.root, self.height, self.len) = changes.before;
        changes.on = false;
    }

    /// Makes everything final since the transaction was opened, and ends it.
    #[inline]
    pub(crate) fn make_final(&mut self) {
        if self.undo.is_on() {
            self.end_transaction();
        }
    }

    #[inline(never)]
    fn end_transaction(&mut self) {
        let Some(changes) = self.undo.changes() else { return };
        changes.leaves.make_final(&mut self.leaves);
        changes.inners.make_final(&mut self.inners);
        changes.on = false;
    }
}
