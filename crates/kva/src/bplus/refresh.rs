//! Keeping summaries right (K9) where nodes were split or evened out: from there up, stopping at the first that
//! does not change.

use super::{Columns, Path, Summaries, Tree};

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    /// The leaf that the path leads to has changed: tells those above.
    #[cfg(test)]
    pub(super) fn refresh_leaf(&mut self, path: &Path) {
        let Some(level) = self.height.checked_sub(1) else { return };
        let ((parent, taken), sum) = (path.step(level), self.leaf_sum(path.leaf));
        self.inners[parent].sums.set(self.context, taken, sum);
        self.refresh_above(path, level);
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
