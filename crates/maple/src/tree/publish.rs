//! What a shared tree needs of a version: what it leaves behind is handed over, not reused.

use super::{Memory, NodePool, StorePlan, Subtree, Subtrees, Tree, Words};
use crate::entry::Word;
use crate::node::NodeId;

/// What a published version leaves behind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Retired {
    Leaf(NodeId),
    Inner(NodeId),
    Word(Word),
}

impl<M: Memory> Tree<M> {
    /// Does a store that was planned in the open version.
    pub(crate) fn store_in_version(
        &mut self,
        plan: &mut StorePlan,
        entry: Option<Word>,
        duplicate: impl FnOnce(Word) -> Word,
        words: &mut Words,
        subtrees: &mut Subtrees,
    ) {
        if plan.is_spanning() {
            self.commit_spanning(plan, entry, words, subtrees);
        } else {
            self.thaw(&mut plan.path);
            self.commit(plan, entry, duplicate, words);
        }
    }

    /// How many nodes of its base the open version does not have any more, but for those of subtrees that were removed whole.
    pub(crate) fn gone_len(&self) -> usize {
        self.version.open().map_or(0, |version| version.leaves.gone_len() + version.inners.gone_len())
    }

    /// Makes the version the tree, as [`commit_version`](Self::commit_version) does, but hands over the nodes that its base
    /// alone has.
    pub(crate) fn publish_version(&mut self, retire: &mut impl FnMut(Retired)) {
        let Some(version) = self.version.open_mut() else { return };
        version.leaves.commit(|id| retire(Retired::Leaf(id)));
        version.inners.commit(|id| retire(Retired::Inner(id)));
        version.close();
    }

    /// Hands over every node and every word of a subtree that was removed.
    pub(crate) fn retire_subtree(&self, subtree: Subtree, retire: &mut impl FnMut(Retired)) {
        let Subtree { id, height } = subtree;
        if height == 1 {
            self.leaf(id).words().iter().for_each(|&word| retire(Retired::Word(word)));
            return retire(Retired::Leaf(id));
        }
        let inner = self.inner(id);
        for slot in 0..inner.len() {
            self.retire_subtree(Subtree { id: inner.child(slot), height: height - 1 }, retire);
        }
        retire(Retired::Inner(id));
    }

    /// Makes a leaf vacant that nobody can reach any more.
    pub(crate) fn reuse_leaf(&mut self, id: NodeId) {
        self.leaves.give_back(id);
    }

    /// Makes an inner node vacant that nobody can reach any more.
    pub(crate) fn reuse_inner(&mut self, id: NodeId) {
        self.inners.give_back(id);
    }
}
