//! Searches for a gap: from the root down into children whose longest gap is long enough.
//!
//! A gap is one slot of one leaf, so every gap is examined whole. Without an alignment, the first leaf searched has a
//! fitting gap, whatever the size, unless the window cuts that gap.
//!
//! Cost: the height, and one more leaf at each end of the window. With an alignment, every gap that is long enough but
//! misaligned is examined, too: linear in their number (`bench maple --workload gap-misaligned`).

use super::{Base, Direction, Memory, Tree, indexes};
use crate::node::{Extent, Leaf, NodeId};
use freehold_units::{Align, Probe, Span, Work};

/// A valid request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedRequest {
    pub(crate) direction: Direction,
    /// Number of indexes, at least one.
    pub(crate) size: u64,
    pub(crate) align: Align,
    pub(crate) window: Span,
}

impl CheckedRequest {
    /// Its place in a gap, if it fits.
    fn fit(&self, gap: Span) -> Option<Span> {
        let open = gap.intersection(self.window)?;
        match self.direction {
            Direction::Up => open.lowest_fit(self.size, self.align, open.first()),
            Direction::Down => open.highest_fit(self.size, self.align, open.last()),
        }
    }
}

/// A search in progress.
struct Search<'a, M: Memory, P> {
    tree: &'a Tree<M>,
    want: &'a CheckedRequest,
    probe: &'a mut P,
    /// The least length that a subtree's longest gap must have.
    need: Extent,
}

impl<M: Memory> Tree<M> {
    /// The lowest or the highest free place in the window for the request.
    pub(crate) fn find_gap(&self, want: &CheckedRequest, probe: &mut impl Probe) -> Option<Span> {
        self.find_gap_in(self.base(), want, probe)
    }

    /// The same in the tree below a root: the present one, or the published one.
    pub(crate) fn find_gap_in(
        &self,
        base: Base,
        want: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<Span> {
        if base.height == 0 {
            return want.fit(Span::ALL);
        }
        let need = Extent::of_reach(want.size.checked_sub(1)?);
        Search { tree: self, want, probe, need }.below(base.root, base.height, Span::ALL)
    }
}

impl<M: Memory, P: Probe> Search<'_, M, P> {
    /// Searches a subtree that overlaps the window.
    fn below(&mut self, id: NodeId, height: usize, whole: Span) -> Option<Span> {
        self.probe.count(Work::NodeVisited, 1);
        let tree = self.tree;
        if height == 1 {
            return self.in_leaf(tree.leaf(id), whole);
        }
        let inner = tree.inner(id);
        let (low, high) = self.ends(whole, inner.len() - 1, |index| inner.slot_of(index));
        let direction = self.want.direction;
        let look = |slot: usize| {
            if inner.gap(slot) < self.need {
                return None;
            }
            let first = inner.start(slot, whole.first());
            let child = indexes(first, inner.pivot(slot).min(whole.last()));
            self.below(inner.child(slot), height - 1, child)
        };
        match direction {
            Direction::Up => (low..=high).find_map(look),
            Direction::Down => (low..=high).rev().find_map(look),
        }
    }

    fn in_leaf(&self, leaf: &Leaf, whole: Span) -> Option<Span> {
        let (low, high) = self.ends(whole, 31, |index| leaf.slot_of(index));
        let mut gaps = leaf.gaps() & u32::MAX << low & u32::MAX >> (31 - high);
        while gaps != 0 {
            let slot = match self.want.direction {
                Direction::Up => gaps.trailing_zeros(),
                Direction::Down => gaps.ilog2(),
            };
            gaps &= !(1 << slot);
            let (first, last) = leaf.span(slot as usize, whole);
            if last - first < self.want.size - 1 {
                continue;
            }
            let fit = self.want.fit(indexes(first, last));
            if fit.is_some() {
                return fit;
            }
        }
        None
    }

    /// The first and the last slot of a node that overlap the window. Only a window end within the node needs a search.
    fn ends(&self, whole: Span, last: usize, slot_of: impl Fn(u64) -> usize) -> (usize, usize) {
        let window = self.want.window;
        let low = if whole.first() < window.first() { slot_of(window.first()) } else { 0 };
        let high = if window.last() < whole.last() { slot_of(window.last()) } else { last };
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WordMap;
    use freehold_units::Tally;

    /// The nodes visited by a search for one index more than any of `n` gaps except the last has.
    fn visits(n: u64, reach: u64, direction: Direction) -> u64 {
        let mut map = WordMap::new();
        let entry = |at| Span::new(at, at).unwrap();
        let (start, stride) = (reach + 1, reach + 2);
        for i in 0..n {
            map.store(entry(start + i * stride), 1_u32).unwrap();
        }
        let behind = start + n * stride + 1;
        map.store(Span::new(behind, u64::MAX).unwrap(), 1_u32).unwrap();
        map.validate().unwrap();
        let request = |size| CheckedRequest { direction, size, align: Align::ONE, window: Span::ALL };
        let mut tally = Tally::default();
        // The last gap has one index more than the others.
        let found = map.tree().find_gap(&request(reach + 2), &mut tally);
        assert_eq!(found.map(Span::last), Some(behind - 1));
        assert_eq!(map.tree().find_gap(&request(reach + 3), &mut tally), None);
        tally.of(Work::NodeVisited)
    }

    #[test]
    fn gaps_that_are_one_index_short_are_not_looked_into() {
        for reach in [(1 << 12) - 2, (1 << 40) - 2, (1 << 40) + 1, (1 << 47) - 2] {
            for direction in [Direction::Up, Direction::Down] {
                // A node of each level for the search that finds the gap, and the root for the one that does not.
                let sizes = if cfg!(miri) { [50, 200] } else { [1_000, 16_000] };
                let [few, many] = sizes.map(|n| visits(n, reach, direction));
                assert!(few <= 6 && many <= 8, "reach {reach:#x}: {few} and {many} nodes");
            }
        }
    }
}
