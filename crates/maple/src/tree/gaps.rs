//! Keeping what inner nodes know of the gaps below them.
//!
//! # Invariants
//! An inner node's `gap` of a child is the longest gap below that child (M4).

use super::{Path, Tree};
use crate::node::{Extent, Shape};

impl<S: Shape> Tree<S> {
    /// A leaf's slots have changed: of those that made way, `before` was the longest gap; of those that came,
    /// `after`. Goes up as far as that changes what is known there.
    #[inline]
    pub(super) fn gap_changed(&mut self, path: &Path, before: Extent, after: Extent) {
        let Some((parent, _)) = path.above().split_last() else { return };
        let known = self.inner(parent.id).gap(parent.slot as usize);
        let longest = if after >= known {
            after
        } else if before == known {
            self.leaf_of(path).largest_gap(path.whole)
        } else {
            return;
        };
        self.set_gap_above(path, path.above().len(), longest);
    }

    /// The child that the first `depth` steps of a path lead to has `longest` as its longest gap from now on.
    pub(super) fn set_gap_above(&mut self, path: &Path, depth: usize, longest: Extent) {
        let mut longest = longest;
        for step in path.steps()[..depth].iter().rev() {
            let slot = step.slot as usize;
            let inner = self.inner(step.id);
            let known = inner.gap(slot);
            if known == longest {
                return;
            }
            let inner = self.inner_mut(step.id);
            inner.set_gap(slot, longest);
            longest = inner.largest_gap();
        }
    }

    /// Recomputes what is known along a path, from its leaf to the root.
    pub(super) fn refresh_gaps(&mut self, path: &Path) {
        let mut longest = self.leaf_of(path).largest_gap(path.whole);
        for step in path.above().iter().rev() {
            let slot = step.slot as usize;
            if self.inner(step.id).gap(slot) != longest {
                self.inner_mut(step.id).set_gap(slot, longest);
            }
            longest = self.inner(step.id).largest_gap();
        }
    }
}
