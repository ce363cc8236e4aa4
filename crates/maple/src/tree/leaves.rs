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

    /// The slot's entry.
    #[inline]
    fn entry(self, slot: usize) -> Option<Word> {
        self.shape().has_entry(slot).then(|| self.word(slot))
    }
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
    /// The inner node's last index.
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
    const NO_PARENT: Parent<'a> = Parent { inner: &Inner::VACANT, slot: 0, last: u64::MAX };

    #[inline(never)]
    fn leaf_at(self, index: u64) -> LeafAt<&'a Leaf, Parent<'a>> {
        let mut parent = Self::NO_PARENT;
        if self.height == 0 {
            return LeafAt::of_no_node(parent);
        }
        let (mut first, mut last) = (0, u64::MAX);
        let mut id = self.root;
        for _ in 1..self.height {
            let inner = self.inner(id);
            let slot = inner.slot_of(index);
            parent = Parent { inner, slot, last };
            first = inner.start(slot, first);
            last = last.min(inner.pivot(slot));
            id = inner.child(slot);
        }
        LeafAt { leaf: self.leaf(id), whole: indexes(first, last), parent }
    }

    #[inline]
    fn leaf_behind(self, first: u64, parent: Parent<'a>) -> LeafAt<&'a Leaf, Parent<'a>> {
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
}

impl Tree {
    /// The inner node whose first leaf starts at `first`, and its last index. It exists, as no leaf follows a leaf that
    /// is the root.
    #[inline(never)]
    fn parent_of_leaf_at(&self, first: u64) -> (&Inner, u64) {
        let (mut inner, mut last) = (self.inner(self.root), u64::MAX);
        for _ in 2..self.height {
            let slot = inner.slot_of(first);
            last = last.min(inner.pivot(slot));
            inner = self.inner(inner.child(slot));
        }
        if self.height > CACHED_HEIGHT {
            self.read_leaves(inner);
        }
        (inner, last)
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
