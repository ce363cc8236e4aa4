//! Keeping leaves apart, for trees whose entries are ranges: what reaches up from one leaf ends below where the
//! next is said to start, so that the way to an address leads to the leaf of the range that holds it.

use super::{Columns, Path, Summaries, Tree};

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    /// The last range of the leaf reaches up to `reach`, which is below the next leaf's first key. If the next
    /// leaf is said to start at or below that, it is now said to start at its first key.
    pub(crate) fn keep_apart(&mut self, path: &Path, reach: C::Key) {
        for level in (0..self.height).rev() {
            let (link, taken) = path.step(level);
            let next = taken + 1;
            let inner = &self.inners[link];
            if next == inner.len {
                continue;
            }
            if inner.lows[next] <= reach {
                let mut child = inner.children[next];
                let after = self.leaves[path.leaf].next;
                let low = self.leaves[after].keys().first().copied().unwrap_or(reach);
                self.inners[link].lows[next] = low;
                for _ in level + 1..self.height {
                    self.inners[child].lows[0] = low;
                    child = self.inners[child].children[0];
                }
            }
            return;
        }
    }
}
