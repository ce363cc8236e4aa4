//! The words that a store removed from a tree. Their values are dropped once the tree is whole again.

use super::path::MAX_HEIGHT;
use super::{Memory, NodePool, Tree};
use crate::entry::Word;
use crate::node::{NodeId, SLOTS};
use arrayvec::ArrayVec;

/// Subtrees that one store can remove on every level: up to fifteen children on either side.
pub(crate) const MOST_SUBTREES_PER_LEVEL: usize = 2 * 15;
/// Words that one store can remove from leaves that stay in the tree: those of at most two leaves.
pub(crate) const MOST_WORDS: usize = 2 * SLOTS;

/// A subtree that has left the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subtree {
    pub(crate) id: NodeId,
    /// Its levels.
    pub(crate) height: u8,
}

/// The words that one store removed from leaves that stay in the tree.
pub(crate) type Words = ArrayVec<Word, MOST_WORDS>;
/// The subtrees that one store removed, with room for the children of one of them on every level.
pub(crate) type Subtrees = ArrayVec<Subtree, { (MOST_SUBTREES_PER_LEVEL + 16) * MAX_HEIGHT }>;

impl<M: Memory> Tree<M> {
    /// The next removed word. A node is freed before its words are handed over, so that the tree stays whole if a
    /// value's drop panics.
    pub(crate) fn next_removed(&mut self, words: &mut Words, subtrees: &mut Subtrees) -> Option<Word> {
        loop {
            if let Some(word) = words.pop() {
                return Some(word);
            }
            let Subtree { id, height } = subtrees.pop()?;
            if height == 1 {
                words.extend(self.leaf(id).words(0..SLOTS).rev());
                self.leaves.give_back(id);
            } else {
                let inner = self.inner(id);
                let children = (0..inner.len()).map(|slot| inner.child(slot));
                subtrees.extend(children.map(|id| Subtree { id, height: height - 1 }));
                self.inners.give_back(id);
            }
        }
    }

    /// Entries of a subtree.
    pub(super) fn count_entries(&self, subtree: Subtree) -> u64 {
        let Subtree { id, height } = subtree;
        if height == 1 {
            return self.leaf(id).entries() as u64;
        }
        let inner = self.inner(id);
        (0..inner.len())
            .map(|slot| self.count_entries(Subtree { id: inner.child(slot), height: height - 1 }))
            .sum()
    }
}
