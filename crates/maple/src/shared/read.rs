//! Reading: under a guard, without a lock.

use super::MapleTree;
use super::view::View;
use crate::entry::{StoredValue, Word};
use crate::node::Leaf;
use crate::tree::indexes;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use freehold_rcu::Guard;
use freehold_units::Span;

/// A reader of a [`MapleTree`], who holds a guard: what it answers with stays as long as it does. It stays on its thread.
///
/// While it lives, nothing that it could have seen is reused or dropped. So whoever keeps one for long keeps memory.
pub struct Reading<'a, E: StoredValue> {
    pub(super) map: &'a MapleTree<E>,
    _guard: Guard<'static>,
}

impl<E: StoredValue> MapleTree<E> {
    /// Begins to read. Cost: a nanosecond; nested ones, less.
    #[doc(alias = "rcu_read_lock")]
    #[inline]
    #[must_use]
    pub fn read(&self) -> Reading<'_, E> {
        Reading { map: self, _guard: freehold_rcu::read() }
    }

    /// Another value like the one at an index, to be kept: of an `Arc`, one that counts.
    #[must_use]
    pub fn get_owned(&self, index: u64) -> Option<E> {
        let reading = self.read();
        reading.view().get(index).map(|word| reading.owned(word))
    }
}

impl<E: StoredValue> Reading<'_, E> {
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

    /// All entries, ascending, as they are at this moment.
    #[must_use]
    pub fn iter(&self) -> Entries<'_, E> {
        self.range(..)
    }

    /// The entries that have an index within the bounds, ascending, as they are at this moment; those at the ends may reach
    /// beyond the bounds.
    #[must_use]
    pub fn range(&self, bounds: impl RangeBounds<u64>) -> Entries<'_, E> {
        Entries {
            reading: self,
            slots: Slots { view: self.view(), open: Span::from_bounds(&bounds), ends: [None; 2] },
        }
    }

    /// The gaps that have an index within the bounds, ascending, whole, as they are at this moment.
    pub fn gaps(&self, bounds: impl RangeBounds<u64>) -> impl DoubleEndedIterator<Item = Span> {
        let slots = Slots { view: self.view(), open: Span::from_bounds(&bounds), ends: [None; 2] };
        slots.filter_map(|(span, word)| word.is_none().then_some(span))
    }
}

/// The slot of a leaf that has the index.
fn slot(leaf: &Leaf, whole: Span, index: u64) -> (Span, Option<Word>) {
    let slot = leaf.slot_of(index);
    let (first, last) = leaf.span(slot, whole);
    (indexes(first, last), leaf.entry(slot))
}

/// Slots of one version that overlap some indexes, from both ends.
#[derive(Clone)]
struct Slots<'r> {
    view: View<'r>,
    /// The indexes that neither end has passed.
    open: Option<Span>,
    /// The leaf of the front and of the back, once there is one.
    ends: [Option<(&'r Leaf, Span)>; 2],
}

impl Slots<'_> {
    /// The slot that has the index, one of `end`'s.
    fn at(&mut self, end: usize, index: u64) -> (Span, Option<Word>) {
        let known = self.ends[end].filter(|(_, whole)| whole.contains(&index));
        let (leaf, whole) = known.unwrap_or_else(|| self.view.leaf_at(index));
        self.ends[end] = Some((leaf, whole));
        slot(leaf, whole, index)
    }
}

impl Iterator for Slots<'_> {
    type Item = (Span, Option<Word>);

    fn next(&mut self) -> Option<Self::Item> {
        let open = self.open?;
        let slot = self.at(0, open.first());
        self.open = open.above(slot.0);
        Some(slot)
    }
}

impl DoubleEndedIterator for Slots<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let open = self.open?;
        let slot = self.at(1, open.last());
        self.open = open.below(slot.0);
        Some(slot)
    }
}

/// Entries in ascending order of their indexes, or from the back in descending order, as they were when the iterator was made.
pub struct Entries<'r, E: StoredValue> {
    reading: &'r Reading<'r, E>,
    slots: Slots<'r>,
}

impl<'r, E: StoredValue> Iterator for Entries<'r, E> {
    type Item = (Span, E::Ref<'r>);

    fn next(&mut self) -> Option<Self::Item> {
        let reading = self.reading;
        self.slots.find_map(|(span, word)| Some((span, reading.borrow(word?))))
    }
}

impl<E: StoredValue> DoubleEndedIterator for Entries<'_, E> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let reading = self.reading;
        self.slots.by_ref().rev().find_map(|(span, word)| Some((span, reading.borrow(word?))))
    }
}

impl<E: StoredValue> FusedIterator for Entries<'_, E> {}

impl<E: StoredValue> Clone for Entries<'_, E> {
    fn clone(&self) -> Self {
        Self { reading: self.reading, slots: self.slots.clone() }
    }
}

impl<'r, E: StoredValue> fmt::Debug for Entries<'r, E>
where
    E::Ref<'r>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<E: StoredValue> fmt::Debug for Reading<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}
