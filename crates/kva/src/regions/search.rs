//! Finding a place: from the lowest address up, or from the highest down.
//!
//! A search goes down into the first child whose bound says that it may have room, from the child where the window
//! begins on. A leaf either has a place, and it is the first, or was entered in vain: then its bound is lowered to what it
//! has, and the search goes on with the next child.

use super::leaf::Leaf;
use super::{EntryHandle, GranuleRequest, RegionTree};
use crate::bplus::{MAX_HEIGHT, Step};
use core::ops::Deref;
use freehold_units::pool::{NO_NODE, NodeId};
use freehold_units::{Probe, Work};

/// From which end a search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    LowestFirst,
    HighestFirst,
}

/// A place that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionFit {
    /// The entry before it.
    pub(crate) entry: EntryHandle,
    /// Its first granule.
    pub(crate) start: u64,
}

/// A shared or exclusive borrow of the tree. Searches tighten stale bounds through both; through an exclusive one an
/// alignment gets a class, and bounds are compared many at once.
pub(crate) trait Searched<V>: Deref<Target = RegionTree<V>> {
    /// The class to search by.
    fn class_for(&mut self, mask: u64) -> usize;
    /// The first child of a node with a bound of `least` or more, from `from` on, or in a window that begins at `key`.
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

/// The place for a request. Bounds that are found too high are lowered.
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
    /// By whose bounds children are chosen.
    class: usize,
    order: Order,
}

impl Search<'_> {
    #[inline]
    fn run<V>(&self, tree: &mut impl Searched<V>, probe: &mut impl Probe) -> Option<RegionFit> {
        let mut steps = [Step::NONE; MAX_HEIGHT];
        let (mut level, mut node) = (tree.tree.height, tree.tree.root);
        // The next child to try, unless the node was only just entered.
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
            let room = tree.tree.most_below(above, level, self.class);
            tree.tree.inners[above.inner()].row(self.class).set(above.slot(), room);
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

    /// The next child of a node that may have room. `from` bounds the children that are left: the first of them, or one
    /// past the last.
    #[inline]
    fn next_child<V>(&self, tree: &mut impl Searched<V>, node: NodeId, from: Option<usize>) -> Option<usize> {
        let size = self.wanted.size;
        match self.order {
            Order::LowestFirst => tree.first_with(node, self.class, size, from, self.wanted.from),
            Order::HighestFirst => {
                let inner = &tree.tree.inners[node];
                let end = from.unwrap_or_else(|| inner.child_for(self.wanted.until) + 1);
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
        // The first place that fits is the nearest to where the search begins.
        found.filter(|&(_, start)| {
            start <= self.wanted.until && self.wanted.until - start >= self.wanted.size - 1
        })
    }

    /// Whether all children that are left lie outside the window.
    fn passes_window<V>(&self, tree: &impl Searched<V>, above: Step) -> bool {
        let inner = &tree.tree.inners[above.inner()];
        match self.order {
            Order::LowestFirst => {
                above.slot() + 1 < inner.len() && inner.low(above.slot() + 1) > self.wanted.until
            }
            Order::HighestFirst => above.slot() > 0 && inner.low(above.slot()) <= self.wanted.from,
        }
    }
}
