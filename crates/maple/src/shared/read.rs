//! Reading: under a guard, without a lock.

use super::MapleTree;
use super::arena::PublishedLeaf;
use super::view::{ReadGuard, Reading, SnapshotGuard};
use crate::OutOfMemory;
use crate::entry::StoredValue;
use crate::iterators::{listed, mapped};
use crate::tree::{LeafAt, Leaves, Slots};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use freehold_rcu::{Guard, OwnedGuard};
use freehold_units::Span;

/// A reader that may move to another thread.
pub type OwnedReading<'a, E> = Reading<'a, E, OwnedGuard<'a>>;

/// A reader that sees the map as it was when it began. It may move to another thread.
pub type Snapshot<'a, E> = Reading<'a, E, SnapshotGuard<'a>>;

impl<E: StoredValue> MapleTree<E> {
    /// Begins to read, on this thread.
    ///
    /// Cost: constant, a nanosecond, and half as much again in a domain of the map's own; less for a nested reader. A
    /// thread's first read of a domain [registers](freehold_rcu::Domain::read) the thread, and aborts if there is no
    /// memory for that.
    #[doc(alias = "rcu_read_lock")]
    #[inline]
    #[must_use]
    pub fn read(&self) -> Reading<'_, E> {
        let keep = match &self.published.domain {
            None => freehold_rcu::read(),
            Some(domain) => domain.read(),
        };
        Reading { map: self, keep }
    }

    /// Begins to read, with a guard that may move to another thread. Cost: constant, a lock of the readers' register,
    /// some 30 ns.
    ///
    /// # Errors
    /// `OutOfMemory`: there is no memory for a guard.
    pub fn read_owned(&self) -> Result<OwnedReading<'_, E>, OutOfMemory> {
        let guard = self.domain().read_owned().map_err(|_| OutOfMemory)?;
        Ok(Reading { map: self, keep: guard })
    }

    /// A snapshot: the map as it is at this moment, without the stores of open transactions. Waits for a running store,
    /// never for a transaction.
    ///
    /// Cost: that of [`read_owned`](Self::read_owned), whatever the map's size. As long as it lives, each store copies
    /// the path from the root down.
    ///
    /// # Errors
    /// `OutOfMemory`: there is no memory for a guard.
    pub fn snapshot(&self) -> Result<Snapshot<'_, E>, OutOfMemory> {
        // Lock before taking the guard, so that a waiting thread delays no reclamation.
        let _writer = self.lock();
        let guard = self.domain().read_owned().map_err(|_| OutOfMemory)?;
        Ok(Reading { map: self, keep: SnapshotGuard::new(&self.published.root, &self.moments, guard) })
    }

    /// The entry that contains an index, with a split of its value to keep: an `Arc`'s count goes up by one.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[must_use]
    pub fn entry_owned(&self, index: u64) -> Option<(Span, E)> {
        let reading = self.read();
        reading.view().entry_at(index).map(|(span, word)| (span, reading.owned(word)))
    }

    /// The value at an index, as [`entry_owned`](Self::entry_owned) returns it.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[must_use]
    pub fn get_owned(&self, index: u64) -> Option<E> {
        let reading = self.read();
        reading.view().get(index).map(|word| reading.owned(word))
    }
}

impl<E: StoredValue, K: ReadGuard> Reading<'_, E, K> {
    /// The value at an index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "mtree_load")]
    #[inline]
    #[must_use]
    pub fn get(&self, index: u64) -> Option<E::Ref<'_>> {
        self.view().get(index).map(|word| self.borrow(word))
    }

    /// The range that contains an index, with its value, or the whole gap if it has none.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "mas_walk")]
    #[must_use]
    pub fn slot_at(&self, index: u64) -> (Span, Option<E::Ref<'_>>) {
        let (span, word) = self.view().slot_at(index);
        (span, word.map(|word| self.borrow(word)))
    }

    /// The entry that contains an index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[inline]
    #[must_use]
    pub fn entry_at(&self, index: u64) -> Option<(Span, E::Ref<'_>)> {
        self.view().entry_at(index).map(|(span, word)| (span, self.borrow(word)))
    }

    /// All entries, ascending.
    ///
    /// Cost: O(log n) for n entries to begin, and as much for each leaf, which has up to 16 entries. The same from
    /// either end.
    #[must_use]
    pub fn iter(&self) -> Entries<'_, E, K> {
        self.range(..)
    }

    /// The entries that overlap the bounds, ascending. The first and the last may reach beyond the bounds.
    ///
    /// Cost: O(log n) for n entries to begin, and as much for each leaf, which has up to 16 entries. The same from
    /// either end.
    #[doc(alias = "mas_for_each")]
    #[inline]
    #[must_use]
    pub fn range(&self, bounds: impl RangeBounds<u64>) -> Entries<'_, E, K> {
        Entries { reading: self, slots: Slots::new(self, Span::from_bounds(&bounds)) }
    }

    /// The gaps that overlap the bounds, ascending. Each is returned whole.
    ///
    /// Cost: O(log n) for n entries to begin, and as much for each leaf on the way. The next gap may be behind many
    /// leaves without one: O(n log n) for one gap and for all of them together.
    #[must_use]
    pub fn gaps(&self, bounds: impl RangeBounds<u64>) -> Gaps<'_, E, K> {
        Gaps { slots: Slots::new(self, Span::from_bounds(&bounds)) }
    }
}

/// The leaves that a reader finds, each by a walk from the root. A parent that was kept for the next leaf might have
/// left the tree since, and its children might be older than the call.
impl<'r, E: StoredValue, K: ReadGuard> Leaves<'r> for &'r Reading<'r, E, K> {
    const CHANGE: bool = true;
    type Leaf = PublishedLeaf<'r>;
    type Parent = ();
    const NO_PARENT: () = ();

    fn leaf_at(self, index: u64) -> LeafAt<PublishedLeaf<'r>, ()> {
        let (leaf, whole) = self.view().leaf_at(index);
        LeafAt { leaf, whole, parent: () }
    }

    fn leaf_behind(self, first: u64, (): ()) -> LeafAt<PublishedLeaf<'r>, ()> {
        self.leaf_at(first)
    }

    fn leaf_before(self, last: u64, (): ()) -> LeafAt<PublishedLeaf<'r>, ()> {
        self.leaf_at(last)
    }
}

/// Entries in ascending order of their indexes, or from the back in descending order.
pub struct Entries<'r, E: StoredValue, K: ReadGuard = Guard<'r>> {
    reading: &'r Reading<'r, E, K>,
    slots: Slots<'r, &'r Reading<'r, E, K>, true>,
}

impl<'r, E: StoredValue, K: ReadGuard> Iterator for Entries<'r, E, K> {
    type Item = (Span, E::Ref<'r>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (span, word) = self.slots.next()?;
        Some((span, self.reading.borrow(word)))
    }
}

impl<E: StoredValue, K: ReadGuard> DoubleEndedIterator for Entries<'_, E, K> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let (span, word) = self.slots.next_back()?;
        Some((span, self.reading.borrow(word)))
    }
}

/// Gaps in ascending order, or from the back in descending order. Each is whole, even where it reaches beyond the
/// range.
pub struct Gaps<'r, E: StoredValue, K: ReadGuard = Guard<'r>> {
    slots: Slots<'r, &'r Reading<'r, E, K>, false>,
}

mapped! { [E: StoredValue, K: ReadGuard] Gaps<'_, E, K>: Span = self.slots.map(|(span, _)| span) }

impl<'r, E: StoredValue, K: ReadGuard> IntoIterator for &'r Reading<'_, E, K> {
    type Item = (Span, E::Ref<'r>);
    type IntoIter = Entries<'r, E, K>;

    fn into_iter(self) -> Entries<'r, E, K> {
        self.iter()
    }
}

impl<E: StoredValue, K: ReadGuard> FusedIterator for Entries<'_, E, K> {}

impl<E: StoredValue, K: ReadGuard> Clone for Entries<'_, E, K> {
    fn clone(&self) -> Self {
        Self { reading: self.reading, slots: self.slots.clone() }
    }
}

impl<E: StoredValue, K: ReadGuard> Clone for Gaps<'_, E, K> {
    fn clone(&self) -> Self {
        Self { slots: self.slots.clone() }
    }
}

listed! {
    ['r, E: StoredValue, K: ReadGuard] Entries<'r, E, K> where [E::Ref<'r>: fmt::Debug];
    [E: StoredValue, K: ReadGuard] Gaps<'_, E, K>;
}

impl<E: StoredValue, K> fmt::Debug for Reading<'_, E, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}
