//! Going from leaf to leaf: through the children of one parent, then from the root down to the next parent.

use super::{Tree, indexes};
use crate::node::{Inner, Leaf, PoolNode};
use freehold_units::Span;

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

impl LeafAt<'_> {
    /// What a tree without nodes is gone through as: a leaf that is one gap.
    pub(crate) const OF_NO_NODE: Self = LeafAt {
        leaf: &Leaf::EMPTY,
        whole: Span::ALL,
        parent: Parent { inner: &Inner::VACANT, slot: 0, last: u64::MAX },
    };
}

impl Tree {
    /// The leaf that has the index. A tree without nodes is gone through as a leaf that is one gap.
    #[inline(never)]
    pub(crate) fn leaf_at(&self, index: u64) -> LeafAt<'_> {
        if self.height == 0 {
            return LeafAt::OF_NO_NODE;
        }
        let LeafAt { mut parent, .. } = LeafAt::OF_NO_NODE;
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
    pub(crate) fn leaf_behind<'a>(&'a self, first: u64, parent: Parent<'a>) -> LeafAt<'a> {
        let Parent { mut inner, mut slot, last: mut end } = parent;
        slot += 1;
        if slot >= inner.len() {
            (inner, end) = self.parent_of_leaf_at(first);
            slot = 0;
        }
        let parent = Parent { inner, slot, last: end };
        let whole = indexes(first, inner.pivot(slot).min(end));
        LeafAt { leaf: self.leaf(inner.child(slot)), whole, parent }
    }

    /// The inner node whose first leaf starts at `first`, and its last index. There is one: a leaf that is the root has none
    /// behind it.
    #[inline(never)]
    fn parent_of_leaf_at(&self, first: u64) -> (&Inner, u64) {
        let (mut inner, mut last) = (self.inner(self.root), u64::MAX);
        for _ in 2..self.height {
            let slot = inner.slot_of(first);
            last = last.min(inner.pivot(slot));
            inner = self.inner(inner.child(slot));
        }
        (inner, last)
    }
}
