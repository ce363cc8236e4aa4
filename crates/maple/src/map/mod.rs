//! The map of words.

mod alloc;
mod compare;
mod cursor;
mod duplicate;
mod entry;
mod into_iter;
mod iter;
mod merge;
mod overlay;
mod retain;
#[cfg(feature = "serde")]
mod serde;
mod sorted;
mod split_at;
mod store;
mod taking;
mod transaction;
mod words;

#[cfg(feature = "serde")]
pub(crate) use self::serde::{Entries, span_of};
pub use alloc::Request;
pub use cursor::{Cursor, CursorMut};
pub(crate) use duplicate::or_abort;
pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use into_iter::IntoIter;
pub use iter::{Gaps, GapsWithin, Iter};
pub(crate) use merge::with_neighbours;
pub(crate) use overlay::pieces;
pub(crate) use sorted::{Filling, FromSorted};
pub use taking::Removed;
pub(crate) use taking::overlap;
pub(crate) use transaction::Changes;
pub use transaction::Transaction;
pub(crate) use words::IterMut;
#[cfg(feature = "std")]
pub(crate) use words::NewWord;

use crate::entry::StoredValue;
use crate::node::{NodeLimits, Nodes};
use crate::tree::{Need, Tree};
use core::marker::PhantomData;
use freehold_units::{Broken, Span};

/// Maps ranges of `u64`, both ends included, to values of one word. [`RangeMap`](crate::RangeMap) takes values of any
/// type.
///
/// Ranges do not overlap. A store over a range replaces the entries there and cuts those that reach beyond. Neighbours
/// with equal values stay apart; gaps do not.
///
/// ```
/// use freehold_maple::WordMap;
/// use freehold_units::Span;
///
/// let mut map = WordMap::new();
/// map.store(Span::new(0x1000, 0x4fff).unwrap(), 1u32)?;
/// map.store(Span::new(0x2000, 0x2fff).unwrap(), 2u32)?;
/// let all: Vec<_> = map.iter().map(|(span, value)| (span.first(), value)).collect();
/// assert_eq!(all, [(0x1000, 1), (0x2000, 2), (0x3000, 1)]);
/// assert_eq!(map.get(0x2fff), Some(2));
/// assert_eq!(map.erase(0x3abc), Some((Span::new(0x3000, 0x4fff).unwrap(), 1)));
/// # Ok::<(), freehold_maple::Rejected<u32, freehold_maple::StoreError>>(())
/// ```
///
/// # Cost
/// A look-up, a store and a search for a gap descend a tree whose nodes have 256 or 320 bytes. An inner node has up to
/// 16 children, a leaf up to sixteen entries.
///
/// Storing takes a node when one overflows; erasing never does. Memory for nodes comes in pieces of 16, after the first
/// 64. The list of pieces, eight bytes each, is copied when it grows, which amortizes to nothing. The first store after a
/// forgotten transaction frees what that transaction removed: O(n). Removed values are also dropped.
///
/// Methods give their cost for n entries. To avoid linear cost, iterate upwards, and search without an alignment.
pub struct WordMap<E: StoredValue> {
    pub(crate) tree: Tree,
    entries: PhantomData<E>,
}

impl<E: StoredValue> WordMap<E> {
    /// An empty map. It has no memory of its own besides itself, and takes none for its first seven entries.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self::of_tree(Tree::new(NodeLimits::FULL))
    }

    /// An empty map that uses only a part of its nodes' slots, as `nodes` says. For tests.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_nodes(nodes: Nodes) -> Self {
        Self::of_tree(Tree::new(NodeLimits::of(nodes)))
    }

    /// An empty map that uses as many slots of its nodes as this one.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn new_alike(&self) -> Self {
        Self::of_tree(Tree::new(self.tree.limits()))
    }

    /// A map of a tree whose words are values of `E`.
    const fn of_tree(tree: Tree) -> Self {
        Self { tree, entries: PhantomData }
    }

    /// The number of entries.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.tree.len()
    }

    /// Whether there are no entries.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at an index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "mtree_load")]
    #[inline]
    #[must_use]
    pub fn get(&self, index: u64) -> Option<E::Ref<'_>> {
        self.tree.get(index).map(|word| self.borrow(word))
    }

    /// A split of the value at an index, to keep: an `Arc`'s count goes up by one.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// ```
    /// use freehold_maple::WordMap;
    /// use freehold_units::Span;
    /// use std::sync::Arc;
    ///
    /// let mut map = WordMap::new();
    /// map.store(Span::new(0, 9).unwrap(), Arc::new(7u32))?;
    /// let seven: Arc<u32> = map.get_owned(5).unwrap();
    /// map.clear();
    /// assert_eq!(*seven, 7);
    /// # Ok::<(), freehold_maple::Rejected<Arc<u32>, freehold_maple::StoreError>>(())
    /// ```
    #[must_use]
    pub fn get_owned(&self, index: u64) -> Option<E> {
        self.tree.get(index).map(|word| self.owned(word))
    }

    /// The range that contains an index, with its value, or the whole gap if it has none.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "mas_walk")]
    #[must_use]
    pub fn slot_at(&self, index: u64) -> (Span, Option<E::Ref<'_>>) {
        let slot = self.tree.slot_of(index);
        (slot.span, slot.entry.map(|word| self.borrow(word)))
    }

    /// The entry that contains an index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[inline]
    #[must_use]
    pub fn entry_at(&self, index: u64) -> Option<(Span, E::Ref<'_>)> {
        self.tree.entry_at(index).map(|(span, word)| (span, self.borrow(word)))
    }

    /// Levels of the tree: 0 if it has no nodes.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn height(&self) -> usize {
        self.tree.height()
    }

    /// Nodes in use: leaves of 256 bytes, and inner nodes of 320.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.tree.nodes().nodes()
    }

    /// Nodes taken since the map was made. Never decreases. A copy of another map starts at 0.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn nodes_taken(&self) -> u64 {
        self.tree.taken()
    }

    /// Bytes of memory that the map holds for nodes, in use or not. The first leaf is inline in the map and is not
    /// counted: a map of up to seven entries with gaps between them, or fourteen without, holds none.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tree.bytes()
    }

    /// Limits the leaves and inner nodes in use. A store that needs more fails. Existing entries stay, even if they
    /// already use more.
    ///
    /// Cost: constant.
    pub fn set_node_limit(&mut self, leaves: usize, inners: usize) {
        self.tree.set_limit(leaves, inners);
    }

    /// The tree, for a plan.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The tree, mutable.
    pub(crate) fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }

    /// Checks every invariant of the tree from scratch.
    ///
    /// Cost: O(n) for n entries.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn validate(&self) -> Result<(), Broken> {
        self.tree.validate(Need::default())
    }
}

impl<E: StoredValue> Drop for WordMap<E> {
    fn drop(&mut self) {
        if core::mem::needs_drop::<E>() {
            self.clear();
        }
    }
}

impl<E: StoredValue> Default for WordMap<E> {
    fn default() -> Self {
        Self::new()
    }
}
