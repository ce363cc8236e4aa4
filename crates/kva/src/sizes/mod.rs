//! The free blocks of a space by size, for [`Placement::BestFit`](crate::Placement::BestFit): a B+tree of keys.
//!
//! ```text
//!   by address   [3 pages at 2] [9 at 7] [3 at 20]          the gaps in the tree of regions
//!   by size      (3, 2) (3, 20) (9, 7)                      one key per block: size, then address
//! ```
//!
//! Inner nodes keep bounds of the blocks' usable sizes for each requested alignment, as the tree of regions does.
//!
//! Invariants: K11 every block has its key, and every key its block; K9 the bounds.
//!
//! Cost: O(log n) for each change. Memory: about 24 bytes for each block.

mod ascending;
mod keys;
#[cfg(test)]
mod tests;

use crate::OutOfMemory;
use crate::bplus::Tree;
use freehold_units::pool::{NO_NODE, PoolNode};
use freehold_units::{Broken, Span, check};
use keys::{SizeLeaf, WIDTH, key};

/// A leaf with fewer keys is merged with a neighbour if both together have at most [`JOINED`].
const FEW: usize = WIDTH / 4;
const JOINED: usize = WIDTH * 3 / 4;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    tree: Tree<SizeLeaf, u128>,
    len: usize,
}

impl Sizes {
    /// The keys of `blocks`, with memory reserved for `spare` changes.
    pub(crate) fn of(blocks: impl Iterator<Item = Span>, spare: usize) -> Result<Self, OutOfMemory> {
        let mut sizes = Self { tree: Tree::empty()?, len: 0 };
        for block in blocks {
            sizes.reserve(1)?;
            sizes.insert(block);
        }
        sizes.reserve(spare)?;
        Ok(sizes)
    }

    /// Reserves memory for that many changes: blocks to be cut or added.
    #[inline(never)]
    pub(crate) fn reserve(&mut self, changes: usize) -> Result<(), OutOfMemory> {
        // Cutting the middle out of a block removes one key and adds two.
        self.tree.reserve(changes.saturating_mul(2))
    }

    /// Gives the alignment `mask + 1` bounds of its own, if there is memory for them.
    pub(crate) fn learn(&mut self, mask: u64) {
        self.tree.class_made_for(mask);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes()
    }

    /// Removes `taken`, a part of the free `block`. The caller has reserved a change.
    pub(crate) fn cut(&mut self, block: Span, taken: Span) {
        self.remove(block);
        block.below(taken).into_iter().chain(block.above(taken)).for_each(|rest| self.insert(rest));
    }

    /// Adds `freed`, which is now a part of the free `block`. The caller has reserved a change.
    #[inline(never)]
    pub(crate) fn join(&mut self, block: Span, freed: Span) {
        block.below(freed).into_iter().chain(block.above(freed)).for_each(|part| self.remove(part));
        self.insert(block);
    }

    /// Adds a block. The caller has reserved a change.
    pub(crate) fn insert(&mut self, block: Span) {
        let key = key(block);
        self.len += 1;
        if self.tree.root == NO_NODE {
            self.tree.root = self.tree.take_leaf();
        }
        let path = self.tree.path_to(key);
        if self.tree.leaves[path.leaf].keys().len() < WIDTH {
            self.tree.leaves[path.leaf].insert(key);
            return self.tree.raise(&path, block.first(), block.size_saturating(), &mut ());
        }
        let id = self.tree.take_leaf();
        let mut right = SizeLeaf::VACANT;
        let left = &mut self.tree.leaves[path.leaf];
        left.move_tail(WIDTH / 2, &mut right);
        if key < right.keys()[0] {
            left.insert(key)
        } else {
            right.insert(key)
        };
        let low = right.keys()[0];
        self.tree.leaves[id] = right;
        self.tree.insert_leaf(&path, low, id);
    }

    /// Removes a block. Bounds stay, and may be too high.
    pub(crate) fn remove(&mut self, block: Span) {
        let path = self.tree.path_to(key(block));
        let leaf = &mut self.tree.leaves[path.leaf];
        leaf.remove(key(block));
        self.len -= 1;
        let left = leaf.keys().len();
        if left >= FEW || self.tree.height == 0 {
            return;
        }
        if left == 0 {
            return self.tree.remove_leaf(&path);
        }
        self.tree.join_leaf(&path, |left, right| {
            let few = left.keys().len() + right.keys().len() <= JOINED;
            if few {
                right.move_tail(0, left);
            }
            few
        });
    }

    /// Checks the bounds, and that the keys are exactly those of `blocks`, in order and where the separators say.
    ///
    /// Cost: O(n log n).
    pub(crate) fn validate(&self, blocks: impl Iterator<Item = Span>) -> Result<(), Broken> {
        let mut count = 0;
        for block in blocks {
            count += 1;
            check(self.holds(block), "K11", "every block has its key", block.first())?;
        }
        check(count == self.len, "K11", "every key has its block", 0)?;
        if self.tree.root == NO_NODE {
            return Ok(());
        }
        let (mut before, mut count) = (None, 0);
        self.tree.validate(|key| key as u64, &mut |whole| {
            for &key in self.tree.leaves[whole.leaf].keys() {
                let inside = whole.low.is_none_or(|low| low <= key) && whole.end.is_none_or(|end| key < end);
                check(inside && before < Some(key), "K8", "keys ascend, between separators", key as u64)?;
                before = Some(key);
                count += 1;
            }
            Ok(())
        })?;
        check(count == self.len, "K11", "there are as many keys as are counted", 0)
    }

    fn holds(&self, block: Span) -> bool {
        self.tree.root != NO_NODE && {
            let leaf = &self.tree.leaves[self.tree.path_to(key(block)).leaf];
            leaf.keys().binary_search(&key(block)).is_ok()
        }
    }
}
