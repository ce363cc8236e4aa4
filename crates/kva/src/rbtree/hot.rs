//! The hot block: where the last request was served, and what is known of everything below.
//!
//! ```text
//!   none of these has `none_below` bytes       hot
//!   |##|.|####|..|##|.|#########|..|####|##|........|###|...
//!                                          ^ first
//! ```
//!
//! A request for as much or more, under `Lowest`, cannot fit below `first`; so if the block there can serve it, no
//! search is needed and the answer is exact. A cut leaves this true wherever it is made, as its pieces are smaller. A
//! free at or below `first` makes its block the hot one: all below it is still below the old one. And what is freed
//! just before the hot block has its place there, without a descent from the root.
//!
//! Invariant: K16 no block that starts below `first` has `none_below` bytes or more, and the hot block, if there is
//! one, starts at `first`.
//!
//! Source: the talk's wish for a cache of the last node, which there was not exact.

use super::release::Spot;
use super::{Block, RbTree};
use crate::Merge;
use crate::arena::Link;
use crate::error::{Broken, check};
use crate::index::Want;
use freehold_units::{Probe, Span, Work};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Hot {
    /// [`Link::NONE`] after the hot block was used up.
    pub(super) link: Link,
    first: u64,
    none_below: u64,
}

impl Hot {
    /// Nothing lies below address 0.
    pub(super) const NONE: Self = Self { link: Link::NONE, first: 0, none_below: 0 };
    /// A size that no request has.
    pub(super) const UNKNOWN: u64 = 0;
}

impl RbTree {
    /// The place for a request under `Lowest`, if it is in the hot block.
    #[inline]
    pub(super) fn in_hot_block(&self, want: &Want, probe: &mut impl Probe) -> Option<(Block, Span)> {
        let Hot { link, none_below, .. } = self.hot;
        if link.is_none() || want.size_bytes < none_below {
            return None;
        }
        probe.count(Work::NodeVisited, 1);
        let fit = self.nodes[link].span.lowest_fit(want.size_bytes, want.align, want.window.first())?;
        (fit.last() <= want.window.last()).then_some((Block { link, none_below }, fit))
    }

    /// What a search under `Lowest` tells of the blocks that it passed over: none was as large as `want`, if it
    /// came by all of them and size was all that mattered.
    #[inline]
    pub(super) fn none_below(&self, want: &Want) -> u64 {
        let knows =
            self.shortcuts.hot_block && want.align <= self.granule && want.window.first() <= self.lowest;
        if knows { want.size_bytes } else { Hot::UNKNOWN }
    }

    /// What is left of `block` starts at `first` and is the node `rest`, if anything is left.
    #[inline]
    pub(super) fn note_carved(&mut self, block: Block, rest: Link, first: u64) {
        if block.none_below != Hot::UNKNOWN {
            self.hot = Hot { link: rest, first, none_below: block.none_below };
        } else if self.hot.link == block.link {
            self.hot = Hot { link: rest, first, ..self.hot };
        }
    }

    /// A freed span has become the block `link`, or part of it.
    #[inline]
    pub(super) fn note_released(&mut self, link: Link) {
        let first = self.nodes[link].span.first();
        if self.shortcuts.hot_block && first <= self.hot.first {
            self.hot = Hot { link, first, ..self.hot };
        }
    }

    /// Where `span` belongs, if that is just before the hot block, which it touches.
    #[inline]
    pub(super) fn spot_before_hot(&self, span: Span, probe: &mut impl Probe) -> Option<Spot> {
        let next = self.hot.link;
        if next.is_none() || span.last().checked_add(1) != Some(self.hot.first) {
            return None;
        }
        let place = self.place_below(next, probe);
        let previous = if place.parent == next { self.last_turn_right(next, probe) } else { place.parent };
        // Where it overlaps the block before, the descent names the culprit.
        let apart = previous.is_none() || self.nodes[previous].span.last() < span.first();
        apart.then_some(Spot { place, previous, next })
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

    /// Gives the tree addresses that it never had.
    pub(crate) fn add(&mut self, span: Span, probe: &mut impl Probe) -> Result<Merge, Span> {
        let merge = self.release(span, probe)?;
        self.lowest = self.lowest.min(span.first());
        Ok(merge)
    }

    /// K16.
    pub(super) fn check_hot(&self) -> Result<(), Broken> {
        let Hot { link, first, none_below } = self.hot;
        let starts = link.is_none() || self.floor(first).is_some_and(|(block, _)| block.link == link);
        check(starts, "K16", "the hot block is in the tree", first)?;
        let starts = link.is_none() || self.nodes[link].span.first() == first;
        check(starts, "K16", "the hot block starts where it is said to", first)?;
        let mut below = self.ascending().take_while(|block| block.first() < first);
        let small = below.all(|block| block.size_saturating() < none_below);
        check(small, "K16", "no block below the hot one has the size that none has", first)
    }
}
