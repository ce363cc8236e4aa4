//! Going from leaf to leaf: the children of one parent after each other, then down from the root to the next parent.

use super::Tree;
use crate::node::{Inner, Leaf, Shape};
use freehold_units::Span;

/// How many leaves ahead memory is asked for what is not in the cache: the time that takes is that of a few leaves.
const AHEAD: usize = 3;

/// A leaf, and where it is below its parent.
#[derive(Clone, Copy)]
pub(crate) struct LeafAt<'a> {
    pub(crate) leaf: &'a Leaf,
    /// The leaf's indexes.
    pub(crate) whole: Span,
    /// None of a leaf that is the root.
    parent: Option<Parent<'a>>,
}

#[derive(Clone, Copy)]
struct Parent<'a> {
    inner: &'a Inner,
    /// Which of its children the leaf is.
    slot: usize,
    /// Its last index.
    last: u64,
}

impl<S: Shape> Tree<S> {
    /// The leaf that has the index; none without a node.
    pub(crate) fn leaf_at(&self, index: u64) -> Option<LeafAt<'_>> {
        if self.height == 0 {
            return None;
        }
        let (mut first, mut last) = (0, u64::MAX);
        let mut id = self.root;
        let mut parent = None;
        for _ in 1..self.height {
            let inner = self.inner(id);
            let slot = inner.slot_of(index);
            parent = Some(Parent { inner, slot, last });
            if slot > 0 {
                first = inner.pivot(slot - 1) + 1;
            }
            last = last.min(inner.pivot(slot));
            id = inner.child(slot);
        }
        Some(LeafAt { leaf: self.leaf(id), whole: Span::new(first, last)?, parent })
    }

    /// The leaf behind, if there is one.
    #[inline(always)]
    pub(crate) fn leaf_behind<'a>(&'a self, at: &LeafAt<'a>) -> Option<LeafAt<'a>> {
        let first = at.whole.last().checked_add(1)?;
        let Parent { inner, slot, last } = at.parent?;
        let slot = slot + 1;
        if slot >= inner.len() {
            return self.leaf_at(first);
        }
        let whole = Span::new(first, inner.pivot(slot).min(last))?;
        if slot + AHEAD < inner.len() {
            self.leaf(inner.child(slot + AHEAD)).touch();
        }
        Some(LeafAt { leaf: self.leaf(inner.child(slot)), whole, parent: Some(Parent { inner, slot, last }) })
    }

    /// The leaf before, if there is one.
    pub(crate) fn leaf_before<'a>(&'a self, at: &LeafAt<'a>) -> Option<LeafAt<'a>> {
        at.whole.first().checked_sub(1).and_then(|last| self.leaf_at(last))
    }
}
