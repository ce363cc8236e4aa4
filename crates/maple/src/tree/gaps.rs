//! Keeps the longest gap below each child up to date in inner nodes.
//!
//! # Invariants
//! An inner node's `gap` of a child is exactly the longest gap below that child (M4).

use super::{Memory, Path, Tree};
use crate::node::{Extent, Fill};
use freehold_units::Span;

impl<M: Memory> Tree<M> {
    /// Updates the ancestors after slots of the path's leaf were replaced: `lost` is the reach of the longest old gap,
    /// `made` of the longest new one.
    #[inline]
    pub(super) fn gap_replaced(&mut self, path: &Path, lost: Option<u64>, made: Option<u64>) {
        if (lost.is_some() || made.is_some())
            && let Some(known) = self.known_gap(path)
        {
            self.gap_changed(path, known, lost, extent(made));
        }
    }

    /// Updates the ancestors after an entry was put into a gap of the path's leaf.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    pub(super) fn gap_filled(&mut self, path: &Path, fill: &Fill, span: Span) {
        let Some(known) = self.known_gap(path) else { return };
        let lost = fill.reach_lost();
        if Extent::of_reach(lost) >= known {
            self.gap_changed(path, known, Some(lost), extent(fill.reach_after(span)));
        }
    }

    /// Updates the ancestors after a gap of the path's leaf grew to this reach.
    #[inline]
    pub(super) fn gap_grown(&mut self, path: &Path, reach: u64) {
        let Some(known) = self.known_gap(path) else { return };
        let longest = Extent::of_reach(reach);
        if longest > known {
            self.set_gap_above(path, path.above().len(), longest);
        }
    }

    /// The longest gap of the path's leaf in its parent's record; `None` if the leaf is the root.
    #[inline]
    fn known_gap(&self, path: &Path) -> Option<Extent> {
        let parent = path.above().last()?;
        Some(self.inner(parent.id).gap(parent.slot as usize))
    }

    /// Updates the record of the path's leaf, whose longest gap was `known`. Gaps of a reach up to `lost` were removed;
    /// the longest new gap is `made`.
    #[inline(never)]
    fn gap_changed(&mut self, path: &Path, known: Extent, lost: Option<u64>, made: Extent) {
        let mut longest = made;
        if longest < known {
            let Some(lost) = lost.filter(|&lost| Extent::of_reach(lost) >= known) else { return };
            let leaf = self.leaf_of(path);
            // Stop at another gap as long as the lost one: none is longer.
            longest = extent(leaf.longest_gap(path.whole, lost));
        }
        if longest != known {
            self.set_gap_above(path, path.above().len(), longest);
        }
    }

    /// Records `longest` as the longest gap below the child that the first `depth` steps of a path lead to, and updates
    /// the nodes above.
    pub(super) fn set_gap_above(&mut self, path: &Path, depth: usize, mut longest: Extent) {
        let steps = &path.steps()[..depth];
        for (depth, step) in steps.iter().enumerate().rev() {
            let slot = step.slot as usize;
            let known = self.inner(step.id).gap(slot);
            if known == longest {
                return;
            }
            self.set_gap(step.id, slot, longest);
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

    /// Recomputes the records along a path, from its leaf to the root.
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

#[inline]
fn extent(reach: Option<u64>) -> Extent {
    reach.map_or(Extent::NONE, Extent::of_reach)
}
