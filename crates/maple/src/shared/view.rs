//! A published version of the tree, as a reader walks it.

#![allow(unsafe_code)]

use super::Reading;
use super::arena::Chunks;
use crate::entry::{StoredValue, Word};
use crate::node::{Inner, Leaf, NodeId};
use crate::tree::{Base, indexes};
use core::sync::atomic::Ordering;
use freehold_units::Span;

/// A version that stays as it is for `'r`.
#[derive(Clone, Copy)]
pub(super) struct View<'r> {
    leaves: &'r Chunks<Leaf>,
    inners: &'r Chunks<Inner>,
    root: Root,
}

/// Where a version begins: the root's number, and from bit 32 on the tree's levels.
#[derive(Clone, Copy)]
pub(super) struct Root(pub(super) u64);

impl Root {
    pub(super) fn of(base: Base) -> Self {
        if base.height == 0 { Self(0) } else { Self((base.height as u64) << 32 | u64::from(base.root)) }
    }

    #[inline]
    fn id(self) -> NodeId {
        self.0 as NodeId
    }

    #[inline]
    pub(super) fn height(self) -> usize {
        (self.0 >> 32) as usize
    }
}

impl<'r> View<'r> {
    /// # Safety
    /// The root was published by the writer of these chunks, and loaded with Acquire under a guard that is held for `'r`.
    #[inline]
    unsafe fn new(leaves: &'r Chunks<Leaf>, inners: &'r Chunks<Inner>, root: Root) -> Self {
        Self { leaves, inners, root }
    }

    #[inline]
    fn leaf(&self, id: NodeId) -> &'r Leaf {
        // SAFETY: the number is the root's or comes from an inner node of the version, whose nodes are within the guard's reach.
        unsafe { self.leaves.read(id) }
    }

    #[inline]
    fn inner(&self, id: NodeId) -> &'r Inner {
        // SAFETY: as for `leaf`.
        unsafe { self.inners.read(id) }
    }

    /// The entry at an index.
    #[inline]
    pub(super) fn get(&self, index: u64) -> Option<Word> {
        let height = self.root.height();
        if height == 0 {
            return None;
        }
        let mut id = self.root.id();
        for _ in 1..height {
            let inner = self.inner(id);
            id = inner.child(inner.slot_of(index));
        }
        let leaf = self.leaf(id);
        leaf.entry(leaf.slot_of(index))
    }

    /// The leaf that has the index, and its indexes. A version without nodes is one gap.
    pub(super) fn leaf_at(&self, index: u64) -> (&'r Leaf, Span) {
        let height = self.root.height();
        if height == 0 {
            return (&Leaf::EMPTY, Span::ALL);
        }
        let (mut id, mut first, mut last) = (self.root.id(), 0, u64::MAX);
        for _ in 1..height {
            let inner = self.inner(id);
            let slot = inner.slot_of(index);
            first = first.max(inner.start(slot));
            last = last.min(inner.pivot(slot));
            id = inner.child(slot);
        }
        (self.leaf(id), indexes(first, last))
    }
}

impl<E: StoredValue> Reading<'_, E> {
    /// The version that is published now.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        // Acquire: pairs with the Release in `MapleTree::publish`, so that the version's nodes are seen as they were built.
        let root = Root(self.map.root.load(Ordering::Acquire));
        // SAFETY: the map's writer published it, and the guard lives as long as `self` is borrowed.
        unsafe { View::new(&self.map.leaves, &self.map.inners, root) }
    }
}
