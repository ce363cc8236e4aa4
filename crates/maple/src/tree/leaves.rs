//! Iteration from leaf to leaf: through the children of one parent, then from the root down to the next parent.

use super::{Tree, indexes};
use crate::entry::Word;
use crate::node::{Inner, Leaf, PoolNode, Shape};
use core::hint::black_box;
use freehold_units::Span;

/// Levels of a tree that fit the second-level cache of a CPU: some 10^4 entries.
const CACHED_HEIGHT: usize = 4;

/// A leaf as a reader sees it.
pub(crate) trait ReadLeaf<'a>: Copy {
    /// A leaf whose one slot is a gap.
    const EMPTY: Self;

    /// Its slots.
    fn shape(self) -> &'a Shape;

    /// The word of the slot's entry. Meaningless if the slot is a gap.
    fn word(self, slot: usize) -> Word;
}

impl<'a> ReadLeaf<'a> for &'a Leaf {
    const EMPTY: Self = &Leaf::EMPTY;

    #[inline]
    fn shape(self) -> &'a Shape {
        &self.shape
    }

    #[inline]
    fn word(self, slot: usize) -> Word {
        self.word(slot)
    }
}

/// The source of an iteration's leaves.
pub(crate) trait Leaves<'a>: Copy {
    /// Whether leaves may be replaced, or get other words, during the iteration.
    const CHANGE: bool;
    type Leaf: ReadLeaf<'a>;
    /// The position from which the next leaf is found.
    type Parent: Copy;
    /// The position in a tree without nodes.
    const NO_PARENT: Self::Parent;

    /// The leaf that contains the index. A tree without nodes is a leaf that is one gap.
    fn leaf_at(self, index: u64) -> LeafAt<Self::Leaf, Self::Parent>;

    /// The leaf that contains `first`, the index after the last of a leaf with this parent.
    fn leaf_behind(self, first: u64, parent: Self::Parent) -> LeafAt<Self::Leaf, Self::Parent>;

    /// The leaf that contains `last`, the index before the first of a leaf with this parent.
    fn leaf_before(self, last: u64, parent: Self::Parent) -> LeafAt<Self::Leaf, Self::Parent>;
}

/// A leaf, and its position below its parent.
#[derive(Clone, Copy)]
pub(crate) struct LeafAt<L, P> {
    pub(crate) leaf: L,
    /// The leaf's index range.
    pub(crate) whole: Span,
    pub(crate) parent: P,
}

/// An inner node above a leaf. If the leaf is the root, a node without children.
#[derive(Clone, Copy)]
pub(crate) struct Parent<'a> {
    inner: &'a Inner,
    /// The leaf's slot in it.
    slot: usize,
    /// The inner node's first and last index.
    first: u64,
    last: u64,
}

impl<'a, L: ReadLeaf<'a>, P> LeafAt<L, P> {
    /// The leaf of a tree without nodes: one gap.
    pub(crate) fn of_no_node(parent: P) -> Self {
        LeafAt { leaf: L::EMPTY, whole: Span::ALL, parent }
    }
}

impl<'a> Leaves<'a> for &'a Tree {
    const CHANGE: bool = false;
    type Leaf = &'a Leaf;
    type Parent = Parent<'a>;
    const NO_PARENT: Parent<'a> = Parent { inner: &Inner::VACANT, slot: 0, first: 0, last: u64::MAX };

    #[inline(never)]
    fn leaf_at(self, index: u64) -> LeafAt<&'a Leaf, Parent<'a>> {
        let mut parent = Self::NO_PARENT;
        if self.height == 0 {
            return LeafAt::of_no_node(parent);
        }
        let (mut first, mut last, mut id) = (0, u64::MAX, self.root);
        for _ in 1..self.height {
            let inner = self.inner(id);
            let slot = inner.slot_of(index);
            parent = Parent { inner, slot, first, last };
            (first, last) = (inner.start(slot, first), inner.pivot(slot).min(last));
            id = inner.child(slot);
        }
        LeafAt { leaf: self.leaf(id), whole: indexes(first, last), parent }
    }

    #[inline]
    fn leaf_behind(self, first: u64, parent: Parent<'a>) -> LeafAt<&'a Leaf, Parent<'a>> {
        let Parent { inner, slot, last, .. } = parent;
        let slot = slot + 1;
        if slot >= inner.len() {
            return self.leaf_below_another(first);
        }
        let whole = indexes(first, inner.pivot(slot).min(last));
        LeafAt { leaf: self.leaf(inner.child(slot)), whole, parent: Parent { slot, ..parent } }
    }

    #[inline]
    fn leaf_before(self, last: u64, parent: Parent<'a>) -> LeafAt<&'a Leaf, Parent<'a>> {
        let Parent { inner, slot, first, .. } = parent;
        let Some(slot) = slot.checked_sub(1) else { return self.leaf_below_another(last) };
        let whole = indexes(inner.start(slot, first), last);
        LeafAt { leaf: self.leaf(inner.child(slot)), whole, parent: Parent { slot, ..parent } }
    }
}

impl Tree {
    /// The leaf that contains an index, where an iteration comes below another parent.
    #[inline(never)]
    fn leaf_below_another(&self, index: u64) -> LeafAt<&Leaf, Parent<'_>> {
        let at = self.leaf_at(index);
        if self.height > CACHED_HEIGHT {
            self.read_leaves(at.parent.inner);
        }
        at
    }

    /// Loads each cache line of the leaves below a node, so that their cache misses overlap: iteration takes half the
    /// time at 10^6 entries that were inserted in random order (`freehold bench maple --workload iterate-two --n
    /// 1000000`). Loads rather than prefetches, which are `unsafe`.
    fn read_leaves(&self, parent: &Inner) {
        let lines = parent.children[..parent.len()].iter().map(|&id| {
            let leaf = self.leaf(id);
            leaf.pivot(0) ^ leaf.pivot(8) ^ (leaf.word(0).addr() ^ leaf.word(8).addr()) as u64
        });
        black_box(lines.fold(0, |all, line| all ^ line));
    }
}
