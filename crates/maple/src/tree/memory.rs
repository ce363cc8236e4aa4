//! The memory of a tree's nodes.

use crate::OutOfMemory;
use crate::entry::Word;
use crate::node::{Extent, Inner, Leaf, NodeId, NoneInline, Pool, PoolNode};
use core::fmt::Debug;
use core::ops::IndexMut;

/// The memory of a tree's nodes: a pool for each kind.
pub(crate) trait Memory: Debug {
    type Leaves: LeafPool;
    type Inners: InnerPool;
    /// Whether other threads read nodes during stores.
    const HAS_READERS: bool;
}

/// The numbering of a pool's nodes.
pub(crate) trait Numbers: Debug {
    /// The number of nodes that were made before this one.
    fn number(id: NodeId) -> usize;
}

/// The nodes of one kind, by their numbers. Only [`reserve`](Self::reserve) takes memory.
pub(crate) trait NodePool<T>: Numbers + IndexMut<NodeId, Output = T> {
    /// Makes vacant nodes until `count` can be taken.
    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory>;

    /// Takes a reserved node.
    fn take(&mut self) -> NodeId;

    /// Copies a node to one that was taken. Nodes own nothing.
    fn copy(&mut self, from: NodeId, to: NodeId);

    /// Frees a node: it is vacant afterwards.
    fn give_back(&mut self, id: NodeId);

    /// Nodes made so far, in use or vacant.
    fn made(&self) -> usize;

    /// Nodes in use.
    fn in_use(&self) -> usize;

    /// Bytes of memory held.
    fn bytes(&self) -> usize;

    /// Limits the nodes in use from now on.
    fn set_limit(&mut self, limit: usize);

    /// Length of the free list; at most one more than the number of nodes, even if the list is broken.
    fn count_vacant(&self) -> usize;
}

/// Leaves, of which others may read a published one while words of it become others.
pub(crate) trait LeafPool: NodePool<Leaf> {
    /// Replaces an entry's word. A concurrent reader gets one of the two.
    fn set_word(&mut self, id: NodeId, slot: usize, word: Word);
}

/// Inner nodes, of which others may read a published one while these parts of it change.
pub(crate) trait InnerPool: NodePool<Inner> {
    /// Records the longest gap below a child. Readers without the writer's lock never read it.
    fn set_gap(&mut self, id: NodeId, slot: usize, gap: Extent);

    /// Replaces a child by a node with the same index range. A concurrent reader goes to one of the two.
    fn set_child(&mut self, id: NodeId, slot: usize, child: NodeId);
}

/// Pools in the tree itself, for a tree with one owner. The first leaf is inline in the tree, so a map of a few entries
/// has no other memory.
#[derive(Debug)]
pub(crate) struct InPlace;

impl Memory for InPlace {
    type Leaves = Pool<Leaf, [Leaf; 1]>;
    type Inners = Pool<Inner, NoneInline>;
    const HAS_READERS: bool = false;
}

impl<T: Debug, I: Debug> Numbers for Pool<T, I> {
    #[inline]
    fn number(id: NodeId) -> usize {
        id as usize
    }
}

impl<T: PoolNode + Clone + Debug, I: AsRef<[T]> + AsMut<[T]> + Debug> NodePool<T> for Pool<T, I> {
    #[inline]
    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        self.reserve(count)
    }

    #[inline]
    fn take(&mut self) -> NodeId {
        self.take()
    }

    fn copy(&mut self, from: NodeId, to: NodeId) {
        self[to] = self[from].clone();
    }

    #[inline]
    fn give_back(&mut self, id: NodeId) {
        self.give_back(id);
    }

    fn made(&self) -> usize {
        self.made()
    }

    fn in_use(&self) -> usize {
        self.in_use()
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn set_limit(&mut self, limit: usize) {
        self.set_limit(limit);
    }

    fn count_vacant(&self) -> usize {
        self.vacant().count()
    }
}

impl<I: AsRef<[Leaf]> + AsMut<[Leaf]> + Debug> LeafPool for Pool<Leaf, I> {
    #[inline]
    fn set_word(&mut self, id: NodeId, slot: usize, word: Word) {
        self[id].set_word(slot, word);
    }
}

impl<I: AsRef<[Inner]> + AsMut<[Inner]> + Debug> InnerPool for Pool<Inner, I> {
    #[inline]
    fn set_gap(&mut self, id: NodeId, slot: usize, gap: Extent) {
        self[id].set_gap(slot, gap);
    }

    #[inline]
    fn set_child(&mut self, id: NodeId, slot: usize, child: NodeId) {
        self[id].set_child(slot, child);
    }
}
