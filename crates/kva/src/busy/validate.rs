//! Checking the busy index from scratch: K8.

use super::BusyIndex;
use crate::arena::Link;
use crate::error::{Broken, check};

impl<V, const W: usize> BusyIndex<V, W> {
    pub(crate) fn validate(&self) -> Result<(), Broken> {
        let mut walk = Walk { previous: Link::NONE, leaves: 0, inners: 0, regions: 0 };
        self.check_below(self.root, self.height, (0, u64::MAX), &mut walk)?;
        let end = &self.leaves[walk.previous];
        check(end.next.is_none(), "K8", "the last leaf is the end of the list", 0)?;
        check(walk.regions == self.len, "K8", "the length is the number of regions", 0)?;
        check(walk.leaves == self.leaves.in_use(), "K7", "every leaf in use is in the tree", 0)?;
        check(walk.inners == self.inners.in_use(), "K7", "every inner node in use is in the tree", 0)
    }

    /// Checks the subtree at `link`, whose regions must start within `bounds`.
    fn check_below(
        &self,
        link: Link,
        height: usize,
        bounds: (u64, u64),
        walk: &mut Walk,
    ) -> Result<(), Broken> {
        let (low, high) = bounds;
        let is_root = height == self.height;
        // What order of arrival leaves behind on the right edge may be nearly empty.
        let at_edge = high == u64::MAX;
        let Some(below) = height.checked_sub(1) else {
            let leaf = &self.leaves[link];
            check(
                is_root || at_edge || leaf.len() >= Self::FEW_REGIONS,
                "K8",
                "a leaf is a quarter full",
                low,
            )?;
            check(leaf.previous == walk.previous, "K8", "leaves are linked in order", low)?;
            for at in 0..leaf.len() {
                let Some(span) = leaf.span(at) else { return check(false, "K8", "a region is a span", low) };
                check(low <= span.first() && span.first() <= high, "K8", "a region is in its leaf", low)?;
                let after = leaf.span(at + 1).is_none_or(|next| span.last() < next.first());
                check(after, "K4", "regions ascend and are disjoint", span.first())?;
            }
            walk.previous = link;
            walk.leaves += 1;
            walk.regions += leaf.len();
            return Ok(());
        };
        let inner = &self.inners[link];
        let few = if is_root || at_edge { 2 } else { Self::FEW_CHILDREN };
        check((few..=W).contains(&inner.len), "K8", "an inner node is a quarter full", low)?;
        walk.inners += 1;
        for at in 0..inner.len {
            let from = if at == 0 { low } else { inner.lows[at] };
            let to = if at + 1 < inner.len { inner.lows[at + 1] - 1 } else { high };
            check(low <= from && from <= to && to <= high, "K8", "lows ascend", from)?;
            self.check_below(inner.children[at], below, (from, to), walk)?;
        }
        Ok(())
    }
}

/// What a walk over the whole tree has seen.
struct Walk {
    previous: Link,
    leaves: usize,
    inners: usize,
    regions: usize,
}
