//! The splay tree that the talk's speaker measured and did not show ("not a way forward"): free blocks by address
//! in a tree that keeps no balance, but moves whatever is used to its root.
//!
//! Each node knows the largest block of its subtree, as in the red-black tree of the talk. A node rises two levels
//! at a time, so that whatever lay on its path ends up about half as deep:
//!
//! ```text
//!          g                    x                g                      x
//!         / \                  / \              / \                   /   \
//!        p   D                A   p            p   D                p       g
//!       / \        -->           / \          / \        -->       / \     / \
//!      x   C                    B   g        A   x                A   B   C   D
//!     / \                          / \          / \
//!    A   B                        C   D        B   C
//!     in line: p over g first, then x over p      in a bend: x over p, then x over g
//! ```
//!
//! So everything happens at the root. For a request whose window starts within the space, the block at that start
//! rises first, so that all that may serve it lies to the right; then the lowest block with enough room rises, and
//! is cut. For a freed span the block before it rises, and to merge with both neighbours the one after it as well,
//! to the root's right.
//!
//! It splays bottom-up along a path that is written down: nodes have no parent, nothing recurses however deep a path
//! is, and every rotation leaves the maxima right. (Top-down they could be put right only in a second pass.)
//!
//! Answers are the exact lowest, for alignments as well: blocks that are large enough but badly placed rise one
//! after the other. Cost: amortised O(log blocks) nodes, and as many rotations, for each block that rises; a single
//! operation may touch every block, and finding writes. Memory: 32 bytes per block at the most there were, and 4 per
//! node of the longest path. Regions are in a `BTreeMap`, which costs about what the B+tree of a space does.
//!
//! Source: the talk; Sleator and Tarjan, "Self-adjusting binary search trees", 1985.

mod carve;
mod node;
mod release;
mod rise;
mod search;
#[cfg(test)]
mod tests;
mod validate;

use super::memory::btreemap_bytes;
use super::regions::check_apart;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};
use node::{Link, Node, Nodes};
use std::collections::BTreeMap;

/// Live regions that there can be. There are at most as many blocks, and one more for each span of the layout, so
/// links of 32 bits name them all.
const MOST_REGIONS: usize = 1 << 31;

/// Lowest address first over a splay tree of free blocks.
#[derive(Clone, Debug)]
pub struct Splay {
    tree: Tree,
    /// First to last address of each region.
    busy: BTreeMap<u64, u64>,
    granule: Align,
    /// The lowest address of the layout.
    lowest: u64,
}

/// Free blocks in address order, each knowing the largest below it.
#[derive(Clone, Debug)]
struct Tree {
    nodes: Nodes,
    root: Link,
    /// The nodes of the last descent, from the top down.
    path: Vec<Link>,
}

impl Splay {
    /// A space of the given spans.
    ///
    /// # Errors
    /// Two of them overlap.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let mut tree = Tree { nodes: Nodes::new(), root: Link::NONE, path: Vec::new() };
        for &span in layout {
            tree.release(span, &mut ()).map_err(|block| format!("{span} overlaps {block}"))?;
        }
        let lowest = layout.iter().map(|span| span.first()).min().unwrap_or(0);
        Ok(Self { tree, busy: BTreeMap::new(), granule, lowest })
    }
}

impl Tree {
    fn ascending(&self) -> impl Iterator<Item = &Node> {
        let mut above = Vec::new();
        let mut at = self.root;
        std::iter::from_fn(move || {
            // A sound tree has no more above a node than it has nodes.
            while !at.is_none() && above.len() < self.nodes.in_use() {
                above.push(at);
                at = self.nodes[at].left;
            }
            let node = &self.nodes[above.pop()?];
            at = node.right;
            Some(node)
        })
    }

    fn bytes(&self) -> usize {
        self.nodes.bytes() + self.path.capacity() * size_of::<Link>()
    }
}

impl Engine for Splay {
    #[inline]
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        if self.busy.len() >= MOST_REGIONS {
            return None;
        }
        // A window that starts where the space does keeps nothing out.
        let from = Some(window.first()).filter(|&first| first > self.lowest);
        let span = self.tree.raise_fit(size_bytes, align.max(self.granule), from, window.last(), probe)?;
        self.tree.carve_root(span, probe);
        self.busy.insert(span.first(), span.last());
        Some(span.first())
    }

    #[inline]
    fn free(&mut self, first: u64, probe: &mut impl Probe) -> bool {
        let span = self.busy.remove(&first).and_then(|last| Span::new(first, last));
        span.is_some_and(|span| self.tree.release(span, probe).is_ok())
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.tree.ascending().map(|node| node.span).for_each(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.tree.bytes() + btreemap_bytes(self.busy.len(), 16)
    }

    fn free_index_bytes(&self) -> Option<usize> {
        Some(self.tree.bytes())
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        self.tree.validate()?;
        let free = self.tree.ascending().map(|node| (node.span.first(), node.span.last()));
        check_apart(free.chain(self.busy.iter().map(|(&first, &last)| (first, last))))
    }
}
