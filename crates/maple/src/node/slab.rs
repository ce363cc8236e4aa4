//! Where nodes live: pieces of 64, and a list of those that are vacant.
//!
//! A node keeps its number for life. Memory is asked for in [`reserve`](Slab::reserve) alone, so that what was
//! reserved can be taken without failing. The first piece starts with one node and grows to 4, 16 and 64; a small tree is small.

use super::{NONE, NodeId};
use crate::error::OutOfMemory;
use alloc::vec::Vec;

/// Nodes of a piece.
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

/// The nodes of one kind of one tree.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    pieces: Vec<Vec<T>>,
    /// First of the list of vacant nodes.
    vacant: NodeId,
    /// Nodes in that list.
    vacant_len: usize,
    /// Nodes taken since the tree was made; it never falls.
    taken: u64,
    /// Nodes that may be in use at once.
    limit: usize,
}

impl<T: Node> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { pieces: Vec::new(), vacant: NONE, vacant_len: 0, taken: 0, limit: usize::MAX }
    }

    #[inline(always)]
    pub(crate) fn get(&self, id: NodeId) -> &T {
        &self.pieces[id as usize / PIECE][id as usize % PIECE]
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, id: NodeId) -> &mut T {
        &mut self.pieces[id as usize / PIECE][id as usize % PIECE]
    }

    /// Nodes that have been made, in use or vacant.
    pub(crate) fn made(&self) -> usize {
        match self.pieces.split_last() {
            Some((last, full)) => full.len() * PIECE + last.len(),
            None => 0,
        }
    }

    /// Nodes in use.
    pub(crate) fn in_use(&self) -> usize {
        self.made() - self.vacant_len
    }

    /// Nodes taken since the tree was made.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes of memory that are held for nodes.
    pub(crate) fn bytes(&self) -> usize {
        let nodes: usize = self.pieces.iter().map(Vec::capacity).sum();
        nodes * size_of::<T>() + self.pieces.capacity() * size_of::<Vec<T>>()
    }

    /// Has no more than `limit` nodes in use from now on; more cannot be reserved.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
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
        if self.in_use().checked_add(count).is_none_or(|wanted| wanted > self.limit) {
            return Err(OutOfMemory);
        }
        while self.vacant_len < count {
            self.make()?;
        }
        Ok(())
    }

    /// Makes one vacant node.
    fn make(&mut self) -> Result<(), OutOfMemory> {
        if self.pieces.last().is_none_or(|piece| piece.len() == PIECE) {
            // Most maps never have a second piece.
            if self.pieces.is_empty() {
                self.pieces.try_reserve_exact(1)?;
            } else {
                self.pieces.try_reserve(1)?;
            }
            self.pieces.push(Vec::new());
        }
        let id = NodeId::try_from(self.made()).map_err(|_| OutOfMemory)?;
        let first_piece = self.pieces.len() == 1;
        let Some(piece) = self.pieces.last_mut() else { return Err(OutOfMemory) };
        if id == NONE {
            return Err(OutOfMemory);
        }
        if piece.len() == piece.capacity() {
            let more = if first_piece { (3 * piece.len()).max(1) } else { PIECE };
            piece.try_reserve_exact(more)?;
        }
        let mut node = T::VACANT;
        node.set_link(self.vacant);
        piece.push(node);
        self.vacant = id;
        self.vacant_len += 1;
        Ok(())
    }

    /// Takes a node that was reserved. The caller sets its content.
    #[inline]
    pub(crate) fn take(&mut self) -> NodeId {
        debug_assert!(self.vacant_len > 0, "a node is taken that was not reserved");
        let id = self.vacant;
        self.vacant = self.get(id).link();
        self.vacant_len -= 1;
        self.taken += 1;
        id
    }

    /// Gives a node back; it keeps its memory for the next.
    #[inline]
    pub(crate) fn give_back(&mut self, id: NodeId) {
        let next = self.vacant;
        let node = self.get_mut(id);
        *node = T::VACANT;
        node.set_link(next);
        self.vacant = id;
        self.vacant_len += 1;
    }

    /// A copy, with the same numbers.
    pub(crate) fn try_clone(&self) -> Result<Self, OutOfMemory> {
        let mut pieces = Vec::new();
        pieces.try_reserve_exact(self.pieces.len())?;
        for piece in &self.pieces {
            let mut copy = Vec::new();
            copy.try_reserve_exact(piece.len())?;
            copy.extend_from_slice(piece);
            pieces.push(copy);
        }
        Ok(Self { pieces, ..*self })
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
