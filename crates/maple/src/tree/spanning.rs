//! Stores that end in another leaf than they begin in.
//!
//! ```text
//!             first |<------------- store ------------->| last
//!   ... | left leaf |  leaf  |  leaf  |  ...  |  leaf  | right leaf | ...
//!            \___ its slot at `first` is stretched ___/  begins behind `last`
//! ```
//!
//! All between the two is taken out, level by level up to the node that both paths pass; the left leaf's slot, stretched
//! to `last`, is then stored over like any other. Nothing so far takes a node. The leaf may be split by that store,
//! when its parents have lost children already; only then are thin nodes on either side filled up.

use super::removed::{Subtree, Subtrees, Words};
use super::{Need, Path, Tree, indexes};
use freehold_units::Span;

impl Tree {
    /// The nodes that a spanning store takes.
    pub(super) fn need_of_spanning(&self, path: &Path, span: Span, entry: bool) -> Need {
        let leaf = self.leaf_of(path);
        let slot = path.leaf().slot as usize;
        let start = leaf.span(slot, path.whole).0;
        // Afterwards the leaf has the slots before, what is left of this one, and the new one.
        let slots = slot + 1 + usize::from(start < span.first());
        let entries =
            leaf.rank(slot) + usize::from(start < span.first() && leaf.has_entry(slot)) + usize::from(entry);
        if slots - 1 + entries <= self.limits.leaf_words {
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

    /// Whether the child that `right` goes on to at depth `fork` ends where the store does: nothing is left of it.
    fn is_gone(&self, right: &Path, fork: usize, last: u64) -> bool {
        let below = right.above().get(fork + 1..).unwrap_or(&[]);
        right.whole.last() == last
            && below.iter().all(|step| step.slot as usize + 1 == self.inner(step.id).len())
    }

    /// Takes out everything behind the first slot up to the store's last index; that slot is stretched to there.
    pub(super) fn clear_behind(
        &mut self,
        path: &mut Path,
        span: Span,
        words: &mut Words,
        subtrees: &mut Subtrees,
    ) {
        let last = span.last();
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

    /// Below the fork, takes out what the right path has before it, and its leaf's slots up to `last`. True if
    /// nothing is left of the fork's child; that child is untouched then.
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
            let ranks = leaf.rank(kept);
            words.extend((0..ranks).map(|rank| leaf.ranked(rank)));
            self.len -= ranks as u64;
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

    /// Below the fork, takes out what the left path has behind it, and its leaf's slots behind the path's.
    fn clear_left(&mut self, path: &Path, fork: usize, words: &mut Words, subtrees: &mut Subtrees) {
        let step = path.leaf();
        let leaf = self.leaf(step.id);
        let ranks = leaf.rank(step.slot as usize + 1)..leaf.entries();
        words.extend(ranks.clone().map(|rank| leaf.ranked(rank)));
        self.len -= ranks.len() as u64;
        self.leaf_mut(step.id).keep_to(step.slot as usize);
        for (depth, step) in path.above().iter().enumerate().skip(fork + 1).rev() {
            let len = self.inner(step.id).len();
            self.take_children(step.id, depth, step.slot as usize + 1, len, subtrees);
        }
    }

    /// Takes children `from..to` out of an inner node at `depth`.
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

/// The depth of the last node that both paths pass.
pub(crate) fn fork(left: &Path, right: &Path) -> usize {
    let parted = left.above().iter().zip(right.above()).position(|(a, b)| a.slot != b.slot);
    parted.expect("M1: two leaves have parted paths")
}
