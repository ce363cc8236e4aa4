//! Keeping what inner nodes know of the gaps below them.
//!
//! # Invariants
//! An inner node's `gap` of a child is the longest gap below that child (M4).

use super::{Path, Tree};
use crate::node::{Edit, Extent, Shape};

impl<S: Shape> Tree<S> {
    /// A leaf's slots have changed by an edit; the longest gap that was lost reached as far as `lost`. Goes up as far as that
    /// changes what is known there.
    #[inline(always)]
    pub(super) fn gap_changed(&mut self, path: &Path, edit: &Edit, lost: Option<u64>) {
        let Some(known) = self.known_gap(path) else { return };
        // What is left of one gap is no longer than it was.
        if !edit.is_in_gap() || extent(lost) >= known {
            self.gap_changed_to(path, known, lost, edit.reach_after());
        }
    }

    /// Of a gap in the path's leaf that reached as far as `was` something is taken; what is left of it reaches as far as
    /// `left` says, if anything is.
    #[inline(always)]
    pub(super) fn gap_shortened(&mut self, path: &Path, was: u64, left: impl FnOnce() -> Option<u64>) {
        let Some(known) = self.known_gap(path) else { return };
        if Extent::of_reach(was) >= known {
            self.gap_changed_to(path, known, Some(was), left());
        }
    }

    /// A gap in the path's leaf reaches as far as `reach` now, further than what it was made of.
    #[inline(always)]
    pub(super) fn gap_lengthened(&mut self, path: &Path, reach: u64) {
        let Some(known) = self.known_gap(path) else { return };
        let longest = Extent::of_reach(reach);
        if longest > known {
            self.set_gap_above(path, path.above().len(), longest);
        }
    }

    /// The longest gap in the path's leaf, as its parent knows it; none of a leaf that is the root.
    #[inline(always)]
    fn known_gap(&self, path: &Path) -> Option<Extent> {
        let parent = path.above().last()?;
        Some(self.inner(parent.id).gap(parent.slot as usize))
    }

    /// Of the slots that came, the longest gap reaches as far as `after`; up to now, `known` was the longest in the leaf.
    #[inline(never)]
    fn gap_changed_to(&mut self, path: &Path, known: Extent, lost: Option<u64>, after: Option<u64>) {
        let mut longest = extent(after);
        if longest < known {
            let Some(lost) = lost.filter(|&lost| Extent::of_reach(lost) == known) else { return };
            let leaf = self.leaf_of(path);
            // Another as long as the one that went is enough: none is longer.
            longest = extent(leaf.longest_of(leaf.gaps(), path.whole, lost));
        }
        if longest != known {
            self.set_gap_above(path, path.above().len(), longest);
        }
    }

    /// The child that the first `depth` steps of a path lead to has `longest` as its longest gap from now on.
    pub(super) fn set_gap_above(&mut self, path: &Path, depth: usize, mut longest: Extent) {
        let steps = &path.steps()[..depth];
        for (depth, step) in steps.iter().enumerate().rev() {
            let slot = step.slot as usize;
            let known = self.inner(step.id).gap(slot);
            if known == longest {
                return;
            }
            self.inner_mut(step.id).set_gap(slot, longest);
            let Some(above) = depth.checked_sub(1).and_then(|above| steps.get(above)) else { return };
            let most = self.inner(above.id).gap(above.slot as usize);
            if longest < most {
                if known < most {
                    return;
                }
                longest = self.inner(step.id).largest_gap();
            }
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

#[inline(always)]
fn extent(reach: Option<u64>) -> Extent {
    reach.map_or(Extent::NONE, Extent::of_reach)
}
