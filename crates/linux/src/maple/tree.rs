//! The tree with the kernel's normal calls, which use no cursor.

use super::map::{Stored, null_rejected};
use super::{Item, Map, Ranges};
use crate::Error;
use core::marker::PhantomData;
use freehold_maple::Nodes;
use freehold_maple::NonNullValue;
use freehold_maple::WordMap;
use freehold_units::{Rejected, Span};

/// The kind of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The tree allocates gaps. This tree always tracks its gaps; without the flag it refuses as the kernel's does.
    #[doc(alias = "MT_FLAGS_ALLOC_RANGE")]
    pub alloc_range: bool,
    /// Readers take no lock. The tree only stores the flag and copies it: its map says whether it has such readers.
    #[doc(alias = "MT_FLAGS_USE_RCU")]
    pub use_rcu: bool,
}

/// The kernel's tree: a map whose ranges hold an entry or the zero entry. The map is a [`WordMap`] or, with the feature
/// `std`, a `SharedMap`.
#[doc(alias = "maple_tree")]
pub struct Tree<E: NonNullValue, M: Map<E> = WordMap<Option<E>>> {
    pub(super) map: M,
    flags: Flags,
    /// A cyclic allocation took the index `u64::MAX`, and no allocation has reported the wrap since.
    #[doc(alias = "MT_FLAGS_ALLOC_WRAPPED")]
    pub(super) alloc_wrapped: bool,
    entries: PhantomData<E>,
}

impl<E: NonNullValue> Tree<E> {
    /// An empty tree.
    #[doc(alias = "mt_init_flags")]
    #[must_use]
    pub const fn new(flags: Flags) -> Self {
        Self::with_map(flags, WordMap::new())
    }

    /// An empty tree that uses only a part of its nodes' capacity, for tests.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_nodes(flags: Flags, nodes: Nodes) -> Self {
        Self::with_map(flags, WordMap::with_nodes(nodes))
    }
}

impl<E: NonNullValue, M: Map<E>> Tree<E, M> {
    /// A tree over a map, with the map's entries.
    #[must_use]
    pub const fn with_map(flags: Flags, map: M) -> Self {
        Self { map, flags, alloc_wrapped: false, entries: PhantomData }
    }

    /// Begins to read. Look-ups are methods of [`Ranges`].
    #[must_use]
    pub fn read(&self) -> M::Reading<'_> {
        self.map.read()
    }

    /// The kind of a tree.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// The map that holds the entries; the zero entry is `None`.
    #[must_use]
    pub const fn map(&self) -> &M {
        &self.map
    }

    /// The map, for operations that the kernel's calls do not have: several stores at once, a limit of nodes.
    #[must_use]
    pub const fn map_mut(&mut self) -> &mut M {
        &mut self.map
    }

    /// Whether the tree has no entries and no zero entries.
    #[doc(alias = "mtree_empty")]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Stores over a range and replaces its contents.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `first > last`; [`Error::NoMemory`]. Returns the item.
    #[doc(alias = "mtree_store_range")]
    #[doc(alias = "mtree_store")]
    pub fn store_range(&mut self, first: u64, last: u64, item: Item<E>) -> Stored<(), E> {
        let Some(span) = Span::new(first, last) else {
            return Err(Rejected { value: item, cause: Error::Invalid });
        };
        self.map.put(span, item)
    }

    /// Changes the kind of the tree, for one that a program may set at any time.
    pub const fn set_flags(&mut self, flags: Flags) {
        self.flags = flags;
    }

    /// Stores into a free range. [`Item::Null`] only checks that the range is free.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `first > last`; [`Error::Exists`] if the range overlaps an entry or a zero entry;
    /// [`Error::NoMemory`]. Returns the item.
    #[doc(alias = "mtree_insert_range")]
    #[doc(alias = "mtree_insert")]
    pub fn insert_range(&mut self, first: u64, last: u64, item: Item<E>) -> Stored<(), E> {
        let Some(span) = Span::new(first, last) else {
            return Err(Rejected { value: item, cause: Error::Invalid });
        };
        match item.into_slot() {
            Some(value) => self.map.insert(span, value),
            None if self.read().entries(first, last).next().is_some() => Err(null_rejected(Error::Exists)),
            None => Ok(()),
        }
    }

    /// Removes the whole entry that contains an index.
    ///
    /// # Errors
    /// [`Error::NoMemory`], if the map is shared. A map with one owner never allocates memory for this.
    #[doc(alias = "mtree_erase")]
    pub fn erase(&mut self, index: u64) -> Result<Item<E>, Error> {
        self.map.erase(index)
    }

    /// Copies the tree into an empty one of the same kind. The copy behaves as the original would, including cyclic
    /// allocation.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the other tree is not empty, or its flags differ; [`Error::NoMemory`].
    ///
    /// # Panics
    /// As for [`MaState::preallocate`](super::MaState::preallocate), of the other tree's map.
    #[doc(alias = "mtree_dup")]
    pub fn dup(&self, into: &mut Self) -> Result<(), Error> {
        if !into.is_empty() || into.flags != self.flags {
            return Err(Error::Invalid);
        }
        self.map.copy_into(&mut into.map)?;
        into.alloc_wrapped = self.alloc_wrapped;
        Ok(())
    }

    /// Removes all entries; the tree is as new.
    ///
    /// # Errors
    /// [`Error::NoMemory`], if the map is shared. A map with one owner never allocates memory for this.
    #[doc(alias = "mtree_destroy")]
    pub fn destroy(&mut self) -> Result<(), Error> {
        self.map.clear()?;
        self.alloc_wrapped = false;
        Ok(())
    }
}

/// The look-ups of a tree with one owner, which needs no guard.
impl<E: NonNullValue> Ranges for Tree<E> {
    type Value<'t>
        = E::Ref<'t>
    where
        Self: 't;

    fn slot_at(&self, index: u64) -> (Span, Item<E::Ref<'_>>) {
        Ranges::slot_at(&self.map, index)
    }

    fn entries(&self, first: u64, last: u64) -> impl DoubleEndedIterator<Item = (Span, Item<E::Ref<'_>>)> {
        self.map.entries(first, last)
    }

    fn load(&self, index: u64) -> Option<E::Ref<'_>> {
        self.map.load(index)
    }
}
