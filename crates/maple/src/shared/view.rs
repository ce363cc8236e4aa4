//! The tree as a reader walks it.

#![allow(unsafe_code)]

use super::arena::{Chunks, PublishedInner, PublishedLeaf};
use super::atomic::{AtomicUsize, Ordering, RootPtr, switch};
use super::{MapleTree, Published};
use crate::entry::{StoredValue, Word};
use crate::node::{Inner, Leaf, Pivots, PoolNode};
use crate::tree::{Base, MAX_HEIGHT, ReadLeaf, indexes};
use core::ptr;
use freehold_rcu::{Guard, OwnedGuard};
use freehold_units::Span;

/// The nodes behind a root, which are there for `'r`.
#[derive(Clone, Copy)]
pub(super) struct View<'r> {
    leaves: &'r Chunks<Leaf>,
    inners: &'r Chunks<Inner>,
    root: Root,
}

/// Where a tree begins: at a node, whose place leaves low bits free for the tree's levels. Its place and not its number: one load
/// less that each look-up waits for.
#[derive(Clone, Copy, Debug)]
pub struct Root(Node);

/// The place of a node of either kind.
type Node = *mut ();

// SAFETY: it is a place like any other, and who reads there says why that may be done.
unsafe impl Send for Root {}
// SAFETY: as above.
unsafe impl Sync for Root {}

/// The bits of a root that are its tree's levels.
const LEVELS: usize = align_of::<Leaf>() - 1;
const _: () = assert!(LEVELS >= MAX_HEIGHT && align_of::<Inner>() > LEVELS);

impl Root {
    #[inline]
    fn node(self) -> Node {
        self.0.map_addr(|place| place & !LEVELS)
    }

    #[inline]
    fn height(self) -> usize {
        self.0.addr() & LEVELS
    }
}

/// The root that readers load.
pub struct PublishedRoot(RootPtr<()>);

impl PublishedRoot {
    pub(super) fn new() -> Self {
        Self(RootPtr::new(ptr::null_mut()))
    }

    #[inline]
    fn newest(&self) -> Root {
        // Acquire: pairs with the Release of `Published::set_root`, so that the root is seen as it was built.
        Root(self.0.load(Ordering::Acquire))
    }
}

impl Published {
    /// Makes a tree what readers see.
    pub(super) fn set_root(&self, base: Base) {
        let Base { root, height, .. } = base;
        let node = match height {
            0 => ptr::null_mut(),
            1 => self.leaves.at(root).cast::<()>(),
            _ => self.inners.at(root).cast(),
        };
        // Release: pairs with the Acquire of readers.
        self.root.0.store(node.map_addr(|place| place | height), Ordering::Release);
    }
}

/// A reader on its way from the root down to an index. Between two steps, the writer may do anything.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    node: Node,
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
        Walk { node: self.root.node(), height: self.root.height(), first: 0, last: u64::MAX }
    }

    #[inline]
    fn leaf(&self, node: Node) -> PublishedLeaf<'r> {
        switch();
        // SAFETY: it is the root or comes from a link, loaded within the time of the guard that `'r` lies in.
        unsafe { PublishedLeaf::at(node.cast()) }
    }

    #[inline]
    fn inner(&self, node: Node) -> PublishedInner<'r> {
        switch();
        // SAFETY: as for `leaf`.
        unsafe { PublishedInner::at(node.cast()) }
    }

    /// The child of an inner node with so many levels.
    #[inline]
    fn child(&self, inner: PublishedInner<'r>, height: usize, slot: usize) -> Node {
        let id = inner.child(slot);
        if height == 2 { self.leaves.at(id).cast() } else { self.inners.at(id).cast() }
    }

    /// The leaf that has the index, and which child of an inner node with which pivots it is. None in a tree without nodes.
    #[inline]
    fn leaf_with(&self, index: u64) -> Option<(PublishedLeaf<'r>, &'r Pivots, usize)> {
        let (mut node, mut height) = (self.root.node(), self.root.height());
        if height == 0 {
            return None;
        }
        let (mut parent, mut slot) = (&Inner::VACANT.pivots, 0);
        while height > 1 {
            let inner = self.inner(node);
            parent = inner.pivots();
            slot = parent.slot_of(index);
            node = self.child(inner, height, slot);
            height -= 1;
        }
        Some((self.leaf(node), parent, slot))
    }

    /// The entry at an index.
    #[inline]
    pub(super) fn get(&self, index: u64) -> Option<Word> {
        let (leaf, ..) = self.leaf_with(index)?;
        leaf.entry(leaf.shape().slot_of(index))
    }

    /// The entry at an index, with its whole range.
    #[inline]
    pub(super) fn entry_at(&self, index: u64) -> Option<(Span, Word)> {
        let (leaf, parent, child) = self.leaf_with(index)?;
        let slot = leaf.shape().slot_of(index);
        let word = leaf.entry(slot)?;
        match leaf.shape().span_below(slot, parent, child) {
            Some(span) => Some((span, word)),
            None => self.entry_at_edge(index),
        }
    }

    /// The same of an entry that begins or ends where its leaf's parent does. The second walk may come to another leaf: all of the
    /// answer is that walk's.
    #[cold]
    fn entry_at_edge(&self, index: u64) -> Option<(Span, Word)> {
        let (span, word) = self.slot_at(index);
        Some((span, word?))
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
            1 => Some((self.leaf(walk.node), indexes(walk.first, walk.last))),
            _ => {
                let inner = self.inner(walk.node);
                let pivots = inner.pivots();
                let slot = pivots.slot_of(index);
                walk.first = pivots.start_of(slot, walk.first);
                walk.last = walk.last.min(pivots.last_of(slot));
                walk.node = self.child(inner, walk.height, slot);
                walk.height -= 1;
                None
            }
        }
    }
}

/// Keeps reachable nodes alive and chooses the root to read from: the current one, or a snapshot's. Each kind is or has a guard of
/// the domain in which the maps retire.
pub trait ReadGuard {
    /// Where the tree begins, of one whose root is `published`. Cost: constant.
    fn root(&self, published: &PublishedRoot) -> Root;
}

impl ReadGuard for Guard<'static> {
    #[inline]
    fn root(&self, published: &PublishedRoot) -> Root {
        published.newest()
    }
}

impl ReadGuard for OwnedGuard<'static> {
    #[inline]
    fn root(&self, published: &PublishedRoot) -> Root {
        published.newest()
    }
}

/// A moment of the map. While it is counted, stores change nothing that can be reached from its root, links neither.
#[derive(Debug)]
pub struct SnapshotGuard<'a> {
    root: Root,
    count: &'a AtomicUsize,
    _guard: OwnedGuard<'static>,
}

impl<'a> SnapshotGuard<'a> {
    /// The present moment of a map whose lock the caller holds.
    pub(super) fn new(published: &PublishedRoot, count: &'a AtomicUsize, guard: OwnedGuard<'static>) -> Self {
        // Relaxed: the writer looks at it under the lock.
        count.fetch_add(1, Ordering::Relaxed);
        Self { root: published.newest(), count, _guard: guard }
    }
}

impl Drop for SnapshotGuard<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `MapleTree::is_frozen`. A writer that
        // reads 0 there happens after all loads of the last snapshot.
        self.count.fetch_sub(1, Ordering::Release);
    }
}

impl ReadGuard for SnapshotGuard<'_> {
    #[inline]
    fn root(&self, _published: &PublishedRoot) -> Root {
        self.root
    }
}

/// A reader of a [`MapleTree`]: what it answers with stays as long as it does.
///
/// While it lives, nothing that it could have seen is reused or dropped. So whoever keeps one for long keeps memory.
pub struct Reading<'a, E: StoredValue, K = Guard<'static>> {
    pub(super) map: &'a MapleTree<E>,
    /// The guard: of this thread, or one that may be sent, or a moment of the map.
    pub(super) keep: K,
}

impl<E: StoredValue, K: ReadGuard> Reading<'_, E, K> {
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
