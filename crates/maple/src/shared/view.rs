//! The tree as a reader walks it.

#![allow(unsafe_code)]

use super::arena::{Chunks, PublishedInner, PublishedLeaf};
use super::atomic::{AtomicU64, AtomicUsize, Ordering};
use super::{Published, Reading};
use crate::entry::{StoredValue, Word};
use crate::node::{Inner, Leaf, NodeId};
use crate::tree::{Base, ReadLeaf, indexes};
use freehold_rcu::{Guard, OwnedGuard};
use freehold_units::Span;

/// The nodes behind a root, which are there for `'r`.
#[derive(Clone, Copy)]
pub(super) struct View<'r> {
    leaves: &'r Chunks<Leaf>,
    inners: &'r Chunks<Inner>,
    root: Root,
}

/// Where a tree begins: the root's number, and from bit 32 on the tree's levels.
#[derive(Clone, Copy, Debug)]
pub struct Root(pub(super) u64);

impl Root {
    pub(super) fn of(base: Base) -> Self {
        if base.height == 0 { Self(0) } else { Self((base.height as u64) << 32 | u64::from(base.root)) }
    }

    #[inline]
    fn id(self) -> NodeId {
        self.0 as NodeId
    }

    #[inline]
    fn height(self) -> usize {
        (self.0 >> 32) as usize
    }
}

/// A reader on its way from the root down to an index. Between two steps, the writer may do anything.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    id: NodeId,
    /// Levels of the node.
    height: usize,
    /// The node's indexes.
    first: u64,
    last: u64,
}

impl<'r> View<'r> {
    /// From the root.
    #[inline]
    pub(super) fn walk(&self) -> Walk {
        Walk { id: self.root.id(), height: self.root.height(), first: 0, last: u64::MAX }
    }

    #[inline]
    fn leaf(&self, id: NodeId) -> PublishedLeaf<'r> {
        // SAFETY: the number is the root's or comes from a link, loaded within the time of the guard that `'r` lies in.
        unsafe { self.leaves.leaf(id) }
    }

    #[inline]
    fn inner(&self, id: NodeId) -> PublishedInner<'r> {
        // SAFETY: as for `leaf`.
        unsafe { self.inners.inner(id) }
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
            id = inner.child(inner.pivots().slot_of(index));
        }
        let leaf = self.leaf(id);
        leaf.entry(leaf.shape().slot_of(index))
    }

    /// The leaf that has the index, and its indexes. A tree without nodes is one gap.
    pub(super) fn leaf_at(&self, index: u64) -> (PublishedLeaf<'r>, Span) {
        let mut walk = self.walk();
        loop {
            if let Some(found) = self.step(&mut walk, index) {
                return found;
            }
        }
    }

    /// The range that an index is in, with its entry; without one, the whole gap.
    pub(super) fn slot_at(&self, index: u64) -> (Span, Option<Word>) {
        let (leaf, whole) = self.leaf_at(index);
        let slot = leaf.shape().slot_of(index);
        let (first, last) = leaf.shape().span(slot, whole);
        (indexes(first, last), leaf.entry(slot))
    }

    /// Goes one level down, to a child or to the leaf that has the index. The leaf comes with its indexes: a node's never change
    /// while it can be reached, and who takes its place has the same (M10).
    #[inline]
    pub(super) fn step(&self, walk: &mut Walk, index: u64) -> Option<(PublishedLeaf<'r>, Span)> {
        match walk.height {
            0 => Some((PublishedLeaf::EMPTY, Span::ALL)),
            1 => Some((self.leaf(walk.id), indexes(walk.first, walk.last))),
            _ => {
                let inner = self.inner(walk.id);
                let pivots = inner.pivots();
                let slot = pivots.slot_of(index);
                walk.first = pivots.start_of(slot, walk.first);
                walk.last = walk.last.min(pivots.last_of(slot));
                walk.id = inner.child(slot);
                walk.height -= 1;
                None
            }
        }
    }
}

/// What keeps what a reader reaches, and says where the reader begins. All kinds of it are here: each is or has a guard of the
/// domain in which the maps retire.
pub trait Keep {
    /// Where the tree begins, of one whose root is `published`.
    fn root(&self, published: &AtomicU64) -> Root;
}

#[inline]
fn newest(published: &AtomicU64) -> Root {
    // Acquire: pairs with the Release in `MapleTree::publish_root`, so that the root is seen as it was built.
    Root(published.load(Ordering::Acquire))
}

impl Keep for Guard<'static> {
    #[inline]
    fn root(&self, published: &AtomicU64) -> Root {
        newest(published)
    }
}

impl Keep for OwnedGuard<'static> {
    #[inline]
    fn root(&self, published: &AtomicU64) -> Root {
        newest(published)
    }
}

/// A moment of the map. While it is counted, stores change nothing that can be reached from its root, links neither.
#[derive(Debug)]
pub struct Moment<'a> {
    root: Root,
    count: &'a AtomicUsize,
    _guard: OwnedGuard<'static>,
}

impl<'a> Moment<'a> {
    /// The present moment of a map whose lock the caller holds.
    pub(super) fn new(published: &AtomicU64, count: &'a AtomicUsize, guard: OwnedGuard<'static>) -> Self {
        // Relaxed: the writer looks at it under the lock.
        count.fetch_add(1, Ordering::Relaxed);
        Self { root: newest(published), count, _guard: guard }
    }
}

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `MapleTree::is_frozen`. Who counts no moment any more comes after its reader's loads.
        self.count.fetch_sub(1, Ordering::Release);
    }
}

impl Keep for Moment<'_> {
    #[inline]
    fn root(&self, _published: &AtomicU64) -> Root {
        self.root
    }
}

impl<E: StoredValue, K: Keep> Reading<'_, E, K> {
    /// The tree as it is now, or at the reader's moment.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        let Self { map, keep } = self;
        let Published { root, leaves, inners } = &map.published;
        // The map's writer published the root, and the guard lives as long as `self` is borrowed: what is behind the root, and
        // behind each link that is loaded within that time, is not reused.
        View { leaves, inners, root: keep.root(root) }
    }
}
