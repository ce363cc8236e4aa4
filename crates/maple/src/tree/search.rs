//! Searching for a gap: from the root down into children whose longest gap is long enough.
//!
//! A gap is one slot of one leaf, so every gap is looked at whole. Without alignment the first leaf that is looked into
//! has what is wanted, unless the window cuts it. Cost: the height, and a leaf more at each end of the window; with
//! alignment, one leaf more for every gap that is long enough but lies wrong.

use super::Tree;
use crate::node::{Extent, NodeId, Shape};
use freehold_units::{Align, Probe, Span, Work};

/// Which of the gaps that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Lowest,
    Highest,
}

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Want {
    pub(crate) side: Side,
    /// Indexes, at least one.
    pub(crate) size: u64,
    pub(crate) align: Align,
    pub(crate) window: Span,
}

impl Want {
    /// Where it fits in a gap.
    #[inline]
    fn fit(&self, gap: Span) -> Option<Span> {
        let open = gap.intersection(self.window)?;
        match self.side {
            Side::Lowest => open.lowest_fit(self.size, self.align, open.first()),
            Side::Highest => open.highest_fit(self.size, self.align, open.last()),
        }
    }
}

impl<S: Shape> Tree<S> {
    /// The lowest or the highest place in the window where so many indexes are free.
    pub(crate) fn find_gap(&self, want: &Want, probe: &mut impl Probe) -> Option<Span> {
        if self.height == 0 {
            return want.fit(Span::ALL);
        }
        let need = Extent::of_reach(want.size.checked_sub(1)?);
        self.find_below(self.root, self.height, Span::ALL, want, need, probe)
    }

    fn find_below(
        &self,
        id: NodeId,
        height: usize,
        whole: Span,
        want: &Want,
        need: Extent,
        probe: &mut impl Probe,
    ) -> Option<Span> {
        probe.count(Work::NodeVisited, 1);
        if height == 1 {
            return self.find_in_leaf(id, whole, want);
        }
        let inner = self.inner(id);
        // Only at the window's ends is there something to search for.
        let cut = |index: u64| whole.contains(index).then(|| inner.slot_of(index));
        let low = cut(want.window.first()).unwrap_or(0);
        let high = cut(want.window.last()).unwrap_or(inner.len() - 1);
        let look = |slot: usize, probe: &mut _| {
            if inner.gap(slot) < need {
                return None;
            }
            let first = if slot == 0 { whole.first() } else { inner.pivot(slot - 1) + 1 };
            let child = Span::new(first, inner.pivot(slot).min(whole.last()))?;
            self.find_below(inner.child(slot), height - 1, child, want, need, probe)
        };
        match want.side {
            Side::Lowest => (low..=high).find_map(|slot| look(slot, probe)),
            Side::Highest => (low..=high).rev().find_map(|slot| look(slot, probe)),
        }
    }

    fn find_in_leaf(&self, id: NodeId, whole: Span, want: &Want) -> Option<Span> {
        let leaf = self.leaf(id);
        let cut = |index: u64| whole.contains(index).then(|| leaf.slot_of(index) as u32);
        let low = cut(want.window.first()).unwrap_or(0);
        let high = cut(want.window.last()).unwrap_or(31);
        let mut gaps = leaf.gaps() & u32::MAX << low & u32::MAX >> (31 - high);
        while gaps != 0 {
            let slot = match want.side {
                Side::Lowest => gaps.trailing_zeros(),
                Side::Highest => gaps.ilog2(),
            };
            gaps &= !(1 << slot);
            let (first, last) = leaf.span(slot as usize, whole);
            if last - first < want.size - 1 {
                continue;
            }
            if let Some(fit) = Span::new(first, last).and_then(|gap| want.fit(gap)) {
                return Some(fit);
            }
        }
        None
    }
}
