//! Keeping summaries right (K9): from a leaf up, stopping at the first that does not change.

use super::{Columns, Path, Summaries, Tree};

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    /// What its parent knows of the leaf that the path leads to; `None` if the leaf is the root.
    #[inline]
    pub(crate) fn leaf_summary(&self, path: &Path) -> Option<S::One> {
        let (parent, taken) = path.step(self.height.checked_sub(1)?);
        Some(self.inners[parent].sums.get(self.context, taken))
    }

    /// The leaf that the path leads to is now known by `one`.
    #[inline]
    pub(crate) fn set_leaf_summary(&mut self, path: &Path, one: S::One) {
        let mut now = one;
        for level in (0..self.height).rev() {
            let (link, taken) = path.step(level);
            let above = level.checked_sub(1).map(|above| path.step(above));
            let known = above.map(|(link, taken)| self.inners[link].sums.get(self.context, taken));
            let inner = &mut self.inners[link];
            let before = inner.sums.get(self.context, taken);
            if before == now {
                return;
            }
            inner.sums.set(self.context, taken, now);
            let Some(known) = known else { return };
            now = inner.sums.retotal(self.context, inner.len, known, before, now);
        }
    }

    /// The children of the inner node that the path passes at `level` have changed: tells those above.
    pub(super) fn refresh_above(&mut self, path: &Path, level: usize) {
        for below in (1..=level).rev() {
            let (link, _) = path.step(below);
            let inner = &self.inners[link];
            let total = inner.sums.total(self.context, inner.len);
            let (parent, taken) = path.step(below - 1);
            let sums = &mut self.inners[parent].sums;
            if sums.get(self.context, taken) == total {
                return;
            }
            sums.set(self.context, taken, total);
        }
    }
}
