//! The entry or the gap at an index, searched once and then read or changed.

use super::WordMap;
use crate::entry::{StoredValue, Word};
use crate::error::{InsertError, or_reject};
use crate::key::to_store;
use crate::tree::SlotPos;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// The result of [`WordMap::entry`].
pub enum Entry<'a, E: StoredValue> {
    /// The index is in an entry.
    Occupied(OccupiedEntry<'a, E>),
    /// The index is in a gap.
    Vacant(VacantEntry<'a, E>),
}

/// An entry of a map.
pub struct OccupiedEntry<'a, E: StoredValue> {
    map: &'a mut WordMap<E>,
    place: SlotPos,
    word: Word,
}

/// A gap of a map.
pub struct VacantEntry<'a, E: StoredValue> {
    map: &'a mut WordMap<E>,
    place: SlotPos,
}

impl<E: StoredValue> WordMap<E> {
    /// The entry or the gap that contains an index, for a change in place.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// ```
    /// use freehold_maple::WordMap;
    /// use freehold_maple::word_map::Entry;
    /// use freehold_units::Span;
    ///
    /// let mut map = WordMap::new();
    /// let page = Span::new(0x1000, 0x1fff).unwrap();
    /// for value in [1u32, 2] {
    ///     match map.entry(0x1800) {
    ///         Entry::Vacant(gap) => gap.insert(page, value).unwrap(),
    ///         Entry::Occupied(mut entry) => assert_eq!(entry.replace(value), 1),
    ///     }
    /// }
    /// assert_eq!(map.entry_at(0x1000), Some((page, 2)));
    /// ```
    pub fn entry(&mut self, index: u64) -> Entry<'_, E> {
        let place = self.tree.pos_of(index);
        match place.slot.entry {
            Some(word) => Entry::Occupied(OccupiedEntry { map: self, place, word }),
            None => Entry::Vacant(VacantEntry { map: self, place }),
        }
    }
}

impl<E: StoredValue> OccupiedEntry<'_, E> {
    /// Its range.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn span(&self) -> Span {
        self.place.slot.span
    }

    /// Its value.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn get(&self) -> E::Ref<'_> {
        self.map.borrow(self.word)
    }

    /// Replaces its value, and returns the old one. Never takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    pub fn replace(&mut self, value: E) -> E {
        // The slots and their ranges stay the same, so the place stays valid.
        let mut plan = self.map.tree.plan_at(&self.place.path, self.span(), true);
        let old = self.map.commit_one(&mut plan, Some(value));
        self.word = self.map.tree.slot(&self.place.path).entry.expect("M1: an exact fit keeps the slot");
        old
    }

    /// Removes the entry. Never takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    pub fn remove(self) -> (Span, E) {
        let span = self.span();
        (span, self.map.erase_at(&self.place.path, span))
    }
}

impl<E: StoredValue> VacantEntry<'_, E> {
    /// The whole gap.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn gap(&self) -> Span {
        self.place.slot.span
    }

    /// Stores a value over a free range. The range usually lies in the gap; then no search is needed.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// # Errors
    /// The range is empty, or extends beyond the gap and overlaps an entry there, or there is no memory for another
    /// node. Nothing has changed then, and the error returns the value.
    pub fn insert(self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, InsertError>> {
        let span = or_reject!(to_store(&bounds), value);
        if !self.gap().covers(span) {
            return self.map.insert(span, value);
        }
        let mut plan = self.map.tree.plan_at(&self.place.path, span, true);
        self.map.store_at(&mut plan, value)
    }
}
