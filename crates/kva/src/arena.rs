//! Nodes in one vector, named by small links, recycled through a chain of vacant ones.
//!
//! Memory is asked for in [`Arena::reserve`] alone, which can fail; [`Arena::take`] after it cannot. The vector
//! grows by a sixteenth, so that little of it is spare: a tree's memory is what its nodes take.

use crate::OutOfMemory;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// The place of a node in its arena. [`Link::NONE`] is the arena's first node, a sentinel that is no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(u32);

impl Link {
    /// No node.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// The link of that [`number`](Self::number).
    pub(crate) const fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// A node that can lend a link while it is vacant.
pub(crate) trait Chained {
    /// The field used to chain vacant nodes.
    fn chain(&mut self) -> &mut Link;
}

#[derive(Clone, Debug)]
pub(crate) struct Arena<T> {
    /// Position 0 is the sentinel.
    nodes: Vec<T>,
    vacant: Link,
    vacant_len: usize,
}

impl<T: Chained> Arena<T> {
    /// An arena whose links to [`Link::NONE`] read `sentinel`.
    pub(crate) fn new(sentinel: T) -> Result<Self, OutOfMemory> {
        let mut nodes = Vec::new();
        nodes.try_reserve_exact(1).map_err(|_| OutOfMemory)?;
        nodes.push(sentinel);
        Ok(Self { nodes, vacant: Link::NONE, vacant_len: 0 })
    }

    /// Makes `count` vacant nodes ready, each made by `make`.
    #[inline]
    pub(crate) fn reserve(&mut self, count: usize, make: impl Fn() -> T) -> Result<(), OutOfMemory> {
        while self.vacant_len < count {
            self.grow(make())?;
        }
        Ok(())
    }

    #[cold]
    fn grow(&mut self, node: T) -> Result<(), OutOfMemory> {
        let len = self.nodes.len();
        if len == self.nodes.capacity() {
            let more = (len / 16).max(4);
            self.nodes.try_reserve_exact(more).map_err(|_| OutOfMemory)?;
        }
        let link = Link(u32::try_from(len).map_err(|_| OutOfMemory)?);
        self.nodes.push(node);
        self.give_back(link);
        Ok(())
    }

    /// A vacant node, with whatever it last held; [`Arena::reserve`] came before.
    pub(crate) fn take(&mut self) -> Link {
        let link = self.vacant;
        debug_assert!(!link.is_none(), "a node is reserved before it is taken");
        self.vacant = *self[link].chain();
        self.vacant_len = self.vacant_len.saturating_sub(1);
        link
    }

    /// Makes the node vacant. Its contents stay until it is taken again.
    pub(crate) fn give_back(&mut self, link: Link) {
        let vacant = self.vacant;
        *self[link].chain() = vacant;
        self.vacant = link;
        self.vacant_len += 1;
    }

    /// Both nodes at once; they must differ.
    pub(crate) fn pair(&mut self, a: Link, b: Link) -> (&mut T, &mut T) {
        debug_assert_ne!(a, b);
        let (low, high) = self.nodes.split_at_mut(a.0.max(b.0) as usize);
        if a.0 < b.0 {
            (&mut low[a.0 as usize], &mut high[0])
        } else {
            (&mut high[0], &mut low[b.0 as usize])
        }
    }

    /// Nodes of all kinds: all numbers are below this.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Nodes that are neither vacant nor the sentinel.
    pub(crate) fn in_use(&self) -> usize {
        self.nodes.len() - 1 - self.vacant_len
    }

    /// Bytes held, spare room included.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<T>()
    }
}

impl<T> Index<Link> for Arena<T> {
    type Output = T;
    #[inline]
    fn index(&self, link: Link) -> &T {
        &self.nodes[link.0 as usize]
    }
}

impl<T> IndexMut<Link> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, link: Link) -> &mut T {
        &mut self.nodes[link.0 as usize]
    }
}
