//! What a store took out of a tree: words whose values are to be dropped, once the tree is whole again.

use super::Tree;
use super::path::MAX_HEIGHT;
use crate::entry::Word;
use crate::node::{NodeId, Shape};
use arrayvec::ArrayVec;

/// Subtrees that one store can take out: on either side of every level up to fifteen children.
pub(crate) const MOST_SUBTREES: usize = 2 * 15 * MAX_HEIGHT;
/// Words that it can take out of leaves that stay: of two leaves at most.
pub(crate) const MOST_WORDS: usize = 64;

/// A subtree that is not in the tree any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subtree {
    pub(crate) id: NodeId,
    /// Its levels.
    pub(crate) height: u8,
}

/// The words that one store took out of leaves that stay.
pub(crate) type Words = ArrayVec<Word, MOST_WORDS>;
/// The subtrees that it took out.
pub(crate) type Subtrees = ArrayVec<Subtree, MOST_SUBTREES>;

impl<S: Shape> Tree<S> {
    /// Gives a subtree's nodes back and its words to `each`, leaf by leaf; a leaf is let go of before `each` has its
    /// words.
    pub(crate) fn dissolve(&mut self, subtree: Subtree, each: &mut impl FnMut(Words)) {
        let Subtree { id, height } = subtree;
        if height == 1 {
            let words = self.leaf(id).words().iter().copied().collect();
            self.leaves.give_back(id);
            each(words);
            return;
        }
        for slot in 0..self.inner(id).len() {
            let child = self.inner(id).child(slot);
            self.dissolve(Subtree { id: child, height: height - 1 }, each);
        }
        self.inners.give_back(id);
    }

    /// Entries of a subtree.
    pub(super) fn weigh(&self, subtree: Subtree) -> u64 {
        let Subtree { id, height } = subtree;
        if height == 1 {
            return self.leaf(id).entries() as u64;
        }
        let inner = self.inner(id);
        (0..inner.len()).map(|slot| self.weigh(Subtree { id: inner.child(slot), height: height - 1 })).sum()
    }
}
