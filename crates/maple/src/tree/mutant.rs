//! A writer that is deliberately wrong: tests must catch it.

use super::{InnerPool, Memory, Tree};
use crate::node::NodeId;
use std::cell::Cell;

std::thread_local! {
    /// Whether this thread's writers share each node whose content is the same in the old tree and the new one, even if
    /// its index range differs.
    pub(crate) static SHARES_EQUAL_COPIES: Cell<bool> = const { Cell::new(false) };
}

impl<M: Memory> Tree<M> {
    /// Frees each copy in the open version that has the same content as a node that left.
    pub(super) fn share_equal_copies(&mut self) {
        if SHARES_EQUAL_COPIES.get() && self.height > 1 {
            self.share_below(self.root, self.height);
        }
    }

    fn share_below(&mut self, id: NodeId, height: usize) {
        for slot in 0..self.inner(id).len() {
            let child = self.inner(id).child(slot);
            if height > 2 {
                self.share_below(child, height - 1);
            }
            let Some(version) = self.version.open_mut() else { return };
            let original = if height == 2 {
                let leaf = std::format!("{:?}", self.leaves[child]);
                version
                    .leaves
                    .gone()
                    .iter()
                    .copied()
                    .find(|&id| std::format!("{:?}", self.leaves[id]) == leaf)
            } else {
                let inner = std::format!("{:?}", self.inners[child]);
                version
                    .inners
                    .gone()
                    .iter()
                    .copied()
                    .find(|&id| std::format!("{:?}", self.inners[id]) == inner)
            };
            let Some(original) = original else { continue };
            let is_given_back = if height == 2 {
                version.leaves.give_copy_back(&mut self.leaves, child, original)
            } else {
                version.inners.give_copy_back(&mut self.inners, child, original)
            };
            if is_given_back {
                self.inners.set_child(id, slot, original);
            }
        }
    }
}
