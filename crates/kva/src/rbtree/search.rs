//! Finding the lowest block for a request, left first.
//!
//! The walk goes left while the left subtree has a block of the length searched for and the window starts
//! before the node; otherwise it tests the node exactly, goes right if there is enough, and else climbs,
//! testing each ancestor and entering its right subtree unless it lies before what is done already. (Where the
//! window starts with the very block, that subtree is entered twice, as in Linux.)

use super::{Block, Placement, RbTree};
use crate::arena::Link;
use crate::index::Want;
use freehold_units::{Align, Probe, Span, Work};

impl RbTree {
    #[inline]
    pub(crate) fn search(
        &self,
        placement: Placement,
        want: &Want,
        probe: &mut impl Probe,
    ) -> Option<(Block, Span)> {
        let (length, until) = match placement {
            Placement::Lowest => (want.size_bytes, want.window.last()),
            Placement::Linux => (self.linux_length(want), u64::MAX),
            Placement::Highest => return self.highest(self.root, want, probe),
        };
        let (block, span) = self.lowest(want, length, until, probe)?;
        // Blocks come in address order, so if the first that fits passes the window's end, so does every other.
        (span.last() <= want.window.last()).then_some((block, span))
    }

    /// The first block in address order that holds the request, among those that the walk steps on when it
    /// enters only subtrees with a block of `length` bytes, up to the first that starts above `until`. Exact if
    /// `length` is the request's size.
    #[inline]
    fn lowest(&self, want: &Want, length: u64, until: u64, probe: &mut impl Probe) -> Option<(Block, Span)> {
        let &Want { size_bytes, align, window } = want;
        let mut from = window.first();
        let mut at = self.root;
        while !at.is_none() {
            probe.count(Work::NodeVisited, 1);
            let node = &self.nodes[at];
            self.count_peek(node.left, probe);
            if from < node.span.first() && self.nodes[node.left].subtree_max_size >= length {
                at = node.left;
                continue;
            }
            if let Some(span) = node.span.lowest_fit(size_bytes, align, from) {
                return Some((Block(at), span));
            }
            if node.span.first() > until {
                return None;
            }
            self.count_peek(node.right, probe);
            if self.nodes[node.right].subtree_max_size >= length {
                at = node.right;
                continue;
            }
            loop {
                at = self.nodes[at].parent;
                if at.is_none() {
                    return None;
                }
                probe.count(Work::NodeVisited, 1);
                probe.count(Work::NodeClimbed, 1);
                let node = &self.nodes[at];
                if let Some(span) = node.span.lowest_fit(size_bytes, align, from) {
                    return Some((Block(at), span));
                }
                self.count_peek(node.right, probe);
                if from <= node.span.first() && self.nodes[node.right].subtree_max_size >= length {
                    // Everything up to this node is done: its left part must not be entered again.
                    from = node.span.first().saturating_add(1);
                    at = node.right;
                    break;
                }
            }
        }
        None
    }

    /// The mirror of the exact search: right first, the highest place of each block, as deep as the tree.
    fn highest(&self, top: Link, want: &Want, probe: &mut impl Probe) -> Option<(Block, Span)> {
        let node = &self.nodes[top];
        // The sentinel offers nothing, so an absent child ends here.
        if node.subtree_max_size < want.size_bytes {
            return None;
        }
        probe.count(Work::NodeVisited, 1);
        let (first, last) = (node.span.first(), node.span.last());
        if last < want.window.last()
            && let Some(found) = self.highest(node.right, want, probe)
        {
            return Some(found);
        }
        let fit = node.span.highest_fit(want.size_bytes, want.align, want.window.last());
        if let Some(fit) = fit.filter(|fit| fit.first() >= want.window.first()) {
            return Some((Block(top), fit));
        }
        if first > want.window.first() { self.highest(node.left, want, probe) } else { None }
    }

    #[inline]
    fn count_peek(&self, child: Link, probe: &mut impl Probe) {
        if !child.is_none() {
            probe.count(Work::ChildPeeked, 1);
        }
    }

    pub(crate) fn floor(&self, address: u64) -> Option<(Block, Span)> {
        let (mut at, mut best) = (self.root, Link::NONE);
        while !at.is_none() {
            let node = &self.nodes[at];
            if node.span.first() <= address {
                best = at;
                at = node.right;
            } else {
                at = node.left;
            }
        }
        self.block(best)
    }

    /// The length that Linux 6.12 asks of a subtree. A granule above a page stands for a machine's larger page.
    fn linux_length(&self, want: &Want) -> u64 {
        let exact_window = want.window.size_bytes() == u128::from(want.size_bytes);
        if want.align <= Align::PAGE.max(self.granule) || exact_window {
            want.size_bytes
        } else {
            // The kernel's sum wraps. A wrapped length prunes less, so the answer is still a block that fits.
            want.size_bytes.wrapping_add(want.align.mask())
        }
    }
}
