//! Search for a place, from the lowest address up or from the highest down.
//!
//! A search starts at the child where the window begins and descends into the first child whose bound is large enough.
//! If the leaf has a place, no earlier leaf has one. Otherwise the search makes the leaf's bound exact and continues
//! with the next child.

use super::leaf::Leaf;
use super::{EntryHandle, GranuleRequest, RegionTree};
use crate::bplus::{MAX_HEIGHT, Step};
use core::ops::Deref;
use freehold_units::pool::{NO_NODE, NodeId};
use freehold_units::{Probe, Work};

/// The end of the addresses at which a search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    LowestFirst,
    HighestFirst,
}

/// The result of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionFit {
    /// The entry before it.
    pub(crate) entry: EntryHandle,
    /// The first granule of the place.
    pub(crate) start: u64,
}

/// A shared or exclusive borrow of the tree. Searches tighten stale bounds through both. Only an exclusive borrow gives an
/// alignment a class, and compares many bounds at once.
pub(crate) trait Searched<V>: Deref<Target = RegionTree<V>> {
    /// The class whose bounds the search uses for an alignment.
    fn class_for(&mut self, mask: u64) -> usize;
    /// The first child of a node with a bound of `least` or more: from `from` on, else from the child where `key` lies.
    fn first_with(
        &mut self,
        node: NodeId,
        class: usize,
        least: u64,
        from: Option<usize>,
        key: u64,
    ) -> Option<usize>;
}

impl<V> Searched<V> for &RegionTree<V> {
    fn class_for(&mut self, mask: u64) -> usize {
        self.tree.classes.class_for(mask)
    }

    fn first_with(
        &mut self,
        node: NodeId,
        class: usize,
        least: u64,
        from: Option<usize>,
        key: u64,
    ) -> Option<usize> {
        let inner = &self.tree.inners[node];
        inner.first_with_shared(class, least, inner.begin(from, key))
    }
}

impl<V> Searched<V> for &mut RegionTree<V> {
    #[inline]
    fn class_for(&mut self, mask: u64) -> usize {
        self.tree.class_made_for(mask)
    }

    #[inline]
    fn first_with(
        &mut self,
        node: NodeId,
        class: usize,
        least: u64,
        from: Option<usize>,
        key: u64,
    ) -> Option<usize> {
        let inner = &mut self.tree.inners[node];
        let from = inner.begin(from, key);
        inner.first_with(class, least, from)
    }
}

/// Finds the place for a request. Lowers the bounds that turn out to be too high.
#[inline]
pub(crate) fn search<V>(
    mut tree: impl Searched<V>,
    order: Order,
    wanted: &GranuleRequest,
    probe: &mut impl Probe,
) -> Option<RegionFit> {
    if tree.tree.root == NO_NODE {
        return None;
    }
    let class = tree.class_for(wanted.mask);
    Search { wanted, class, order }.run(&mut tree, probe)
}

struct Search<'a> {
    wanted: &'a GranuleRequest,
    /// The class whose bounds select children.
    class: usize,
    order: Order,
}

impl Search<'_> {
    #[inline]
    fn run<V>(&self, tree: &mut impl Searched<V>, probe: &mut impl Probe) -> Option<RegionFit> {
        let mut steps = [Step::NONE; MAX_HEIGHT];
        let (mut level, mut node) = (tree.tree.height, tree.tree.root);
        // The next child to try; `None` if the node was just entered.
        let mut from = None;
        loop {
            probe.count(Work::NodeVisited, 1);
            if let Some(below) = level.checked_sub(1) {
                if let Some(slot) = self.next_child(tree, node, from) {
                    steps[below] = Step::new(node, slot);
                    (level, node, from) = (below, tree.tree.inners[node].child(slot), None);
                    continue;
                }
            } else if let Some((slot, start)) = self.in_leaf(&tree.tree.leaves[node]) {
                let entry = EntryHandle { leaf: node, slot, parent: steps[0] };
                return Some(RegionFit { entry, start });
            }
            if level == tree.tree.height {
                return None;
            }
            let above = steps[level];
            let usable = tree.tree.most_below(above, level, self.class);
            tree.tree.inners[above.inner()].row(self.class).set(above.slot(), usable);
            if self.passes_window(tree, above) {
                return None;
            }
            from = match self.order {
                Order::LowestFirst => Some(above.slot() + 1),
                Order::HighestFirst => Some(above.slot()),
            };
            (level, node) = (level + 1, above.inner());
        }
    }

    /// The next child of a node whose bound is large enough. `from` bounds the children that are left: it is the first
    /// of them, or one past the last.
    #[inline]
    fn next_child<V>(&self, tree: &mut impl Searched<V>, node: NodeId, from: Option<usize>) -> Option<usize> {
        let size = self.wanted.size;
        match self.order {
            Order::LowestFirst => tree.first_with(node, self.class, size, from, self.wanted.first),
            Order::HighestFirst => {
                let inner = &tree.tree.inners[node];
                let end = from.unwrap_or_else(|| inner.child_for(self.wanted.last) + 1);
                inner.last_with(self.class, size, end)
            }
        }
    }

    #[inline]
    fn in_leaf<V>(&self, leaf: &Leaf<V>) -> Option<(usize, u64)> {
        let found = match self.order {
            Order::LowestFirst => leaf.lowest(self.wanted),
            Order::HighestFirst => leaf.highest(self.wanted),
        };
        // The first place that fits is the nearest to the search's start, so if it passes the window, all others do.
        found.filter(|&(_, start)| {
            start <= self.wanted.last && self.wanted.last - start >= self.wanted.size - 1
        })
    }

    /// Whether all remaining children lie outside the window.
    fn passes_window<V>(&self, tree: &impl Searched<V>, above: Step) -> bool {
        let inner = &tree.tree.inners[above.inner()];
        match self.order {
            Order::LowestFirst => {
                above.slot() + 1 < inner.len() && inner.low(above.slot() + 1) > self.wanted.last
            }
            Order::HighestFirst => above.slot() > 0 && inner.low(above.slot()) <= self.wanted.first,
        }
    }
}
