//! Stores that end in another leaf than they begin in.
//!
//! ```text
//!             first |<------------- store ------------->| last
//!   ... | left leaf |  leaf  |  leaf  |  ...  |  leaf  | right leaf | ...
//!            \___ its slot at `first` is stretched ___/  begins behind `last`
//! ```
//!
//! 1. Everything between the two leaves is removed, level by level up to the fork: the lowest node that both paths pass
//!    through. The left leaf's slot now reaches to `last`. This takes no node.
//! 2. The store is made in the left leaf like any other. It may split the leaf.
//! 3. Underfull nodes on either side are refilled or merged.

use super::removed::{Subtree, Subtrees, Words};
use super::{Memory, Need, Path, Tree, indexes};
use crate::node::{NodeId, SLOTS};
use core::ops::Range;
use freehold_units::Span;

impl<M: Memory> Tree<M> {
    /// The nodes that a spanning store takes.
    pub(super) fn need_of_spanning(&self, path: &Path, span: Span) -> Need {
        let leaf = self.leaf_of(path);
        let slot = path.leaf().slot as usize;
        let start = leaf.span(slot, path.whole).0;
        // After the store, the leaf has the slots before this one, the rest of this one, and the new slot.
        if slot + 1 + usize::from(start < span.first()) <= self.limits.leaf_slots {
            return Need::default();
        }
        let mut right = Path::new();
        self.walk(span.last(), &mut right);
        let fork = fork(path, &right);
        let gone = usize::from(self.is_gone(&right, fork, span.last()));
        self.need_of_split(path.above(), |depth, len| {
            let slot = path.steps()[depth].slot as usize;
            match depth.cmp(&fork) {
                core::cmp::Ordering::Less => len,
                core::cmp::Ordering::Equal => len - (right.steps()[depth].slot as usize + gone - slot - 1),
                core::cmp::Ordering::Greater => slot + 1,
            }
        })
    }

    /// Whether the fork's child on the right path ends at the store's last index. Nothing remains of that child then.
    fn is_gone(&self, right: &Path, fork: usize, last: u64) -> bool {
        let below = right.above().get(fork + 1..).unwrap_or(&[]);
        right.whole.last() == last
            && below.iter().all(|step| step.slot as usize + 1 == self.inner(step.id).len())
    }

    /// Removes everything between the path's slot and the store's last index, and makes the slot reach to that index.
    pub(super) fn clear_behind(
        &mut self,
        path: &mut Path,
        span: Span,
        words: &mut Words,
        subtrees: &mut Subtrees,
    ) {
        let last = span.last();
        self.thaw(path);
        // The nodes of the right path that stay contain the index after the store.
        if let Some(behind) = last.checked_add(1) {
            self.thaw_at(behind);
        }
        let mut right = Path::new();
        self.walk(last, &mut right);
        let fork = fork(path, &right);
        let gone = self.clear_right(&right, fork, last, words, subtrees);
        self.clear_left(path, fork, words, subtrees);

        let (left_slot, right_slot) = (path.steps()[fork].slot as usize, right.steps()[fork].slot as usize);
        let id = path.steps()[fork].id;
        self.take_children(id, fork, left_slot + 1, right_slot + usize::from(gone), subtrees);
        self.inner_mut(id).set_pivot(left_slot, last);
        for &subtree in subtrees.iter() {
            self.len -= self.count_entries(subtree);
        }
        path.whole = indexes(path.whole.first(), last);
        self.refresh_gaps(path);
        if let Some(behind) = last.checked_add(1) {
            self.walk(behind, &mut right);
            self.refresh_gaps(&right);
        }
    }

    /// Below the fork, removes the children to the left of the right path, and the slots of its leaf up to `last`.
    /// Returns `true` if nothing would remain of the fork's child on that path: the child is unchanged then, and the
    /// caller removes it.
    fn clear_right(
        &mut self,
        right: &Path,
        fork: usize,
        last: u64,
        words: &mut Words,
        subtrees: &mut Subtrees,
    ) -> bool {
        let step = right.leaf();
        let mut gone = right.whole.last() == last;
        if !gone {
            let leaf = self.leaf(step.id);
            let slot = step.slot as usize;
            let kept = slot + usize::from(leaf.span(slot, right.whole).1 == last);
            self.take_words(step.id, 0..kept, words);
            self.leaf_mut(step.id).keep_from(kept);
        }
        for (depth, step) in right.above().iter().enumerate().skip(fork + 1).rev() {
            let to = step.slot as usize + usize::from(gone);
            gone = to == self.inner(step.id).len();
            if !gone {
                self.take_children(step.id, depth, 0, to, subtrees);
            }
        }
        gone
    }

    /// Below the fork, removes the children to the right of the left path, and the slots after the path's in its leaf.
    fn clear_left(&mut self, path: &Path, fork: usize, words: &mut Words, subtrees: &mut Subtrees) {
        let step = path.leaf();
        self.take_words(step.id, step.slot as usize + 1..SLOTS, words);
        self.leaf_mut(step.id).keep_to(step.slot as usize);
        for (depth, step) in path.above().iter().enumerate().skip(fork + 1).rev() {
            let len = self.inner(step.id).len();
            self.take_children(step.id, depth, step.slot as usize + 1, len, subtrees);
        }
    }

    /// Removes the entries of some slots of a leaf from the count, and takes their words.
    pub(super) fn take_words(&mut self, id: NodeId, slots: Range<usize>, words: &mut Words) {
        let known = words.len();
        words.extend(self.leaf(id).words(slots));
        self.len -= (words.len() - known) as u64;
    }

    /// Removes children `from..to` of an inner node at `depth`.
    fn take_children(&mut self, id: u32, depth: usize, from: usize, to: usize, subtrees: &mut Subtrees) {
        if from >= to {
            return;
        }
        let height = (self.height - depth - 1) as u8;
        let inner = self.inner_mut(id);
        subtrees.extend((from..to).map(|slot| Subtree { id: inner.child(slot), height }));
        inner.remove(from, to);
    }
}

/// The depth of the lowest node that both paths pass through.
pub(crate) fn fork(left: &Path, right: &Path) -> usize {
    let parted = left.above().iter().zip(right.above()).position(|(a, b)| a.slot != b.slot);
    parted.expect("M1: two leaves have parted paths")
}
