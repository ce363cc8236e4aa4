//! Walks from the root down to an index.

use super::{Memory, Path, Tree, indexes};
use crate::entry::Word;
use crate::node::{Inner, Leaf, NodeId, PoolNode};
use freehold_units::Span;

/// A slot of a leaf, whole: an entry or a gap, since gaps are never divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) span: Span,
    pub(crate) entry: Option<Word>,
}

impl<M: Memory> Tree<M> {
    /// The leaf that contains the index, its parent, and its slot in the parent. `None` if the tree has no nodes.
    #[inline(always)] // `entry_at` takes 122 instructions among 256 ranges, 153 without (`bench maple --workload lookup-random`)
    fn leaf_with(&self, index: u64) -> Option<(&Leaf, &Inner, usize)> {
        let mut left = self.height;
        if left == 0 {
            return None;
        }
        let (mut id, mut parent, mut slot) = (self.root, &Inner::VACANT, 0);
        while left > 1 {
            parent = self.inner(id);
            slot = parent.slot_of(index);
            id = parent.child(slot);
            left -= 1;
        }
        Some((self.leaf(id), parent, slot))
    }

    /// The entry at an index.
    #[inline]
    pub(crate) fn get(&self, index: u64) -> Option<Word> {
        let (leaf, ..) = self.leaf_with(index)?;
        leaf.entry(leaf.slot_of(index))
    }

    /// The entry at an index, with its whole range.
    #[inline(always)] // in a program with maps of two types 140 instructions among 256 ranges, 166 without
    pub(crate) fn entry_at(&self, index: u64) -> Option<(Span, Word)> {
        let (leaf, parent, child) = self.leaf_with(index)?;
        let slot = leaf.slot_of(index);
        let word = leaf.entry(slot)?;
        let span = leaf.span_below(slot, &parent.pivots, child);
        Some((span.unwrap_or_else(|| self.span_at_edge(index)), word))
    }

    /// The range that contains an index: an entry's, or the whole gap.
    pub(crate) fn slot_of(&self, index: u64) -> Slot {
        let Some((leaf, parent, child)) = self.leaf_with(index) else {
            return Slot { span: Span::ALL, entry: None };
        };
        let slot = leaf.slot_of(index);
        let span = leaf.span_below(slot, &parent.pivots, child);
        Slot { span: span.unwrap_or_else(|| self.span_at_edge(index)), entry: leaf.entry(slot) }
    }

    /// The range of a slot that begins or ends where its leaf's parent does.
    #[cold]
    #[inline(never)]
    fn span_at_edge(&self, index: u64) -> Span {
        let (id, whole) = self.leaf_id_at(index);
        let leaf = self.leaf(id);
        let (first, last) = leaf.span(leaf.slot_of(index), whole);
        indexes(first, last)
    }

    /// The leaf that contains the index, and its range. The tree has a node.
    #[inline(never)]
    pub(crate) fn leaf_id_at(&self, index: u64) -> (NodeId, Span) {
        self.descend(index, |_, _| {})
    }

    /// The leaf that contains the index, and its range. Calls `passed` with each inner node and the slot in it. The tree
    /// has a node.
    #[inline(always)] // as `walk`
    fn descend(&self, index: u64, mut passed: impl FnMut(NodeId, usize)) -> (NodeId, Span) {
        let (mut first, mut last, mut id) = (0, u64::MAX, self.root);
        for _ in 1..self.height {
            let inner = self.inner(id);
            let slot = inner.slot_of(index);
            passed(id, slot);
            (first, last) = (inner.start(slot, first), last.min(inner.pivot(slot)));
            id = inner.child(slot);
        }
        (id, indexes(first, last))
    }

    /// Walks to the leaf that contains the index, and to its slot there; returns the leaf. The tree has a node.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    pub(crate) fn walk(&self, index: u64, path: &mut Path) -> &Leaf {
        path.clear();
        let (id, whole) = self.descend(index, |id, slot| path.push(id, slot));
        let leaf = self.leaf(id);
        path.push(id, leaf.slot_of(index));
        path.whole = whole;
        leaf
    }

    /// The slot that a path leads to.
    #[inline]
    pub(crate) fn slot(&self, path: &Path) -> Slot {
        self.slot_at(path, path.leaf().slot as usize)
    }

    /// Another slot of the path's leaf.
    #[inline]
    pub(crate) fn slot_at(&self, path: &Path, slot: usize) -> Slot {
        slot_of_leaf(self.leaf(path.leaf().id), slot, path.whole)
    }

    /// The path's leaf.
    #[inline]
    pub(crate) fn leaf_of(&self, path: &Path) -> &Leaf {
        self.leaf(path.leaf().id)
    }
}

/// A slot of a leaf with the index range `whole`.
#[inline]
pub(super) fn slot_of_leaf(leaf: &Leaf, slot: usize, whole: Span) -> Slot {
    let (first, last) = leaf.span(slot, whole);
    Slot { span: indexes(first, last), entry: leaf.entry(slot) }
}
