//! Keeping summaries right (K9) where nodes were split or evened out: from there up, stopping at the first that
//! does not change.

use super::{Columns, Summaries, Tree, Way};
use crate::arena::Link;

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    /// The leaf that the way leads to has changed: tells those above.
    pub(super) fn refresh_leaf(&mut self, way: Way) {
        let Some((parent, taken)) = way.above() else { return };
        let sum = self.leaf_sum(way.end());
        self.sums.set(parent, taken, sum);
        self.refresh_above(parent);
    }

    /// The children of an inner node have changed: tells those above.
    pub(super) fn refresh_above(&mut self, link: Link) {
        let mut below = link;
        while let Some((parent, taken)) = self.above(below) {
            let total = self.inner_sum(below);
            if self.sums.get(parent, taken) == total {
                return;
            }
            self.sums.set(parent, taken, total);
            below = parent;
        }
    }
}
