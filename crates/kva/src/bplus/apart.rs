//! Keeping leaves apart, for trees whose entries are ranges: what reaches up from one leaf ends below where the
//! next is said to start, so that the way to an address leads to the leaf of the range that holds it.

use super::{Columns, Summaries, Tree, Way};

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    /// The last range of the leaf reaches up to `reach`, which is below the next leaf's first key. If the next
    /// leaf is said to start at or below that, it is now said to start at its first key.
    pub(crate) fn keep_apart(&mut self, way: Way, reach: C::Key) {
        let (mut above, mut height) = (way.above(), 0);
        while let Some((link, taken)) = above {
            let inner = &self.inners[link];
            let next = taken + 1;
            if next < inner.len {
                if inner.lows[next] <= reach {
                    let mut child = inner.children[next];
                    let after = self.leaves[way.end()].next;
                    let low = self.leaves[after].keys().first().copied().unwrap_or(reach);
                    self.inners[link].lows[next] = low;
                    for _ in 0..height {
                        self.inners[child].lows[0] = low;
                        child = self.inners[child].children[0];
                    }
                }
                return;
            }
            above = self.above(link);
            height += 1;
        }
    }
}
