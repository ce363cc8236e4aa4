//! Where the nodes of a tree are.

use crate::OutOfMemory;
use crate::node::{Inner, Leaf, NodeId, NoneInline, Pool, PoolNode};
use core::fmt::Debug;
use core::ops::IndexMut;

/// The memory of a tree's nodes: a pool for each kind.
pub(crate) trait Memory {
    type Leaves: NodePool<Leaf>;
    type Inners: NodePool<Inner>;
}

/// The nodes of one kind, by their numbers. Memory is asked for in [`reserve`](Self::reserve) alone.
pub(crate) trait NodePool<T>: IndexMut<NodeId, Output = T> + Debug {
    /// Makes vacant nodes until `count` can be taken.
    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory>;

    /// Takes a node that was reserved.
    fn take(&mut self) -> NodeId;

    /// Gives a node back. It is vacant then.
    fn give_back(&mut self, id: NodeId);

    /// Nodes that have been made, in use or vacant.
    fn made(&self) -> usize;

    /// Nodes in use.
    fn in_use(&self) -> usize;

    /// Bytes of memory held.
    fn bytes(&self) -> usize;

    /// Has no more than so many nodes in use from now on.
    fn set_limit(&mut self, limit: usize);

    /// How many numbers the list of vacant nodes has; at most one more than there are nodes, even if the list is broken.
    fn count_vacant(&self) -> usize;
}

/// Pools in the tree itself, for a tree with one owner. The first leaf lies in the tree: a map of a few entries has no other
/// memory.
#[derive(Debug)]
pub(crate) struct InPlace;

impl Memory for InPlace {
    type Leaves = Pool<Leaf, [Leaf; 1]>;
    type Inners = Pool<Inner, NoneInline>;
}

impl<T: PoolNode + Debug, I: AsRef<[T]> + AsMut<[T]> + Debug> NodePool<T> for Pool<T, I> {
    #[inline]
    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        self.reserve(count)
    }

    #[inline]
    fn take(&mut self) -> NodeId {
        self.take()
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
