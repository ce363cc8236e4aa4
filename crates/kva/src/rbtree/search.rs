//! Finding the lowest block for a request, left first.
//!
//! The walk goes left while the left subtree has a block of the length searched for and the window starts
//! before the node; otherwise it tests the node exactly, goes right if there is enough, and else climbs,
//! testing each ancestor and entering its right subtree unless it lies before what is done already. (Where the
//! window starts with the very block, that subtree is entered twice, as in Linux.)

use super::hot::Hot;
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
        let (link, span, none_below) = match placement {
            Placement::Lowest => {
                if let Some(found) = self.in_hot_block(want, probe) {
                    return Some(found);
                }
                let (link, span) = self.lowest(want, want.size_bytes, want.window.last(), probe)?;
                (link, span, self.none_below(want))
            }
            Placement::Linux => {
                let (link, span) = self.linux(want, probe)?;
                (link, span, Hot::UNKNOWN)
            }
            Placement::Highest => return self.highest(self.root, want, probe),
        };
        // Blocks come in address order, so if the first that fits passes the window's end, so does every other.
        (span.last() <= want.window.last()).then_some((Block { link, none_below }, span))
    }

    /// The first block in address order that holds the request, among those that the walk steps on when it
    /// enters only subtrees with a block of `length` bytes, up to the first that starts above `until`. Exact if
    /// `length` is the request's size.
    #[inline]
    fn lowest(&self, want: &Want, length: u64, until: u64, probe: &mut impl Probe) -> Option<(Link, Span)> {
        self.walk(want, length, until, |link| self.nodes[link].subtree_max_size, probe)
    }

    /// [`RbTree::lowest`], as the kernel asks for it: while a node is pending, which it does not know of, by the
    /// maxima that will be.
    #[inline]
    fn linux(&self, want: &Want, probe: &mut impl Probe) -> Option<(Link, Span)> {
        let length = self.linux_length(want);
        if self.pending.is_none() {
            self.lowest(want, length, u64::MAX, probe)
        } else {
            self.walk(want, length, u64::MAX, |link| self.settled_max(link), probe)
        }
    }

    #[inline]
    fn walk(
        &self,
        want: &Want,
        length: u64,
        until: u64,
        max: impl Fn(Link) -> u64,
        probe: &mut impl Probe,
    ) -> Option<(Link, Span)> {
        let &Want { size_bytes, align, window } = want;
        let mut from = window.first();
        let mut at = self.root;
        while !at.is_none() {
            probe.count(Work::NodeVisited, 1);
            let node = &self.nodes[at];
            self.count_peek(node.left, probe);
            if from < node.span.first() && max(node.left) >= length {
                at = node.left;
                continue;
            }
            if let Some(span) = node.span.lowest_fit(size_bytes, align, from) {
                return Some((at, span));
            }
            if node.span.first() > until {
                return None;
            }
            self.count_peek(node.right, probe);
            if max(node.right) >= length {
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
                    return Some((at, span));
                }
                self.count_peek(node.right, probe);
                if from <= node.span.first() && max(node.right) >= length {
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
            return Some((Block { link: top, none_below: Hot::UNKNOWN }, fit));
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
