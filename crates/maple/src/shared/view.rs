//! The tree as a reader descends it.

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

/// The nodes behind a root, alive for `'r`.
#[derive(Clone, Copy)]
pub(super) struct View<'r> {
    leaves: &'r Chunks<Leaf>,
    inners: &'r Chunks<Inner>,
    root: Root,
}

/// The root of a tree: the address of a node, whose low bits hold the tree's height. An address and not a number saves
/// one dependent load in each look-up.
#[derive(Clone, Copy, Debug)]
pub struct Root(Node);

/// The address of a node of either kind.
type Node = *mut ();

// SAFETY: it is only an address; each read through it is justified where it is done.
unsafe impl Send for Root {}
// SAFETY: as above.
unsafe impl Sync for Root {}

/// The bits of a root that hold the tree's height.
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
#[derive(Debug)]
pub struct PublishedRoot(RootPtr<()>);

impl PublishedRoot {
    pub(super) fn new() -> Self {
        Self(RootPtr::new(ptr::null_mut()))
    }

    #[inline]
    fn newest(&self) -> Root {
        // Acquire: pairs with the Release of `Published::set_root`, so the root is seen as it was built.
        Root(self.0.load(Ordering::Acquire))
    }
}

impl Published {
    /// Publishes a tree: readers see it from now on.
    pub(super) fn set_root(&self, base: Base) {
        let Base { root, height, .. } = base;
        let node = match height {
            0 => ptr::null_mut(),
            1 => self.leaves.at(root).cast::<()>(),
            _ => self.inners.at(root).cast(),
        };
        // Release: pairs with the Acquire of `PublishedRoot::newest`.
        self.root.0.store(node.map_addr(|place| place | height), Ordering::Release);
    }
}

/// A reader's position on the way from the root down to an index. Between two steps, the writer may do anything.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    node: Node,
    /// Levels of the subtree whose root is the node: 1 for a leaf.
    height: usize,
    /// The node's index range.
    first: u64,
    last: u64,
}

impl<'r> View<'r> {
    /// A walk that starts at the root.
    #[inline]
    pub(super) fn walk(&self) -> Walk {
        Walk { node: self.root.node(), height: self.root.height(), first: 0, last: u64::MAX }
    }

    #[inline]
    fn leaf(&self, node: Node) -> PublishedLeaf<'r> {
        switch();
        // SAFETY: the node is the root or comes from a link, which was loaded while the guard that outlives `'r` was
        // held.
        unsafe { PublishedLeaf::at(node.cast()) }
    }

    #[inline]
    fn inner(&self, node: Node) -> PublishedInner<'r> {
        switch();
        // SAFETY: as for `leaf`.
        unsafe { PublishedInner::at(node.cast()) }
    }

    /// The child in a slot of an inner node with `height` levels.
    #[inline]
    fn child(&self, inner: PublishedInner<'r>, height: usize, slot: usize) -> Node {
        let id = inner.child(slot);
        if height == 2 { self.leaves.at(id).cast() } else { self.inners.at(id).cast() }
    }

    /// The leaf that contains the index, its parent's pivots, and its slot in the parent. `None` if the tree has no
    /// nodes.
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

    /// [`entry_at`](Self::entry_at) for an entry that begins or ends where its leaf's parent does. This second walk may
    /// reach another leaf, so the whole answer is taken from it.
    #[cold]
    fn entry_at_edge(&self, index: u64) -> Option<(Span, Word)> {
        let (span, word) = self.slot_at(index);
        Some((span, word?))
    }

    /// The leaf that contains the index, and the leaf's index range. A tree without nodes is one gap.
    pub(super) fn leaf_at(&self, index: u64) -> (PublishedLeaf<'r>, Span) {
        let mut walk = self.walk();
        loop {
            if let Some(found) = self.step(&mut walk, index) {
                return found;
            }
        }
    }

    /// The range that contains an index, with its entry, or the whole gap if it has none.
    pub(super) fn slot_at(&self, index: u64) -> (Span, Option<Word>) {
        let (leaf, whole) = self.leaf_at(index);
        let slot = leaf.shape().slot_of(index);
        let (first, last) = leaf.shape().span(slot, whole);
        (indexes(first, last), leaf.entry(slot))
    }

    /// Goes one level down. At a leaf, returns it with its index range: a reachable node's range never changes, and its
    /// replacement has the same (M10).
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

/// Keeps reachable nodes alive and chooses the root to read from: the current one, or a snapshot's. Each implementation
/// is, or contains, a guard of the domain in which the map retires: only the map makes its readers.
///
/// A function with this bound takes any [`Reading`]: one of the present, and a [`Snapshot`](super::Snapshot).
///
/// ```
/// use freehold_maple::maple_tree::{MapleTree, ReadGuard, Reading};
///
/// fn covered<K: ReadGuard>(reading: &Reading<'_, u32, K>) -> u128 {
///     reading.into_iter().map(|(span, _)| span.size_bytes()).sum()
/// }
///
/// let map = MapleTree::new();
/// map.store(0..10, 7)?;
/// let snapshot = map.snapshot()?;
/// map.remove_range(5..)?;
/// assert_eq!((covered(&map.read()), covered(&snapshot)), (5, 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ReadGuard {
    /// The root to read from, in a map whose current root is `published`. Cost: constant.
    #[doc(hidden)]
    fn root(&self, published: &PublishedRoot) -> Root;
}

impl ReadGuard for Guard<'_> {
    #[inline]
    fn root(&self, published: &PublishedRoot) -> Root {
        published.newest()
    }
}

impl ReadGuard for OwnedGuard<'_> {
    #[inline]
    fn root(&self, published: &PublishedRoot) -> Root {
        published.newest()
    }
}

/// The guard of a snapshot. While it is counted, stores change nothing that its root can reach, not even links.
#[derive(Debug)]
pub struct SnapshotGuard<'a> {
    root: Root,
    count: &'a AtomicUsize,
    _guard: OwnedGuard<'a>,
}

impl<'a> SnapshotGuard<'a> {
    /// A snapshot of the present moment. The caller holds the map's lock.
    pub(super) fn new(published: &PublishedRoot, count: &'a AtomicUsize, guard: OwnedGuard<'a>) -> Self {
        // Relaxed: the writer reads it under the lock, which the caller holds.
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

/// A reader of a [`MapleTree`]: what it returns stays valid as long as the reader lives.
///
/// While it lives, nothing that it could have seen is reused or dropped. A reader that is kept for long therefore holds
/// memory back. One that is forgotten (`mem::forget`) does so for ever, in all maps of the domain, until they refuse
/// changes ([`WriteError::Readers`](crate::maple_tree::WriteError::Readers)).
pub struct Reading<'a, E: StoredValue, K = Guard<'a>> {
    pub(super) map: &'a MapleTree<E>,
    /// The guard: of this thread, one that may be sent to another, or a snapshot's.
    pub(super) keep: K,
}

impl<E: StoredValue, K: ReadGuard> Reading<'_, E, K> {
    /// The tree as it is now, or at the snapshot's moment.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        let Self { map, keep } = self;
        let Published { root, leaves, inners, .. } = &map.published;
        // The map's writer published the root, and the guard lives as long as `self` is borrowed. So neither what is
        // behind the root, nor behind any link loaded meanwhile, is reused.
        View { leaves, inners, root: keep.root(root) }
    }
}
