//! A pool of nodes: the first may lie in the pool itself, the next in one piece, the others in pieces of 16 that never
//! move.
//!
//! ```text
//!   number   0 .. own         .. 64           .. 80           .. 96
//!            | in the pool | first piece | second piece | third piece | ...
//!                        1, 4, 16, 32, 64   all at once
//! ```
//!
//! The first piece is one load nearer than the others, so it is long. They are short, since the operation that needs one
//! makes all of its nodes.
//!
//! A node keeps its number for life. Only [`reserve`](Pool::reserve) allocates memory, so taking a reserved node cannot
//! fail. Vacant nodes form a free list, linked through the nodes themselves.
//!
//! Cost: every operation is constant, except for [`vacate`](Pool::vacate) and the first piece, which grows by copying up
//! to 32 nodes.

use crate::OutOfMemory;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::iter::FusedIterator;
use core::ops::{Index, IndexMut};

/// The number of a node in its pool.
pub type NodeId = u32;

/// Stands for "no node".
pub const NO_NODE: NodeId = NodeId::MAX;

/// Nodes in the pool itself and in the first piece.
const FIRST: usize = 64;
/// Nodes of each other piece.
const PIECE: usize = 16;

/// A node of a pool. It stores a number while it is vacant.
pub trait PoolNode: Sized {
    /// A vacant node.
    const VACANT: Self;
    /// The next vacant node.
    fn link(&self) -> NodeId;
    /// Sets the next vacant node.
    fn set_link(&mut self, next: NodeId);
}

/// Stands for no nodes in the pool itself. (An empty array would have the alignment of its nodes, which takes space.)
#[derive(Clone, Copy, Debug)]
pub struct NoneInline;

impl<T> AsRef<[T]> for NoneInline {
    #[inline]
    fn as_ref(&self) -> &[T] {
        &[]
    }
}

impl<T> AsMut<[T]> for NoneInline {
    #[inline]
    fn as_mut(&mut self) -> &mut [T] {
        &mut []
    }
}

/// The nodes of one kind of one tree. `I` is an array of the nodes that lie in the pool itself, or [`NoneInline`].
///
/// `pool[number]` accesses a node. A number that was never taken panics: only a broken tree has one.
#[derive(Debug)]
pub struct Pool<T, I = NoneInline> {
    /// The pool's own nodes.
    own: I,
    /// The rest of the first piece, as far as it has grown.
    first: Vec<T>,
    /// The other pieces, whole.
    rest: Vec<Box<[T; PIECE]>>,
    /// The first node of the free list.
    vacant: NodeId,
    /// Number of nodes in the free list.
    vacant_len: u32,
    /// Number of nodes made so far, in use or vacant. Their numbers are lower.
    made: u32,
    /// The most nodes that may be in use at once.
    limit: u32,
}

impl<T, I> Pool<T, I> {
    /// A pool with the nodes of `own`, all vacant.
    pub const fn new(own: I) -> Self {
        Self {
            own,
            first: Vec::new(),
            rest: Vec::new(),
            vacant: NO_NODE,
            vacant_len: 0,
            made: 0,
            limit: u32::MAX,
        }
    }
}

impl<T: PoolNode, I: AsRef<[T]> + AsMut<[T]>> Pool<T, I> {
    /// The number of nodes made so far, in use or vacant.
    #[must_use]
    pub fn made(&self) -> usize {
        self.made as usize
    }

    /// The number of nodes in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        (self.made - self.vacant_len) as usize
    }

    /// The number of nodes that can be taken.
    #[inline]
    #[must_use]
    pub fn vacant_len(&self) -> usize {
        self.vacant_len as usize
    }

    /// Bytes of memory held for nodes, without those in the pool itself.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let nodes = self.first.capacity() + PIECE * self.rest.len();
        nodes * size_of::<T>() + self.rest.capacity() * size_of::<Box<[T; PIECE]>>()
    }

    /// Limits the nodes in use: no more than `limit` can be reserved from now on. A limit of more than `u32::MAX` has
    /// no effect, since node numbers end there.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = u32::try_from(limit).unwrap_or(u32::MAX);
    }

    /// Makes vacant nodes until `count` can be taken.
    ///
    /// # Errors
    /// There is no memory, or the limit is reached. Nodes made before the failure stay vacant.
    #[inline]
    pub fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        self.reserve_with(count, |_| Ok(()))
    }

    /// [`Pool::reserve`] for nodes with memory of their own: `prepare` allocates it once for each new node.
    ///
    /// # Errors
    /// As [`Pool::reserve`], or `prepare` failed.
    #[inline]
    pub fn reserve_with(
        &mut self,
        count: usize,
        mut prepare: impl FnMut(&mut T) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        if count == 0 {
            return Ok(());
        }
        if self.in_use() + count > self.limit as usize {
            return Err(OutOfMemory);
        }
        while (self.vacant_len as usize) < count {
            self.make(&mut prepare)?;
        }
        Ok(())
    }

    /// Makes one vacant node.
    #[cold]
    fn make(
        &mut self,
        prepare: &mut impl FnMut(&mut T) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        let id = self.made;
        if id == NO_NODE {
            return Err(OutOfMemory);
        }
        self.grow(id as usize)?;
        prepare(&mut self[id])?;
        self.made += 1;
        self.give_back(id);
        Ok(())
    }

    /// Allocates memory for the node with the number `at`, if it has none. All nodes with lower numbers have memory.
    fn grow(&mut self, at: usize) -> Result<(), OutOfMemory> {
        if at < self.own.as_ref().len() + self.first.len() {
            return Ok(());
        }
        if at < FIRST {
            if self.first.len() == self.first.capacity() {
                let more = if at < FIRST / 4 { 3 * at } else { at };
                self.first.try_reserve_exact(more.clamp(1, FIRST - at))?;
            }
            self.first.push(T::VACANT);
        } else if (at - FIRST) / PIECE == self.rest.len() {
            self.rest.try_reserve(1)?;
            self.rest.push(boxed(core::iter::repeat_with(|| T::VACANT))?);
        }
        Ok(())
    }

    /// Takes a reserved node. It has the contents that its last user left, so the caller must set them.
    #[inline]
    pub fn take(&mut self) -> NodeId {
        debug_assert!(self.vacant_len > 0, "a node is taken that was not reserved");
        let id = self.vacant;
        self.vacant = self[id].link();
        self.vacant_len -= 1;
        id
    }

    /// Returns a node to the pool. It becomes vacant, and keeps its memory for the next user.
    #[inline]
    pub fn give_back(&mut self, id: NodeId) {
        let next = self.vacant;
        self[id].set_link(next);
        self.vacant = id;
        self.vacant_len += 1;
    }

    /// Returns all nodes to the pool. They are taken again in the order of their numbers.
    ///
    /// Cost: O(n) for n nodes made so far.
    pub fn vacate(&mut self) {
        (self.vacant, self.vacant_len) = (NO_NODE, 0);
        (0..self.made).rev().for_each(|id| self.give_back(id));
    }

    /// A copy of the pool with the same numbers.
    ///
    /// # Errors
    /// There is no memory.
    pub fn try_clone(&self) -> Result<Self, OutOfMemory>
    where
        T: Clone,
        I: Clone,
    {
        let mut first = Vec::new();
        first.try_reserve_exact(self.first.len())?;
        first.extend_from_slice(&self.first);
        let mut rest = Vec::new();
        rest.try_reserve_exact(self.rest.len())?;
        for piece in &self.rest {
            rest.push(boxed(piece.iter().cloned())?);
        }
        Ok(Self { own: self.own.clone(), first, rest, ..*self })
    }

    /// Mutable references to all nodes made so far, in use or vacant.
    pub fn iter_mut(&mut self) -> impl FusedIterator<Item = &mut T> {
        let rest = self.rest.iter_mut().flat_map(|piece| piece.iter_mut());
        self.own.as_mut().iter_mut().chain(&mut self.first).chain(rest).take(self.made as usize)
    }

    /// The numbers in the free list, for `validate`. Terminates even if a broken list is cyclic: it yields at most one
    /// number more than there are nodes.
    pub fn vacant(&self) -> impl FusedIterator<Item = NodeId> {
        let mut next = self.vacant;
        core::iter::from_fn(move || {
            let id = next;
            (id != NO_NODE).then(|| {
                next = self[id].link();
                id
            })
        })
        .fuse()
        .take(self.made() + 1)
    }
}

impl<T: Clone, I: Clone> Clone for Pool<T, I> {
    fn clone(&self) -> Self {
        let rest = self.rest.iter().map(|piece| copied(piece)).collect();
        Self { own: self.own.clone(), first: self.first.clone(), rest, ..*self }
    }
}

impl<T, I: AsRef<[T]>> Index<NodeId> for Pool<T, I> {
    type Output = T;

    #[inline]
    fn index(&self, id: NodeId) -> &T {
        let (at, own) = (id as usize, self.own.as_ref());
        if at >= FIRST {
            &self.rest[(at - FIRST) / PIECE][at % PIECE]
        } else if at < own.len() {
            &own[at]
        } else {
            &self.first[at - own.len()]
        }
    }
}

impl<T, I: AsRef<[T]> + AsMut<[T]>> IndexMut<NodeId> for Pool<T, I> {
    #[inline]
    fn index_mut(&mut self, id: NodeId) -> &mut T {
        let at = id as usize;
        if at >= FIRST {
            return &mut self.rest[(at - FIRST) / PIECE][at % PIECE];
        }
        let own = self.own.as_mut();
        if at < own.len() { &mut own[at] } else { &mut self.first[at - own.len()] }
    }
}

/// `N` values in a box.
///
/// # Errors
/// There is no memory, or there are fewer than `N` values.
pub fn boxed<T, const N: usize>(values: impl IntoIterator<Item = T>) -> Result<Box<[T; N]>, OutOfMemory> {
    let mut all = Vec::new();
    all.try_reserve_exact(N)?;
    all.extend(values.into_iter().take(N));
    all.into_boxed_slice().try_into().map_err(|_| OutOfMemory)
}

/// A copy of a piece, made node by node, because a whole piece may be too large for the stack.
fn copied<T: Clone>(piece: &[T; PIECE]) -> Box<[T; PIECE]> {
    match piece.to_vec().into_boxed_slice().try_into() {
        Ok(copy) => copy,
        Err(_) => unreachable!("a copy has as many nodes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ends::all_of;
    use std::collections::BTreeSet;

    #[derive(Clone, Debug)]
    struct Number(u32, NodeId);

    impl PoolNode for Number {
        const VACANT: Self = Self(0, NO_NODE);
        fn link(&self) -> NodeId {
            self.1
        }
        fn set_link(&mut self, next: NodeId) {
            self.1 = next;
        }
    }

    #[test]
    fn nodes_keep_number_and_place() {
        let mut pool = Pool::new([Number::VACANT]);
        let mut ids = Vec::new();
        for value in 0..300 {
            pool.reserve(1).unwrap();
            let id = pool.take();
            pool[id].0 = value;
            ids.push(id);
        }
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 300);
        let places: Vec<_> = ids[64..].iter().map(|&id| core::ptr::from_ref(&pool[id])).collect();
        pool.reserve(1000).unwrap();
        for (value, &id) in (0u32..).zip(&ids) {
            assert_eq!(pool[id].0, value);
        }
        assert!(ids[64..].iter().zip(&places).all(|(&id, &place)| core::ptr::eq(&pool[id], place)));
        let copy = pool.try_clone().unwrap();
        assert!(ids.iter().all(|&id| copy[id].0 == pool[id].0));
        assert_eq!(all_of(copy.vacant()).into_iter().collect::<BTreeSet<_>>().len(), 1000);
        let mut all = all_of(pool.iter_mut());
        all.iter_mut().for_each(|node| node.0 += 1);
        assert_eq!(all.iter().filter(|node| node.0 > 0).count(), 1300);
        assert_eq!((copy.in_use(), copy.made(), copy.vacant().count()), (300, 1300, 1000));
        pool.vacate();
        assert_eq!((pool.in_use(), pool.vacant_len()), (0, 1300));
        assert!(pool.vacant().eq(0..1300), "in the order of their numbers");
    }

    /// A copy has capacity for its own nodes only, so it may grow from any number of nodes.
    #[test]
    fn a_copy_that_grows_holds_the_first_piece() {
        for made in 1..64 {
            let mut pool: Pool<Number> = Pool::new(NoneInline);
            pool.reserve(made).unwrap();
            let mut copy = pool.try_clone().unwrap();
            copy.reserve(64).unwrap();
            assert_eq!(copy.bytes(), 64 * size_of::<Number>(), "{made}");
        }
    }

    #[test]
    fn a_node_given_back_is_taken_again() {
        let mut pool: Pool<Number> = Pool::new(NoneInline);
        pool.reserve(3).unwrap();
        let (a, b) = (pool.take(), pool.take());
        pool.give_back(a);
        assert_eq!((pool.take(), pool.in_use()), (a, 2));
        assert_ne!(a, b);
        assert_eq!(pool.iter_mut().count(), 3);
        pool.set_limit(2);
        assert_eq!(pool.reserve(1), Err(OutOfMemory));
    }
}
