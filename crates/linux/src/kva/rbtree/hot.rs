//! The hot block: the block that served the last request, and a bound for all blocks below it.
//!
//! ```text
//!   none of these has `no_fit_below` bytes       hot
//!   |##|.|####|..|##|.|#########|..|####|##|........|###|...
//!                                          ^ first
//! ```
//!
//! A request for `no_fit_below` bytes or more, under `Lowest`, cannot fit below `first`. So if the block there can
//! serve it, no search is needed and the answer is exact. A cut anywhere keeps this true, since its pieces are smaller.
//! A free at or below `first` makes its block the hot one: all blocks below it are also below the old one. A span that
//! is freed just before the hot block is linked there without a descent from the root.
//!
//! Invariant: K15 no block that starts below `first` has `no_fit_below` bytes or more, and the hot block, if there is
//! one, starts at `first`.
//!
//! Source: the talk's wish for a cache of the last node, which was not exact there.

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
    /// Stands for "no bound": a size that no request has.
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

    /// The bound that a search under `Lowest` proves for the blocks that it passed: none was as large as `request`. It
    /// holds if the search passed all of them and only size mattered.
    #[inline]
    pub(super) fn no_fit_below(&self, request: &CheckedRequest) -> u64 {
        let knows = P::HOT_BLOCK && request.align <= self.granule && request.window.first() <= self.lowest;
        if knows { request.size_bytes } else { Hot::UNKNOWN }
    }

    /// Updates the hot block after a cut: the rest of `block` starts at `first` and is the node `rest`, if there is a
    /// rest.
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

    /// Updates the hot block after a freed span has become the block `link`, or part of it.
    #[inline]
    pub(super) fn note_released(&mut self, link: Link) {
        let first = self.nodes[link].span.first();
        if P::HOT_BLOCK && first <= self.hot.first {
            self.hot = Hot { link, first, ..self.hot };
        }
    }

    /// The insert point of `span` if it lies just before the hot block and touches it.
    #[inline]
    pub(super) fn insert_point_before_hot(&self, span: Span, probe: &mut impl Probe) -> Option<InsertPoint> {
        let next = self.hot.link;
        if next.is_none() || span.last().checked_add(1) != Some(self.hot.first) {
            return None;
        }
        let place = self.place_below(next, probe);
        let previous = if place.parent == next { self.last_turn_right(next, probe) } else { place.parent };
        // If it overlaps the previous block, the descent finds the error.
        let apart = previous.is_none() || self.nodes[previous].span.last() < span.first();
        apart.then_some(InsertPoint { place, previous, next })
    }

    /// The lowest ancestor that has the node in its right subtree. It is the previous block of a node without a left
    /// subtree.
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
