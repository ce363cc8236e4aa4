//! Finding a place: from the lowest address up, or from the highest down.
//!
//! A search goes down into the first child whose bound says that it may have room, from the child where the window
//! begins on. A leaf either has a place, and it is the first, or was entered in vain: then its bound is lowered to what it
//! has, and the search goes on with the next child.

use super::bounds::code;
use super::leaf::Leaf;
use super::{EntryHandle, RegionTree, Wanted};
use crate::bplus::{MAX_HEIGHT, Step};
use core::ops::Deref;
use freehold_units::pool::NO_NODE;
use freehold_units::{Probe, Work};

/// From which end a search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    LowestFirst,
    HighestFirst,
}

/// A place that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The entry before it.
    pub(crate) entry: EntryHandle,
    /// Its first granule.
    pub(crate) start: u64,
}

/// A shared or exclusive borrow of the tree. Through an exclusive one, searches tighten stale bounds.
#[doc(hidden)]
pub trait Searched<V>: Deref<Target = RegionTree<V>> {
    /// The tree, if it may be changed.
    fn learner(&mut self) -> Option<&mut RegionTree<V>>;
}

impl<V> Searched<V> for &RegionTree<V> {
    fn learner(&mut self) -> Option<&mut RegionTree<V>> {
        None
    }
}

impl<V> Searched<V> for &mut RegionTree<V> {
    #[inline]
    fn learner(&mut self) -> Option<&mut RegionTree<V>> {
        Some(self)
    }
}

/// The place for a request. In a tree that may be changed, bounds that are found too high are lowered, and the
/// request's alignment may get a class.
#[inline]
pub(crate) fn search<V>(
    mut tree: impl Searched<V>,
    order: Order,
    wanted: &Wanted,
    probe: &mut impl Probe,
) -> Option<Found> {
    let class = tree.classes.class_for(wanted.mask);
    let mut search = Search { wanted, class, order, in_vain: 0 };
    let found = search.run(&mut tree, probe);
    if search.in_vain > 0
        && let Some(tree) = tree.learner()
    {
        let price = tree.tree.inners.in_use();
        if let Some(class) = tree.classes.note_in_vain(class, wanted.mask, search.in_vain, price) {
            tree.start_class(class);
        }
    }
    found
}

struct Search<'a> {
    wanted: &'a Wanted,
    /// By whose bounds children are chosen.
    class: usize,
    order: Order,
    /// Leaves entered in vain.
    in_vain: usize,
}

impl Search<'_> {
    #[inline]
    fn run<V>(&mut self, tree: &mut impl Searched<V>, probe: &mut impl Probe) -> Option<Found> {
        if tree.tree.root == NO_NODE {
            return None;
        }
        let size = code(self.wanted.size);
        let mut steps = [Step::NONE; MAX_HEIGHT];
        let (mut level, mut node) = (tree.tree.height, tree.tree.root);
        // The next child to try, unless the node was only just entered.
        let mut from = None;
        loop {
            probe.count(Work::NodeVisited, 1);
            if let Some(below) = level.checked_sub(1) {
                if let Some(slot) = self.next_child(tree, node, size, from) {
                    steps[below] = Step::new(node, slot);
                    (level, node, from) = (below, tree.tree.inners[node].child(slot), None);
                    continue;
                }
            } else {
                if let Some((slot, start)) = self.in_leaf(&tree.tree.leaves[node]) {
                    let entry = EntryHandle { leaf: node, slot, parent: steps[0] };
                    return Some(Found { entry, start });
                }
                self.in_vain += 1;
            }
            if level == tree.tree.height {
                return None;
            }
            let above = steps[level];
            self.give_up(tree, above, node, level);
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
    fn next_child<V>(
        &self,
        tree: &impl Searched<V>,
        node: u32,
        size: i32,
        from: Option<usize>,
    ) -> Option<usize> {
        let inner = &tree.tree.inners[node];
        match self.order {
            Order::LowestFirst => {
                let from = match from {
                    Some(from) => from,
                    None if inner.len() > 1 && inner.low(1) <= self.wanted.from => {
                        inner.child_for(self.wanted.from)
                    }
                    None => 0,
                };
                inner.first_with(self.class, size, from)
            }
            Order::HighestFirst => {
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

    /// Notes what the child that was left really has.
    #[cold]
    fn give_up<V>(&self, tree: &mut impl Searched<V>, above: Step, node: u32, level: usize) {
        let Some(tree) = tree.learner() else { return };
        let room = match level {
            0 => code(tree.tree.leaves[node].largest_room(tree.classes.mask(self.class))),
            _ => tree.tree.inners[node].most(self.class),
        };
        tree.tree.inners[above.inner()].set_bound(self.class, above.slot(), room);
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
