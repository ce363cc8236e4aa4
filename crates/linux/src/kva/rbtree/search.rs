//! Finds the lowest block for a request, left first.
//!
//! The walk goes left while the left subtree has a block of the length and the window starts before the node. Otherwise
//! it tests the node exactly, and goes right if that subtree has a long enough block. Else it climbs, tests each
//! ancestor and enters its right subtree, unless that is already done. (If the window starts exactly at a block, that
//! subtree is entered twice, as in Linux.)

use super::hot::Hot;
use super::node::Link;
use super::{Block, Placement, Policy, RbTree};
use freehold_kva::CheckedRequest;
use freehold_units::{Align, Probe, Span, Work};

impl<P: Policy> RbTree<P> {
    #[inline]
    pub(in crate::kva) fn find_block(
        &self,
        placement: Placement,
        request: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<(Block, Span)> {
        let (link, span, no_fit_below) = match placement {
            Placement::Lowest => {
                if P::HOT_BLOCK
                    && let Some(found) = self.in_hot_block(request, probe)
                {
                    return Some(found);
                }
                let (link, span) = self.lowest(request, request.size_bytes, request.window.last(), probe)?;
                (link, span, self.no_fit_below(request))
            }
            Placement::Linux => {
                let (link, span) = self.linux(request, probe)?;
                (link, span, Hot::UNKNOWN)
            }
            Placement::Highest => return self.highest(self.root, request, probe),
        };
        // Blocks come in address order, so if the first that fits passes the window's end, so does every other.
        (span.last() <= request.window.last()).then_some((Block { link, no_fit_below }, span))
    }

    /// The first block in address order that can hold the request, among those that the walk visits. It enters only
    /// subtrees with a block of `length` bytes, and stops at the first block that starts above `until`. Exact if
    /// `length` is the request's size.
    #[inline]
    fn lowest(
        &self,
        request: &CheckedRequest,
        length: u64,
        until: u64,
        probe: &mut impl Probe,
    ) -> Option<(Link, Span)> {
        self.walk(request, length, until, |link| self.nodes[link].subtree_max_size, probe)
    }

    /// [`RbTree::lowest`] with the kernel's length. The kernel has no pending nodes, so while one is pending the walk
    /// uses the maxima that the fix-up will store.
    #[inline]
    fn linux(&self, request: &CheckedRequest, probe: &mut impl Probe) -> Option<(Link, Span)> {
        let length = self.linux_length(request);
        if !P::LAZY_FIXUPS || self.pending.is_none() {
            self.lowest(request, length, u64::MAX, probe)
        } else {
            self.walk(request, length, u64::MAX, |link| self.settled_max(link), probe)
        }
    }

    #[inline]
    fn walk(
        &self,
        request: &CheckedRequest,
        length: u64,
        until: u64,
        max: impl Fn(Link) -> u64,
        probe: &mut impl Probe,
    ) -> Option<(Link, Span)> {
        let &CheckedRequest { size_bytes, align, window } = request;
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
                    // All blocks up to this node are done: its left part must not be entered again.
                    from = node.span.first().saturating_add(1);
                    at = node.right;
                    break;
                }
            }
        }
        None
    }

    /// The mirror of the exact search: right first, the highest place of each block, as deep as the tree.
    fn highest(&self, top: Link, request: &CheckedRequest, probe: &mut impl Probe) -> Option<(Block, Span)> {
        let node = &self.nodes[top];
        // The sentinel offers nothing, so an absent child ends here.
        if node.subtree_max_size < request.size_bytes {
            return None;
        }
        probe.count(Work::NodeVisited, 1);
        let (first, last) = (node.span.first(), node.span.last());
        if last < request.window.last()
            && let Some(found) = self.highest(node.right, request, probe)
        {
            return Some(found);
        }
        let fit = node.span.highest_fit(request.size_bytes, request.align, request.window.last());
        if let Some(fit) = fit.filter(|fit| fit.first() >= request.window.first()) {
            return Some((Block { link: top, no_fit_below: Hot::UNKNOWN }, fit));
        }
        if first > request.window.first() { self.highest(node.left, request, probe) } else { None }
    }

    #[inline]
    fn count_peek(&self, child: Link, probe: &mut impl Probe) {
        if !child.is_none() {
            probe.count(Work::ChildPeeked, 1);
        }
    }

    pub(in crate::kva) fn floor(&self, address: u64) -> Option<(Block, Span)> {
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

    /// The length that Linux 6.12 requires of a subtree. A granule above a page stands for a machine's larger page.
    pub(in crate::kva) fn linux_length(&self, request: &CheckedRequest) -> u64 {
        let exact_window = request.window.size_bytes() == u128::from(request.size_bytes);
        if request.align <= Align::PAGE.max(self.granule) || exact_window {
            request.size_bytes
        } else {
            // The kernel's sum wraps. A wrapped length prunes less, so the answer is still a block that fits.
            request.size_bytes.wrapping_add(request.align.mask())
        }
    }
}
