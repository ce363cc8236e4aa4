//! Checking a tree from scratch: K7, K8, K9.

use super::columns::Key;
use super::{Columns, Summaries, Tree};
use crate::arena::Link;
use crate::error::{Broken, check};

impl<C: Columns, S: Summaries<C>, const L: usize, const N: usize> Tree<C, S, L, N> {
    pub(crate) fn validate(&self) -> Result<(), Broken> {
        let mut walk = Walk { previous: Link::NONE, leaves: 0, inners: 0, entries: 0 };
        self.check_below(self.root, self.height, (C::Key::default(), C::Key::MAX), &mut walk)?;
        let end = &self.leaves[walk.previous];
        check(end.next.is_none(), "K8", "the last leaf is the end of the list", 0)?;
        check(walk.entries == self.len(), "K8", "the length is the number of entries", 0)?;
        check(walk.leaves == self.leaves.in_use(), "K7", "every leaf in use is in the tree", 0)?;
        check(walk.inners == self.inners.in_use(), "K7", "every inner node in use is in the tree", 0)
    }

    /// Checks the subtree at `link`, whose keys must lie within `bounds`; its summary.
    fn check_below(
        &self,
        link: Link,
        height: usize,
        bounds: (C::Key, C::Key),
        walk: &mut Walk,
    ) -> Result<S::One, Broken> {
        let (low, high) = bounds;
        // The root, and what order of arrival leaves behind on the right edge, may be nearly empty.
        let may_be_few = height == self.height || high == C::Key::MAX;
        let Some(below) = height.checked_sub(1) else {
            self.check_leaf(link, bounds, may_be_few, walk)?;
            return Ok(self.leaf_sum(link));
        };
        let inner = &self.inners[link];
        let few = if may_be_few { 2 } else { Self::FEW_CHILDREN };
        check((few..=N).contains(&inner.len), "K8", "an inner node is a quarter full", low.address())?;
        walk.inners += 1;
        for at in 0..inner.len {
            let knows = below == 0 || self.above(inner.children[at]) == Some((link, at));
            check(knows, "K8", "a node knows its parent", low.address())?;
            let from = if at == 0 { low } else { inner.lows[at] };
            let to = if at + 1 < inner.len { inner.lows[at + 1].before() } else { high };
            check(low <= from && from <= to && to <= high, "K8", "lows ascend", from.address())?;
            let sum = self.check_below(inner.children[at], below, (from, to), walk)?;
            check(
                sum == self.sums.get(link, at),
                "K9",
                "a child's summary is that of its entries",
                from.address(),
            )?;
        }
        Ok(self.inner_sum(link))
    }

    fn check_leaf(
        &self,
        link: Link,
        (low, high): (C::Key, C::Key),
        may_be_few: bool,
        walk: &mut Walk,
    ) -> Result<(), Broken> {
        let leaf = &self.leaves[link];
        check(may_be_few || leaf.len() >= Self::FEW_ENTRIES, "K8", "a leaf is half full", low.address())?;
        check(leaf.previous == walk.previous, "K8", "leaves are linked in order", low.address())?;
        let inside = leaf.keys().iter().all(|&key| low <= key && key <= high);
        check(inside, "K8", "a key is in its leaf", low.address())?;
        check(leaf.keys().is_sorted_by(|a, b| a < b), "K8", "keys ascend", low.address())?;
        walk.previous = link;
        walk.leaves += 1;
        walk.entries += leaf.len();
        Ok(())
    }
}

/// What a walk over the whole tree has seen.
struct Walk {
    previous: Link,
    leaves: usize,
    inners: usize,
    entries: usize,
}
