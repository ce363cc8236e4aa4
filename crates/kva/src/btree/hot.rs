//! The hot block: where the last request was served, and what is known of everything below.
//!
//! ```text
//!   none of these has room for `none_below`   hot
//!   |##|.|####|..|##|.|#########|..|####|##|........|###|...
//! ```
//!
//! A request for as much or more, under `Lowest`, cannot fit below the hot place; so if what is there can serve it,
//! no search is needed and the answer is exact. What happens above leaves this true. What happens below, or there,
//! makes that the hot place: all below it is still below the old one.
//!
//! Source: the talk's wish for a cache of the last node, which there was not exact.

use super::{At, OneTree};
use crate::bplus::{Found, Way};
use crate::index::Want;
use freehold_units::Span;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Hot {
    found: Found,
    first: u64,
    /// No block that starts below `first` has this room or more; with [`Hot::UNKNOWN`] nothing is known.
    none_below: u32,
}

impl Hot {
    /// More than any room.
    pub(super) const UNKNOWN: u32 = u32::MAX;
    /// No place.
    pub(super) const NONE: Self = Self { found: Way::NOWHERE.entry(0), first: 0, none_below: Self::UNKNOWN };
}

impl<V> OneTree<V> {
    /// The hot block, and the place in it for a request of that short size, if there is one.
    #[inline]
    pub(super) fn in_hot_block(&self, want: &Want, short: u32) -> Option<(At, Span)> {
        let Hot { found, none_below, .. } = self.hot;
        if short < none_below || self.room(found.position()) < short {
            return None;
        }
        let span = self.span(found.position())?;
        let fit = span.lowest_fit(want.size_bytes, want.align, want.window.first())?;
        (fit.last() <= want.window.last()).then_some((At { found, span, none_below }, fit))
    }

    /// The segment that starts at `first`, if it is the hot place or lies before it, as what was last cut from it does.
    #[inline]
    pub(super) fn at_hot_block(&self, first: u64) -> Option<Found> {
        let Hot { found, .. } = self.hot;
        let keys = self.tree.leaves[found.way().end()].keys();
        let before = found.at().wrapping_sub(1);
        if keys.get(before) == Some(&first) {
            Some(found.way().entry(before))
        } else {
            (keys.get(found.at()) == Some(&first)).then_some(found)
        }
    }

    /// The lowest block with room for `none_below` was this.
    #[inline]
    pub(super) fn set_hot(&mut self, found: Found, first: u64, none_below: u32) {
        if none_below == Hot::UNKNOWN {
            self.pull_hot(found, first);
        } else if self.remembers_hot {
            self.hot = Hot { found, first, none_below };
        }
    }

    /// Something has changed at this entry, which starts at `first`, and the shape of the tree is as it was.
    #[inline]
    pub(super) fn pull_hot(&mut self, found: Found, first: u64) {
        if self.remembers_hot && first <= self.hot.first {
            self.hot = Hot { found, first, ..self.hot };
        }
    }

    /// Whether a segment's room is as the hot place says, if it starts below it (K15).
    pub(super) fn is_below_hot(&self, first: u64, room: u32) -> bool {
        first >= self.hot.first || room < self.hot.none_below
    }

    /// The shape of the tree may have changed.
    #[inline]
    pub(super) fn forget_hot(&mut self) {
        self.hot = Hot::NONE;
    }
}
