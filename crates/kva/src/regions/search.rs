//! Finding a place: from the lowest address up, or from the highest down.
//!
//! A search goes down into the first child whose bound says that it may have room, from the child where the window
//! begins on. A leaf either has a place, and it is the first, or was entered in vain: then its bound is lowered to what it
//! has, and the search goes on with the next child.

use super::leaf::Leaf;
use super::rooms::{EXACT, code};
use super::{EntryPath, RegionTree, Wanted};
use crate::bplus::{Inner, LeafPath, Step};
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
    pub(crate) entry: EntryPath,
    /// Its first granule.
    pub(crate) start: u64,
}

/// A tree that is searched. One that may be changed learns from searches.
trait Searched<V>: Deref<Target = RegionTree<V>> {
    /// No room of a child in a class is larger than `room`.
    fn learn(&mut self, at: Step, class: usize, room: impl Fn(&RegionTree<V>) -> i32);
}

impl<V> Searched<V> for &RegionTree<V> {
    fn learn(&mut self, _: Step, _: usize, _: impl Fn(&RegionTree<V>) -> i32) {}
}

impl<V> Searched<V> for &mut RegionTree<V> {
    fn learn(&mut self, at: Step, class: usize, room: impl Fn(&RegionTree<V>) -> i32) {
        // The bounds of the first class are exact.
        if class > 0 {
            let room = room(self);
            self.tree.inners[at.inner()].rows.rooms[class][at.slot()] = room;
        }
    }
}

impl<V> RegionTree<V> {
    /// The place for a request. Changes nothing.
    pub(crate) fn find(&self, order: Order, wanted: &Wanted, probe: &mut impl Probe) -> Option<Found> {
        let class = self.classes.class_for(wanted.mask);
        let mut tree = self;
        Search { wanted, class, order, in_vain: 0 }.run(&mut tree, probe)
    }

    /// The place for a request. Bounds that it finds too high are lowered, and its alignment may get a class.
    #[inline]
    pub(crate) fn search(&mut self, order: Order, wanted: &Wanted, probe: &mut impl Probe) -> Option<Found> {
        let class = self.classes.class_for(wanted.mask);
        let mut search = Search { wanted, class, order, in_vain: 0 };
        let found = search.run(&mut &mut *self, probe);
        let price = self.tree.inners.in_use();
        if let Some(class) = self.classes.searched(class, wanted.mask, search.in_vain, price) {
            self.start_class(class);
        }
        found
    }
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
        let (size, mut path) = (code(self.wanted.size), LeafPath::NOWHERE);
        let (mut level, mut node) = (tree.tree.height, tree.tree.root);
        // The next child to try, unless the node was only just entered.
        let mut from = None;
        loop {
            probe.count(Work::NodeVisited, 1);
            if let Some(below) = level.checked_sub(1) {
                if let Some(slot) = self.next_child(tree, node, size, from) {
                    path.steps[below] = Step::new(node, slot);
                    (level, node, from) = (below, tree.tree.inners[node].child(slot), None);
                    continue;
                }
            } else {
                path.leaf = node;
                if let Some((slot, start)) = self.in_leaf(&tree.tree.leaves[node]) {
                    return Some(Found { entry: EntryPath { path, slot }, start });
                }
                self.in_vain += 1;
            }
            if level == tree.tree.height {
                return None;
            }
            let above = path.steps[level];
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
                let next = |from| inner.rows.first_with(self.class, size, from, inner.len());
                self.large_enough(inner, next(from), |slot| next(slot + 1))
            }
            Order::HighestFirst => {
                let end = from.unwrap_or_else(|| inner.child_for(self.wanted.until) + 1);
                let next = |end| inner.rows.last_with(self.class, size, end);
                self.large_enough(inner, next(end), next)
            }
        }
    }

    /// The first child whose largest gap is large enough. Codes of sizes of 2^26 granules and more are rounded, so
    /// that a child may have the code and not the size.
    #[inline]
    fn large_enough<V>(
        &self,
        inner: &Inner<Leaf<V>>,
        mut child: Option<usize>,
        next: impl Fn(usize) -> Option<usize>,
    ) -> Option<usize> {
        while let Some(slot) = child
            && self.wanted.size > EXACT as u64
            && inner.rows.largest[slot] < self.wanted.size
        {
            child = next(slot);
        }
        child
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
        let class = self.class;
        tree.learn(above, class, |tree| match level {
            0 => code(tree.tree.leaves[node].largest_room(tree.classes.mask(class))),
            _ => {
                let inner = &tree.tree.inners[node];
                inner.rows.most(class, inner.len())
            }
        });
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
