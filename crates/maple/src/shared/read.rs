//! Reading: under a guard, without a lock.

use super::MapleTree;
use super::view::{Keep, Moment};
use crate::entry::{StoredValue, Word};
use crate::node::Leaf;
use crate::tree::indexes;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use crate::OutOfMemory;
use freehold_rcu::{Guard, OwnedGuard};
use freehold_units::Span;

/// A reader of a [`MapleTree`]: what it answers with stays as long as it does.
///
/// While it lives, nothing that it could have seen is reused or dropped. So whoever keeps one for long keeps memory.
pub struct Reading<'a, E: StoredValue, K = Guard<'static>> {
    pub(super) map: &'a MapleTree<E>,
    /// The guard: of this thread, or one that may be sent, or a moment of the map.
    pub(super) keep: K,
}

/// A reader that may move to another thread.
pub type OwnedReading<'a, E> = Reading<'a, E, OwnedGuard<'static>>;

/// A reader that sees the map as it was when it began. It may move to another thread.
pub type Snapshot<'a, E> = Reading<'a, E, Moment<'a>>;

impl<E: StoredValue> MapleTree<E> {
    /// Begins to read, on this thread. Cost: a nanosecond; nested ones, less.
    #[doc(alias = "rcu_read_lock")]
    #[inline]
    #[must_use]
    pub fn read(&self) -> Reading<'_, E> {
        Reading { map: self, keep: freehold_rcu::read() }
    }

    /// Begins to read, with a guard that may move to another thread. Cost: a lock of the readers' register, some 30 ns.
    ///
    /// # Errors
    /// No memory for a guard.
    pub fn read_owned(&self) -> Result<OwnedReading<'_, E>, OutOfMemory> {
        let guard = freehold_rcu::read_owned().map_err(|_| OutOfMemory)?;
        Ok(Reading { map: self, keep: guard })
    }

    /// The map as it is at this moment. Waits for the writer. Cost: that of [`read_owned`](Self::read_owned), whatever the map's
    /// size; but as long as it lives, each store copies the path from the root down.
    ///
    /// # Errors
    /// No memory for a guard.
    pub fn snapshot(&self) -> Result<Snapshot<'_, E>, OutOfMemory> {
        let guard = freehold_rcu::read_owned().map_err(|_| OutOfMemory)?;
        let _writer = self.lock();
        Ok(Reading { map: self, keep: Moment::new(&self.root, &self.moments, guard) })
    }

    /// Another value like the one at an index, to be kept: of an `Arc`, one that counts.
    #[must_use]
    pub fn get_owned(&self, index: u64) -> Option<E> {
        let reading = self.read();
        reading.view().get(index).map(|word| reading.owned(word))
    }
}

impl<E: StoredValue, K: Keep> Reading<'_, E, K> {
    /// The value at an index.
    #[doc(alias = "mtree_load")]
    #[inline]
    #[must_use]
    pub fn get(&self, index: u64) -> Option<E::Ref<'_>> {
        self.view().get(index).map(|word| self.borrow(word))
    }

    /// The range that an index is in, with its value; without one, the whole gap.
    #[doc(alias = "mas_walk")]
    #[must_use]
    pub fn slot_at(&self, index: u64) -> (Span, Option<E::Ref<'_>>) {
        let (leaf, whole) = self.view().leaf_at(index);
        let (span, word) = slot(leaf, whole, index);
        (span, word.map(|word| self.borrow(word)))
    }

    /// The entry that an index is in.
    #[must_use]
    pub fn entry_at(&self, index: u64) -> Option<(Span, E::Ref<'_>)> {
        let (span, value) = self.slot_at(index);
        value.map(|value| (span, value))
    }

    /// All entries, ascending.
    #[must_use]
    pub fn iter(&self) -> Entries<'_, E, K> {
        self.range(..)
    }

    /// The entries that have an index within the bounds, ascending; those at the ends may reach beyond the bounds.
    #[doc(alias = "mas_for_each")]
    #[must_use]
    pub fn range(&self, bounds: impl RangeBounds<u64>) -> Entries<'_, E, K> {
        Entries { slots: self.slots(bounds) }
    }

    /// The gaps that have an index within the bounds, ascending, whole.
    pub fn gaps(&self, bounds: impl RangeBounds<u64>) -> impl DoubleEndedIterator<Item = Span> {
        self.slots(bounds).filter_map(|(span, word)| word.is_none().then_some(span))
    }

    fn slots(&self, bounds: impl RangeBounds<u64>) -> Slots<'_, E, K> {
        Slots { reading: self, open: Span::from_bounds(&bounds), ends: [None; 2] }
    }
}

/// The slot of a leaf that has the index.
fn slot(leaf: &Leaf, whole: Span, index: u64) -> (Span, Option<Word>) {
    let slot = leaf.slot_of(index);
    let (first, last) = leaf.span(slot, whole);
    (indexes(first, last), leaf.entry(slot))
}

/// Slots that overlap some indexes, from both ends.
///
/// It reads a leaf to its end, and then walks to the next from the root. A node above the leaf, kept for that, might have left
/// the tree, and its children might be older than the call.
struct Slots<'r, E: StoredValue, K> {
    reading: &'r Reading<'r, E, K>,
    /// The indexes that neither end has passed.
    open: Option<Span>,
    /// The leaf of the front and of the back, once there is one.
    ends: [Option<(&'r Leaf, Span)>; 2],
}

impl<E: StoredValue, K: Keep> Slots<'_, E, K> {
    /// The slot that has the index, one of `end`'s.
    fn at(&mut self, end: usize, index: u64) -> (Span, Option<Word>) {
        let known = self.ends[end].filter(|(_, whole)| whole.contains(&index));
        let (leaf, whole) = known.unwrap_or_else(|| self.reading.view().leaf_at(index));
        self.ends[end] = Some((leaf, whole));
        slot(leaf, whole, index)
    }
}

impl<E: StoredValue, K: Keep> Iterator for Slots<'_, E, K> {
    type Item = (Span, Option<Word>);

    fn next(&mut self) -> Option<Self::Item> {
        let open = self.open?;
        let slot = self.at(0, open.first());
        self.open = open.above(slot.0);
        Some(slot)
    }
}

impl<E: StoredValue, K: Keep> DoubleEndedIterator for Slots<'_, E, K> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let open = self.open?;
        let slot = self.at(1, open.last());
        self.open = open.below(slot.0);
        Some(slot)
    }
}

impl<E: StoredValue, K> Clone for Slots<'_, E, K> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

/// Entries in ascending order of their indexes, or from the back in descending order.
pub struct Entries<'r, E: StoredValue, K = Guard<'static>> {
    slots: Slots<'r, E, K>,
}

impl<'r, E: StoredValue, K: Keep> Iterator for Entries<'r, E, K> {
    type Item = (Span, E::Ref<'r>);

    fn next(&mut self) -> Option<Self::Item> {
        let reading = self.slots.reading;
        self.slots.find_map(|(span, word)| Some((span, reading.borrow(word?))))
    }
}

impl<E: StoredValue, K: Keep> DoubleEndedIterator for Entries<'_, E, K> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let reading = self.slots.reading;
        self.slots.by_ref().rev().find_map(|(span, word)| Some((span, reading.borrow(word?))))
    }
}

impl<E: StoredValue, K: Keep> FusedIterator for Entries<'_, E, K> {}

impl<E: StoredValue, K> Clone for Entries<'_, E, K> {
    fn clone(&self) -> Self {
        Self { slots: self.slots.clone() }
    }
}

impl<'r, E: StoredValue, K: Keep> fmt::Debug for Entries<'r, E, K>
where
    E::Ref<'r>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<E: StoredValue, K> fmt::Debug for Reading<'_, E, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}
