//! Going from leaf to leaf: the children of one parent after each other, then down from the root to the next parent.

use super::{Tree, indexes};
use crate::node::{Inner, Leaf, PoolNode};
use freehold_units::Span;

/// How many leaves ahead memory is asked for what is not in the cache: the time that takes is that of a few leaves.
const AHEAD: usize = 5;

/// A leaf, and where it is below its parent.
#[derive(Clone, Copy)]
pub(crate) struct LeafAt<'a> {
    pub(crate) leaf: &'a Leaf,
    /// The leaf's indexes.
    pub(crate) whole: Span,
    pub(crate) parent: Parent<'a>,
}

/// An inner node above a leaf; of a leaf that is the root, one without children.
#[derive(Clone, Copy)]
pub(crate) struct Parent<'a> {
    inner: &'a Inner,
    /// Which of its children the leaf is.
    slot: usize,
    /// Its last index.
    last: u64,
}

impl Tree {
    /// The leaf that has the index. A tree without nodes is gone through as a leaf that is one gap.
    #[inline(never)]
    pub(crate) fn leaf_at(&self, index: u64) -> LeafAt<'_> {
        let mut parent = Parent { inner: &Inner::VACANT, slot: 0, last: u64::MAX };
        if self.height == 0 {
            return LeafAt { leaf: &Leaf::EMPTY, whole: Span::ALL, parent };
        }
        let (mut first, mut last) = (0, u64::MAX);
        let mut id = self.root;
        for _ in 1..self.height {
            let inner = self.inner(id);
            let slot = inner.slot_of(index);
            parent = Parent { inner, slot, last };
            first = first.max(inner.start(slot));
            last = last.min(inner.pivot(slot));
            id = inner.child(slot);
        }
        LeafAt { leaf: self.leaf(id), whole: indexes(first, last), parent }
    }

    /// The leaf that starts at `first`, behind one of this parent.
    #[inline]
    pub(crate) fn leaf_behind<'a>(&'a self, first: u64, parent: Parent<'a>) -> Option<LeafAt<'a>> {
        let Parent { mut inner, mut slot, last: mut end } = parent;
        slot += 1;
        if slot >= inner.len() {
            (inner, end) = self.parent_from(first);
            slot = 0;
        }
        let parent = Parent { inner, slot, last: end };
        let (leaf, last) = self.leaf_below(inner, slot, end);
        Some(LeafAt { leaf, whole: Span::new(first, last)?, parent })
    }

    /// The inner node whose first leaf starts at `first`, and its last index. There is one: a leaf that is the root has none
    /// behind it.
    #[inline(never)]
    fn parent_from(&self, first: u64) -> (&Inner, u64) {
        let (mut inner, mut last) = (self.inner(self.root), u64::MAX);
        for _ in 2..self.height {
            let slot = inner.slot_of(first);
            last = last.min(inner.pivot(slot));
            inner = self.inner(inner.child(slot));
        }
        (1..AHEAD).for_each(|slot| self.prefetch(inner, slot));
        (inner, last)
    }

    /// A leaf and its last index; another leaf further on will be asked for soon. `last` is the parent's last index.
    #[inline(never)]
    fn leaf_below(&self, parent: &Inner, slot: usize, last: u64) -> (&Leaf, u64) {
        self.prefetch(parent, slot + AHEAD);
        (self.leaf(parent.child(slot)), parent.pivot(slot).min(last))
    }

    /// Asks for the memory of a leaf; where a parent has no more leaves, for none or another's.
    #[inline]
    fn prefetch(&self, parent: &Inner, slot: usize) {
        if let Some(leaf) = self.leaves.get_far(parent.child(slot)) {
            leaf.prefetch();
        }
    }
}
