//! Where nodes live: some in the slab itself, the others in pieces of 64; and a list of those that are vacant.
//!
//! ```text
//!   number   0 .. own         .. 64           .. 128          .. 192
//!            | in the slab | first piece | second piece | third piece | ...
//!                           1, 4, 16, 64    all at once
//! ```
//!
//! A node keeps its number for life. Memory is asked for in [`reserve`](Slab::reserve) alone, so that what was
//! reserved can be taken without failing. A tree of one leaf has no memory but its own, and a small tree a small piece.

use super::{NONE, NodeId};
use crate::error::OutOfMemory;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Nodes of a piece; those in the slab itself count for the first.
const PIECE: usize = 64;

/// What a slab needs of a node: a place for a number while it is vacant.
pub(crate) trait Node: Clone {
    /// A vacant node.
    const VACANT: Self;
    /// The next vacant node.
    fn link(&self) -> NodeId;
    /// Sets the next vacant node.
    fn set_link(&mut self, next: NodeId);
}

/// A slab's own nodes, of a slab that has none. (An array of none is aligned as its nodes are, which takes room.)
#[derive(Clone, Debug)]
pub(crate) struct Nothing;

impl<T> AsRef<[T]> for Nothing {
    #[inline(always)]
    fn as_ref(&self) -> &[T] {
        &[]
    }
}

impl<T> AsMut<[T]> for Nothing {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [T] {
        &mut []
    }
}

/// The nodes of one kind of one tree.
#[derive(Debug)]
pub(crate) struct Slab<T, I> {
    /// The slab's own nodes.
    own: I,
    /// The rest of the first piece, as far as it has grown.
    first: Vec<T>,
    /// The other pieces, whole.
    rest: Vec<Box<[T; PIECE]>>,
    /// First of the list of vacant nodes.
    vacant: NodeId,
    /// Nodes in that list.
    vacant_len: u32,
    /// Nodes that have been in use or vacant: those with lower numbers.
    made: u32,
    /// Nodes that may be in use at once.
    limit: u32,
}

impl<T, I> Slab<T, I> {
    /// A slab with nodes of its own, all vacant.
    pub(crate) const fn new(own: I) -> Self {
        Self {
            own,
            first: Vec::new(),
            rest: Vec::new(),
            vacant: NONE,
            vacant_len: 0,
            made: 0,
            limit: u32::MAX,
        }
    }
}

impl<T: Node, I: AsRef<[T]> + AsMut<[T]> + Clone> Slab<T, I> {
    #[inline(always)]
    pub(crate) fn get(&self, id: NodeId) -> &T {
        let (at, own) = (id as usize, self.own.as_ref());
        if at >= PIECE {
            &self.rest[at / PIECE - 1][at % PIECE]
        } else if at < own.len() {
            &own[at]
        } else {
            &self.first[at - own.len()]
        }
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, id: NodeId) -> &mut T {
        let (at, own) = (id as usize, self.own.as_mut());
        if at >= PIECE {
            &mut self.rest[at / PIECE - 1][at % PIECE]
        } else if at < own.len() {
            &mut own[at]
        } else {
            &mut self.first[at - own.len()]
        }
    }

    /// A node that is not of the first piece, which a small tree has in the cache anyway.
    #[inline(always)]
    pub(crate) fn get_far(&self, id: NodeId) -> Option<&T> {
        let at = id as usize;
        self.rest.get((at / PIECE).wrapping_sub(1)).map(|piece| &piece[at % PIECE])
    }

    /// Nodes that have been made, in use or vacant.
    pub(crate) fn made(&self) -> usize {
        self.made as usize
    }

    /// Nodes in use.
    pub(crate) fn in_use(&self) -> usize {
        (self.made - self.vacant_len) as usize
    }

    /// Bytes of memory that are held for nodes, without the slab's own.
    pub(crate) fn bytes(&self) -> usize {
        let nodes = self.first.capacity() + PIECE * self.rest.len();
        nodes * size_of::<T>() + self.rest.capacity() * size_of::<Box<[T; PIECE]>>()
    }

    /// Has no more than `limit` nodes in use from now on; more cannot be reserved.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = u32::try_from(limit).unwrap_or(u32::MAX);
    }

    /// Sees to it that `count` nodes can be taken.
    ///
    /// # Errors
    /// Memory is exhausted, or the limit reached; then nothing has changed but spare room.
    #[inline]
    pub(crate) fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        if count == 0 {
            return Ok(());
        }
        if self.in_use() + count > self.limit as usize {
            return Err(OutOfMemory);
        }
        while (self.vacant_len as usize) < count {
            self.make()?;
        }
        Ok(())
    }

    /// Makes one vacant node.
    fn make(&mut self) -> Result<(), OutOfMemory> {
        let id = self.made;
        if id == NONE {
            return Err(OutOfMemory);
        }
        self.grow(id as usize)?;
        let next = self.vacant;
        self.get_mut(id).set_link(next);
        self.made += 1;
        self.vacant = id;
        self.vacant_len += 1;
        Ok(())
    }

    /// Sees to it that there is a node of that number; there is one of every lower number.
    fn grow(&mut self, at: usize) -> Result<(), OutOfMemory> {
        if at < self.own.as_ref().len() {
            return Ok(());
        }
        if at < PIECE {
            if self.first.len() == self.first.capacity() {
                self.first.try_reserve_exact((4 * at).clamp(1, PIECE) - at)?;
            }
            self.first.push(T::VACANT);
        } else if at.is_multiple_of(PIECE) {
            self.rest.try_reserve(1)?;
            self.rest.push(boxed(core::iter::repeat_n(T::VACANT, PIECE))?);
        }
        Ok(())
    }

    /// Takes a node that was reserved. The caller sets its content.
    #[inline]
    pub(crate) fn take(&mut self) -> NodeId {
        debug_assert!(self.vacant_len > 0, "a node is taken that was not reserved");
        let id = self.vacant;
        self.vacant = self.get(id).link();
        self.vacant_len -= 1;
        id
    }

    /// Gives a node back; it keeps its memory for the next.
    #[inline]
    pub(crate) fn give_back(&mut self, id: NodeId) {
        let next = self.vacant;
        self.get_mut(id).set_link(next);
        self.vacant = id;
        self.vacant_len += 1;
    }

    /// A copy, with the same numbers.
    pub(crate) fn try_clone(&self) -> Result<Self, OutOfMemory> {
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

    /// The numbers in the list of vacant nodes, for `validate`.
    pub(crate) fn vacant(&self) -> impl Iterator<Item = NodeId> {
        let mut next = self.vacant;
        core::iter::from_fn(move || {
            let id = next;
            (id != NONE).then(|| {
                next = self.get(id).link();
                id
            })
        })
        .take(self.made() + 1)
    }
}

/// `N` values in a box, if there is memory.
pub(crate) fn boxed<T, const N: usize>(
    values: impl IntoIterator<Item = T>,
) -> Result<Box<[T; N]>, OutOfMemory> {
    let mut all = Vec::new();
    all.try_reserve_exact(N)?;
    all.extend(values.into_iter().take(N));
    all.into_boxed_slice().try_into().map_err(|_| OutOfMemory)
}
