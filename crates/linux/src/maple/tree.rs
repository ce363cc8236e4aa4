//! The tree with the kernel's normal calls: one answers, takes no cursor and leaves none.

use super::Item;
use super::item::rejected;
use crate::Error;
use freehold_maple::Nodes;
use freehold_maple::NonNullValue;
use freehold_maple::WordMap;
use freehold_units::{Rejected, Span};

/// What kind of tree it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// It gives out gaps. Ours always knows its gaps; without the flag it refuses as the kernel's does.
    #[doc(alias = "MT_FLAGS_ALLOC_RANGE")]
    pub alloc_range: bool,
    /// Its readers take no lock. This tree has one owner and thus no such readers: it keeps the flag, and a copy has
    /// it too.
    #[doc(alias = "MT_FLAGS_USE_RCU")]
    pub use_rcu: bool,
}

/// The kernel's tree: a [`WordMap`] whose ranges hold an entry or the zero entry.
#[doc(alias = "maple_tree")]
pub struct Tree<E: NonNullValue> {
    pub(super) map: WordMap<Option<E>>,
    flags: Flags,
    /// The last index of all was given out by a cyclic allocation, and none has said since that it wrapped.
    #[doc(alias = "MT_FLAGS_ALLOC_WRAPPED")]
    pub(super) alloc_wrapped: bool,
}

/// The outcome of a store, which gives back what it could not store.
pub(super) type Stored<T, E> = Result<T, Rejected<Item<E>, Error>>;

impl<E: NonNullValue> Tree<E> {
    /// An empty tree.
    #[doc(alias = "mt_init_flags")]
    #[must_use]
    pub const fn new(flags: Flags) -> Self {
        Self { map: WordMap::new(), flags, alloc_wrapped: false }
    }
}

impl<E: NonNullValue> Tree<E> {
    /// An empty tree that uses so much of its nodes, for tests.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_nodes(flags: Flags, nodes: Nodes) -> Self {
        Self { map: WordMap::with_nodes(nodes), flags, alloc_wrapped: false }
    }

    /// What kind of tree it is.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// The map that holds the entries; the zero entry is `None`.
    #[must_use]
    pub const fn map(&self) -> &WordMap<Option<E>> {
        &self.map
    }

    /// The map, to do what the kernel's calls do not: several stores at once, a limit of nodes.
    #[must_use]
    pub const fn map_mut(&mut self) -> &mut WordMap<Option<E>> {
        &mut self.map
    }

    /// Whether nothing is stored, the zero entry neither.
    #[doc(alias = "mtree_empty")]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Stores over a range, whatever is there.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `first > last`; [`Error::NoMemory`]. The item comes back.
    #[doc(alias = "mtree_store_range")]
    #[doc(alias = "mtree_store")]
    pub fn store_range(&mut self, first: u64, last: u64, item: Item<E>) -> Stored<(), E> {
        let Some(span) = Span::new(first, last) else {
            return Err(Rejected { value: item, cause: Error::Invalid });
        };
        self.put(span, item)
    }

    pub(super) fn put(&mut self, span: Span, item: Item<E>) -> Stored<(), E> {
        match item.into_slot() {
            Some(value) => self.map.store(span, value).map_err(rejected),
            None => self.map.remove_range(span).map_err(null_rejected),
        }
    }

    /// Stores into a range that is free; nothing may be stored there as well.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `first > last`; [`Error::Exists`] if the range overlaps an entry, the zero entry included;
    /// [`Error::NoMemory`]. The item comes back.
    #[doc(alias = "mtree_insert_range")]
    #[doc(alias = "mtree_insert")]
    pub fn insert_range(&mut self, first: u64, last: u64, item: Item<E>) -> Stored<(), E> {
        let Some(span) = Span::new(first, last) else {
            return Err(Rejected { value: item, cause: Error::Invalid });
        };
        match item.into_slot() {
            Some(value) => self.map.insert(span, value).map_err(rejected),
            None if self.map.range(first..=last).next().is_some() => Err(null_rejected(Error::Exists)),
            None => Ok(()),
        }
    }

    /// Removes the whole entry that an index is in. Never takes memory.
    #[doc(alias = "mtree_erase")]
    pub fn erase(&mut self, index: u64) -> Item<E> {
        self.map.erase(index).map_or(Item::Null, |(_, value)| value.into())
    }

    /// The entry at an index.
    #[doc(alias = "mtree_load")]
    #[must_use]
    pub fn load(&self, index: u64) -> Option<E::Ref<'_>> {
        self.map.get(index).flatten()
    }

    /// The first entry that ends at `*index` or above and starts at `max` or below; `*index` is one above its last
    /// index then, and 0 if that is the last of all. Without one it stays.
    #[doc(alias = "mt_find")]
    pub fn find(&self, index: &mut u64, max: u64) -> Option<E::Ref<'_>> {
        let mut entries = self.map.range(*index..=max);
        let (span, entry) = entries.find_map(|(span, value)| value.map(|entry| (span, entry)))?;
        *index = span.last().wrapping_add(1);
        Some(entry)
    }

    /// Goes on with [`find`](Self::find): an index of 0 says that the last index of all was reached.
    #[doc(alias = "mt_find_after")]
    #[doc(alias = "mt_for_each")]
    pub fn find_after(&self, index: &mut u64, max: u64) -> Option<E::Ref<'_>> {
        if *index == 0 {
            return None;
        }
        self.find(index, max)
    }

    /// What is stored next above the range that holds an index; it starts at `max` or below.
    #[doc(alias = "mt_next")]
    #[must_use]
    pub fn next(&self, index: u64, max: u64) -> Item<E::Ref<'_>> {
        let (span, _) = self.map.slot_at(index);
        let above = span.last().checked_add(1);
        let found = above.and_then(|above| self.map.range(above..=max).next());
        Item::from_slot(found.map(|(_, value)| value))
    }

    /// What is stored next below the range that holds an index; it ends at `min` or above.
    #[doc(alias = "mt_prev")]
    #[must_use]
    pub fn prev(&self, index: u64, min: u64) -> Item<E::Ref<'_>> {
        let (span, _) = self.map.slot_at(index);
        let found = self.map.range(min..span.first()).next_back();
        Item::from_slot(found.map(|(_, value)| value))
    }

    /// Copies the tree into an empty one of the same kind. The copy goes on as the original would, also with cyclic
    /// allocation.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is something in the other tree, or its flags differ; [`Error::NoMemory`].
    #[doc(alias = "mtree_dup")]
    pub fn dup(&self, into: &mut Self) -> Result<(), Error> {
        if !into.is_empty() || into.flags != self.flags {
            return Err(Error::Invalid);
        }
        into.map = self.map.try_clone()?;
        into.alloc_wrapped = self.alloc_wrapped;
        Ok(())
    }

    /// Removes everything; the tree is as new.
    #[doc(alias = "mtree_destroy")]
    pub fn destroy(&mut self) {
        self.map = self.map.new_alike();
        self.alloc_wrapped = false;
    }
}

/// Nothing was to be stored, and was not.
pub(super) fn null_rejected<E>(cause: impl Into<Error>) -> Rejected<Item<E>, Error> {
    Rejected { value: Item::Null, cause: cause.into() }
}
