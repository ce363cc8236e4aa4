//! The hot block: where the last request was served, and what is known of everything below.
//!
//! ```text
//!   none of these has `no_fit_below` bytes       hot
//!   |##|.|####|..|##|.|#########|..|####|##|........|###|...
//!                                          ^ first
//! ```
//!
//! A request for as much or more, under `Lowest`, cannot fit below `first`; so if the block there can serve it, no
//! search is needed and the answer is exact. A cut leaves this true wherever it is made, as its pieces are smaller. A
//! free at or below `first` makes its block the hot one: all below it is still below the old one. And what is freed
//! just before the hot block has its place there, without a descent from the root.
//!
//! Invariant: K15 no block that starts below `first` has `no_fit_below` bytes or more, and the hot block, if there is
//! one, starts at `first`.
//!
//! Source: the talk's wish for a cache of the last node, which there was not exact.

use super::node::Link;
use super::release::InsertPoint;
use super::{Block, Policy, RbTree};
use freehold_kva::CheckedRequest;
use freehold_units::{Broken, Probe, Span, Work, check};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Hot {
    /// [`Link::NONE`] after the hot block was used up.
    pub(super) link: Link,
    first: u64,
    no_fit_below: u64,
}

impl Hot {
    /// Nothing lies below address 0.
    pub(super) const NONE: Self = Self { link: Link::NONE, first: 0, no_fit_below: 0 };
    /// A size that no request has.
    pub(super) const UNKNOWN: u64 = 0;
}

impl<P: Policy> RbTree<P> {
    /// The place for a request under `Lowest`, if it is in the hot block.
    #[inline]
    pub(super) fn in_hot_block(
        &self,
        request: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<(Block, Span)> {
        let Hot { link, no_fit_below, .. } = self.hot;
        if link.is_none() || request.size_bytes < no_fit_below {
            return None;
        }
        probe.count(Work::NodeVisited, 1);
        let fit =
            self.nodes[link].span.lowest_fit(request.size_bytes, request.align, request.window.first())?;
        (fit.last() <= request.window.last()).then_some((Block { link, no_fit_below }, fit))
    }

    /// What a search under `Lowest` tells of the blocks that it passed over: none was as large as `request`, if it
    /// came by all of them and size was all that mattered.
    #[inline]
    pub(super) fn no_fit_below(&self, request: &CheckedRequest) -> u64 {
        let knows = P::HOT_BLOCK && request.align <= self.granule && request.window.first() <= self.lowest;
        if knows { request.size_bytes } else { Hot::UNKNOWN }
    }

    /// What is left of `block` starts at `first` and is the node `rest`, if anything is left.
    #[inline]
    pub(super) fn note_carved(&mut self, block: Block, rest: Link, first: u64) {
        if !P::HOT_BLOCK {
            return;
        }
        if block.no_fit_below != Hot::UNKNOWN {
            self.hot = Hot { link: rest, first, no_fit_below: block.no_fit_below };
        } else if self.hot.link == block.link {
            self.hot = Hot { link: rest, first, ..self.hot };
        }
    }

    /// A freed span has become the block `link`, or part of it.
    #[inline]
    pub(super) fn note_released(&mut self, link: Link) {
        let first = self.nodes[link].span.first();
        if P::HOT_BLOCK && first <= self.hot.first {
            self.hot = Hot { link, first, ..self.hot };
        }
    }

    /// Where `span` belongs, if that is just before the hot block, which it touches.
    #[inline]
    pub(super) fn insert_point_before_hot(&self, span: Span, probe: &mut impl Probe) -> Option<InsertPoint> {
        let next = self.hot.link;
        if next.is_none() || span.last().checked_add(1) != Some(self.hot.first) {
            return None;
        }
        let place = self.place_below(next, probe);
        let previous = if place.parent == next { self.last_turn_right(next, probe) } else { place.parent };
        // Where it overlaps the block before, the descent names the culprit.
        let apart = previous.is_none() || self.nodes[previous].span.last() < span.first();
        apart.then_some(InsertPoint { place, previous, next })
    }

    /// The lowest ancestor in whose right subtree the node lies: the block before a node without a left subtree.
    fn last_turn_right(&self, link: Link, probe: &mut impl Probe) -> Link {
        let mut at = link;
        loop {
            let parent = self.nodes[at].parent;
            if parent.is_none() || self.nodes[parent].right == at {
                return parent;
            }
            probe.count(Work::LinkVisited, 1);
            at = parent;
        }
    }

    /// K15.
    pub(super) fn check_hot(&self) -> Result<(), Broken> {
        let Hot { link, first, no_fit_below } = self.hot;
        let starts = link.is_none() || self.floor(first).is_some_and(|(block, _)| block.link == link);
        check(starts, "K15", "the hot block is in the tree", first)?;
        let starts = link.is_none() || self.nodes[link].span.first() == first;
        check(starts, "K15", "the hot block starts where it is said to", first)?;
        let mut below = self.ascending().take_while(|block| block.first() < first);
        let small = below.all(|block| block.size_saturating() < no_fit_below);
        check(small, "K15", "no block below the hot one has the size that none has", first)
    }
}
