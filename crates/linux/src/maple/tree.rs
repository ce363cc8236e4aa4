//! The tree with the kernel's normal calls, which use no cursor.

use super::Item;
use super::item::rejected;
use crate::Error;
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
    /// Readers take no lock. This tree has one owner and so no such readers; it only stores the flag and copies it.
    #[doc(alias = "MT_FLAGS_USE_RCU")]
    pub use_rcu: bool,
}

/// The kernel's tree: a [`WordMap`] whose ranges hold an entry or the zero entry.
#[doc(alias = "maple_tree")]
pub struct Tree<E: NonNullValue> {
    pub(super) map: WordMap<Option<E>>,
    flags: Flags,
    /// A cyclic allocation took the index `u64::MAX`, and no allocation has reported the wrap since.
    #[doc(alias = "MT_FLAGS_ALLOC_WRAPPED")]
    pub(super) alloc_wrapped: bool,
}

/// The result of a store. The error returns the item.
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
    /// An empty tree that uses only a part of its nodes' capacity, for tests.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_nodes(flags: Flags, nodes: Nodes) -> Self {
        Self { map: WordMap::with_nodes(nodes), flags, alloc_wrapped: false }
    }

    /// The kind of a tree.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// The map that holds the entries; the zero entry is `None`.
    #[must_use]
    pub const fn map(&self) -> &WordMap<Option<E>> {
        &self.map
    }

    /// The map, for operations that the kernel's calls do not have: several stores at once, a limit of nodes.
    #[must_use]
    pub const fn map_mut(&mut self) -> &mut WordMap<Option<E>> {
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
        self.put(span, item)
    }

    pub(super) fn put(&mut self, span: Span, item: Item<E>) -> Stored<(), E> {
        match item.into_slot() {
            Some(value) => self.map.store(span, value).map_err(rejected),
            None => self.map.remove_range(span).map_err(null_rejected),
        }
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
            Some(value) => self.map.insert(span, value).map_err(rejected),
            None if self.map.range(first..=last).next().is_some() => Err(null_rejected(Error::Exists)),
            None => Ok(()),
        }
    }

    /// Removes the whole entry that contains an index. Never allocates memory.
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

    /// The first entry that ends at `*index` or above and starts at `max` or below. Sets `*index` to one above its last
    /// index, or to 0 after `u64::MAX`. Without such an entry `*index` does not change.
    #[doc(alias = "mt_find")]
    pub fn find(&self, index: &mut u64, max: u64) -> Option<E::Ref<'_>> {
        let mut entries = self.map.range(*index..=max);
        let (span, entry) = entries.find_map(|(span, value)| value.map(|entry| (span, entry)))?;
        *index = span.last().wrapping_add(1);
        Some(entry)
    }

    /// Continues a [`find`](Self::find). An index of 0 means that the search has reached `u64::MAX`.
    #[doc(alias = "mt_find_after")]
    #[doc(alias = "mt_for_each")]
    pub fn find_after(&self, index: &mut u64, max: u64) -> Option<E::Ref<'_>> {
        if *index == 0 {
            return None;
        }
        self.find(index, max)
    }

    /// The next entry or zero entry above the range that contains an index, if it starts at `max` or below.
    #[doc(alias = "mt_next")]
    #[must_use]
    pub fn next(&self, index: u64, max: u64) -> Item<E::Ref<'_>> {
        let (span, _) = self.map.slot_at(index);
        let above = span.last().checked_add(1);
        let found = above.and_then(|above| self.map.range(above..=max).next());
        Item::from_slot(found.map(|(_, value)| value))
    }

    /// The next entry or zero entry below the range that contains an index, if it ends at `min` or above.
    #[doc(alias = "mt_prev")]
    #[must_use]
    pub fn prev(&self, index: u64, min: u64) -> Item<E::Ref<'_>> {
        let (span, _) = self.map.slot_at(index);
        let found = self.map.range(min..span.first()).next_back();
        Item::from_slot(found.map(|(_, value)| value))
    }

    /// Copies the tree into an empty one of the same kind. The copy behaves as the original would, including cyclic
    /// allocation.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the other tree is not empty, or its flags differ; [`Error::NoMemory`].
    #[doc(alias = "mtree_dup")]
    pub fn dup(&self, into: &mut Self) -> Result<(), Error> {
        if !into.is_empty() || into.flags != self.flags {
            return Err(Error::Invalid);
        }
        into.map = self.map.try_clone()?;
        into.alloc_wrapped = self.alloc_wrapped;
        Ok(())
    }

    /// Removes all entries; the tree is as new.
    #[doc(alias = "mtree_destroy")]
    pub fn destroy(&mut self) {
        self.map = self.map.new_alike();
        self.alloc_wrapped = false;
    }
}

/// The refusal of a store of [`Item::Null`].
pub(super) fn null_rejected<E>(cause: impl Into<Error>) -> Rejected<Item<E>, Error> {
    Rejected { value: Item::Null, cause: cause.into() }
}
