//! Memory for the nodes of a shared tree: [chunks] that never move, in a directory of fixed size.
//!
//! The writer has an [`Arena`] for each kind of node; readers have its [`Chunks`]. A reader finds a node in the root,
//! or its number in another node. Under a guard it may read that node while the writer takes, changes and frees others.
//!
//! # Invariants
//! - Of a node that readers can reach, only three things change: links and gaps of an inner node, words of a leaf's
//!   entries (M10). Everything else is written before the node is published; a node is freed only after a grace period.
//! - Links and words are atomic. Readers do not read gaps, and never hold a reference to a whole node.
//! - A chunk stays where it is as long as the arena or the readers' side lives (M11).

#![allow(unsafe_code)]

use super::atomic::{AtomicPtr, AtomicU32, Ordering, switch};
use crate::OutOfMemory;
use crate::entry::Word;
use crate::node::{Extent, FANOUT, Inner, Leaf, NONE, NodeId, Pivots, PoolNode, SLOTS, Shape};
use crate::tree::{InnerPool, LeafPool, Memory, NodePool, Numbers, ReadLeaf};
use alloc::alloc::{Layout, alloc, dealloc};
use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};
use core::ptr;
use freehold_units::chunks;

/// The chunks of nodes of one kind. In cache lines of its own, as each level of a look-up reads it.
#[repr(align(128))]
pub(super) struct Chunks<T> {
    /// Each is null until the writer allocates it.
    chunks: [AtomicPtr<T>; chunks::NAMED],
}

/// The writer's side: knows which nodes are vacant.
pub(super) struct Arena<T> {
    chunks: Arc<Chunks<T>>,
    /// Head of the free list of vacant nodes.
    vacant: NodeId,
    vacant_len: usize,
    /// Nodes made so far, in use or vacant.
    made: usize,
    /// The most nodes that may be in use at once.
    limit: usize,
}

/// The memory of a shared tree.
#[derive(Debug)]
pub(super) struct Shared;

impl Memory for Shared {
    type Leaves = Arena<Leaf>;
    type Inners = Arena<Inner>;
    const HAS_READERS: bool = true;
}

fn layout<T>(chunk: usize) -> Result<Layout, OutOfMemory> {
    Layout::array::<T>(chunks::len(chunk)).map_err(|_| OutOfMemory)
}

impl<T> Chunks<T> {
    fn new() -> Self {
        Self { chunks: [const { AtomicPtr::new(ptr::null_mut()) }; chunks::NAMED] }
    }

    /// The address of a node. Its chunk was made before its number was published.
    #[inline]
    pub(super) fn at(&self, id: NodeId) -> *mut T {
        let (chunk, at) = chunks::place(id);
        // Relaxed: the number came from the writer through a link's Release store, which follows the store of the
        // chunk.
        let first = self.chunks[chunk].load(Ordering::Relaxed);
        debug_assert!(!first.is_null(), "M11: a node's chunk is there");
        first.wrapping_add(at)
    }
}

/// A published leaf. The writer may change it where M10 allows it.
#[derive(Clone, Copy)]
pub(crate) struct PublishedLeaf<'r> {
    node: *mut Leaf,
    reached: PhantomData<&'r Leaf>,
}

// SAFETY:
// - It is only an address.
// - A word loaded from there becomes a value only through a map, which the thread may use only if it may share it.
unsafe impl Send for PublishedLeaf<'_> {}
// SAFETY: as above; loads are atomic.
unsafe impl Sync for PublishedLeaf<'_> {}

impl PublishedLeaf<'_> {
    /// A leaf that a reader has reached.
    ///
    /// # Safety
    /// - The leaf was published.
    /// - A guard keeps it reachable for all of `'r`.
    #[inline]
    pub(super) unsafe fn at(node: *mut Leaf) -> Self {
        Self { node, reached: PhantomData }
    }
}

impl<'r> ReadLeaf<'r> for PublishedLeaf<'r> {
    const EMPTY: Self = Self { node: ptr::from_ref(&Leaf::EMPTY).cast_mut(), reached: PhantomData };

    #[inline]
    fn shape(self) -> &'r Shape {
        // SAFETY: the shape was written before the leaf was published, and never changes while the leaf is reachable
        // (M10).
        unsafe { &(*self.node).shape }
    }

    #[inline]
    fn word(self, slot: usize) -> Word {
        switch();
        // SAFETY:
        // - The leaf is alive for `'r`.
        // - While it is reachable, only `set_word` changes its words, atomically.
        let word = unsafe { AtomicPtr::from_ptr(&raw mut (*self.node).words[slot % SLOTS]) };
        // Acquire: pairs with the Release of `set_word`, so the value behind the word is seen initialised.
        word.load(Ordering::Acquire)
    }
}

impl PublishedLeaf<'_> {
    /// The slot's entry.
    #[inline]
    pub(super) fn entry(self, slot: usize) -> Option<Word> {
        self.shape().has_entry(slot).then(|| self.word(slot))
    }
}

/// A published inner node. The writer may change it where M10 allows it.
#[derive(Clone, Copy)]
pub(super) struct PublishedInner<'r> {
    node: *mut Inner,
    reached: PhantomData<&'r Inner>,
}

impl<'r> PublishedInner<'r> {
    /// An inner node that a reader has reached.
    ///
    /// # Safety
    /// As for [`PublishedLeaf::at`].
    #[inline]
    pub(super) unsafe fn at(node: *mut Inner) -> Self {
        Self { node, reached: PhantomData }
    }

    /// The indexes that separate its children.
    #[inline]
    pub(super) fn pivots(self) -> &'r Pivots {
        // SAFETY: the pivots were written before the node was published, and never change while it is reachable (M10).
        unsafe { &(*self.node).pivots }
    }

    /// The present child in that slot.
    #[inline]
    pub(super) fn child(self, slot: usize) -> NodeId {
        switch();
        // SAFETY:
        // - The node is alive for `'r`.
        // - While it is reachable, only `set_child` changes its links, atomically.
        let link = unsafe { AtomicU32::from_ptr(&raw mut (*self.node).children[slot % FANOUT]) };
        // Acquire: pairs with the Release of `set_child`, so the child is seen as it was built.
        link.load(Ordering::Acquire)
    }
}

impl<T> Drop for Chunks<T> {
    fn drop(&mut self) {
        const { assert!(!core::mem::needs_drop::<T>(), "nodes are forgotten with their chunk") };
        for (chunk, first) in self.chunks.iter_mut().enumerate() {
            if let Ok(layout) = layout::<T>(chunk)
                && !first.get_mut().is_null()
            {
                // SAFETY: `make_chunk` allocated it with this layout.
                unsafe { dealloc(first.get_mut().cast(), layout) };
            }
        }
    }
}

impl<T: PoolNode> Arena<T> {
    pub(super) fn new() -> Self {
        let chunks = Arc::new(Chunks::new());
        Self { chunks, vacant: NONE, vacant_len: 0, made: 0, limit: usize::MAX }
    }

    /// The readers' side.
    pub(super) fn chunks(&self) -> Arc<Chunks<T>> {
        Arc::clone(&self.chunks)
    }

    /// Makes one vacant node.
    #[cold]
    fn make(&mut self) -> Result<(), OutOfMemory> {
        let id = chunks::nth(self.made).ok_or(OutOfMemory)?;
        let (chunk, at) = chunks::place(id);
        if at == 0 {
            // SAFETY: no node has size 0.
            let first = unsafe { alloc(layout::<T>(chunk)?) };
            if first.is_null() {
                return Err(OutOfMemory);
            }
            self.chunks.chunks[chunk].store(first.cast(), Ordering::Relaxed);
        }
        // SAFETY: the address is in a chunk, and nobody has the number yet.
        unsafe { self.chunks.at(id).write(T::VACANT) };
        self.made += 1;
        self.give_back(id);
        Ok(())
    }

    #[inline]
    fn assert_made(&self, id: NodeId) {
        debug_assert!(Self::number(id) < self.made, "M6: a number in the tree has a node");
    }
}

impl<T: PoolNode> Index<NodeId> for Arena<T> {
    type Output = T;

    #[inline]
    fn index(&self, id: NodeId) -> &T {
        self.assert_made(id);
        // SAFETY:
        // - `id` came from `take`, so the node is initialised.
        // - Plain writes need `&mut Arena`, which this `&self` excludes.
        // - Atomic writes touch only links and words (M10).
        unsafe { &*self.chunks.at(id) }
    }
}

impl<T: PoolNode> IndexMut<NodeId> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, id: NodeId) -> &mut T {
        self.assert_made(id);
        // SAFETY:
        // - The node is initialised.
        // - The writer's other references to it have ended.
        // - Readers have none: the tree borrows mutably only nodes that they cannot reach (M10).
        unsafe { &mut *self.chunks.at(id) }
    }
}

impl<T> Numbers for Arena<T> {
    #[inline]
    fn number(id: NodeId) -> usize {
        chunks::made(id)
    }
}

impl<T: PoolNode> NodePool<T> for Arena<T> {
    #[inline]
    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        if count > self.limit.saturating_sub(self.in_use()) {
            return Err(OutOfMemory);
        }
        while self.vacant_len < count {
            self.make()?;
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self) -> NodeId {
        debug_assert!(self.vacant_len > 0, "M6: a node is taken that was not reserved");
        let id = self.vacant;
        self.vacant = self[id].link();
        self.vacant_len -= 1;
        id
    }

    #[inline]
    fn copy(&mut self, from: NodeId, to: NodeId) {
        self.assert_made(from);
        self.assert_made(to);
        assert!(from != to, "M6: a node that was taken is none that is in use");
        // SAFETY:
        // - Both nodes are initialised, and are different.
        // - Nobody has a reference to the second, which was taken just now (M10).
        unsafe { ptr::copy_nonoverlapping(self.chunks.at(from), self.chunks.at(to), 1) };
    }

    fn give_back(&mut self, id: NodeId) {
        let next = self.vacant;
        self[id].set_link(next);
        self.vacant = id;
        self.vacant_len += 1;
    }

    fn made(&self) -> usize {
        self.made
    }

    #[inline]
    fn in_use(&self) -> usize {
        self.made - self.vacant_len
    }

    fn bytes(&self) -> usize {
        let chunks =
            self.chunks.chunks.iter().take_while(|first| !first.load(Ordering::Relaxed).is_null()).count();
        chunks::made_before(chunks) * size_of::<T>()
    }

    fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    fn count_vacant(&self) -> usize {
        let known = |id: NodeId| (id != NONE).then_some(id);
        core::iter::successors(known(self.vacant), |&id| known(self[id].link())).take(self.made + 1).count()
    }
}

impl LeafPool for Arena<Leaf> {
    #[inline]
    fn set_word(&mut self, id: NodeId, slot: usize, word: Word) {
        self.assert_made(id);
        switch();
        // SAFETY:
        // - The node is initialised.
        // - Readers load its words atomically (M10).
        let place = unsafe { AtomicPtr::from_ptr(&raw mut (*self.chunks.at(id)).words[slot % SLOTS]) };
        // Release: pairs with the Acquire of `PublishedLeaf::word`.
        place.store(word, Ordering::Release);
    }
}

impl InnerPool for Arena<Inner> {
    #[inline]
    fn set_gap(&mut self, id: NodeId, slot: usize, gap: Extent) {
        self.assert_made(id);
        // SAFETY:
        // - The node is initialised.
        // - Only the writer accesses gaps (M10).
        unsafe { (&raw mut (*self.chunks.at(id)).gaps[slot % FANOUT]).write(gap) };
    }

    #[inline]
    fn set_child(&mut self, id: NodeId, slot: usize, child: NodeId) {
        self.assert_made(id);
        switch();
        // SAFETY:
        // - The node is initialised.
        // - Readers load its links atomically (M10).
        let link = unsafe { AtomicU32::from_ptr(&raw mut (*self.chunks.at(id)).children[slot % FANOUT]) };
        // Release: pairs with the Acquire of `PublishedInner::child`.
        link.store(child, Ordering::Release);
    }
}

impl<T> fmt::Debug for Arena<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("made", &self.made)
            .field("vacant", &self.vacant_len)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_node_has_a_place_of_its_own() {
        let mut arena = Arena::<Inner>::new();
        let chunks = arena.chunks();
        let mut ids = Vec::new();
        for _ in 0..500 {
            arena.reserve(1).unwrap();
            let id = arena.take();
            assert_eq!(Arena::<Inner>::number(id), ids.len());
            ids.push((id, ptr::from_ref(&arena[id])));
        }
        for &(id, place) in &ids {
            assert!(ptr::eq(chunks.at(id), place));
        }
        assert_eq!(
            (arena.in_use(), arena.count_vacant(), arena.bytes()),
            (500, 0, (64 + 128 + 256 + 512) * size_of::<Inner>())
        );
        arena.give_back(7);
        assert_eq!((arena.take(), arena.count_vacant()), (7, 0));
        arena.set_limit(500);
        assert_eq!(arena.reserve(1), Err(OutOfMemory));
    }
}
