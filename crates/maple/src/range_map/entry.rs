//! The entry or the gap at an index, searched once and then read or changed.

use super::RangeMap;
use crate::error::InsertError;
use crate::key::{Key, SpanOf, gap_at};
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// The result of [`RangeMap::entry`].
pub enum Entry<'a, V, K: Key = u64> {
    /// The index is in an entry.
    Occupied(OccupiedEntry<'a, V, K>),
    /// The index is in a gap.
    Vacant(VacantEntry<'a, V, K>),
}

/// An entry of a map.
pub struct OccupiedEntry<'a, V, K: Key = u64> {
    map: &'a mut RangeMap<V, K>,
    span: Span,
    number: u32,
}

/// A gap of a map.
pub struct VacantEntry<'a, V, K: Key = u64> {
    map: &'a mut RangeMap<V, K>,
    gap: K::Span,
}

impl<V, K: Key> RangeMap<V, K> {
    /// The entry or the gap that contains an index, for a change in place.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    ///
    /// ```
    /// use freehold_maple::RangeMap;
    /// use freehold_maple::range_map::Entry;
    ///
    /// let mut map = RangeMap::new();
    /// for _ in 0..3 {
    ///     match map.entry(0x1800) {
    ///         Entry::Vacant(gap) => gap.insert(0x1000..0x2000, vec![0])?,
    ///         Entry::Occupied(mut entry) => entry.get_mut().push(1),
    ///     }
    /// }
    /// assert_eq!(map.get(0x1000), Some(&vec![0, 1, 1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn entry(&mut self, index: K) -> Entry<'_, V, K> {
        match self.ranges.numbers.slot_at(index.to_word()) {
            (span, Some(number)) => Entry::Occupied(OccupiedEntry { map: self, span, number }),
            (gap, None) => Entry::Vacant(VacantEntry { map: self, gap: gap_at(index, gap) }),
        }
    }
}

impl<'a, V, K: Key> OccupiedEntry<'a, V, K> {
    /// Its range.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn span(&self) -> K::Span {
        K::Span::of_words(self.span)
    }

    /// Its value.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn get(&self) -> &V {
        self.map.ranges.values.get(self.number)
    }

    /// Its value, mutable.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn get_mut(&mut self) -> &mut V {
        self.map.ranges.values.get_mut(self.number)
    }

    /// Its value, mutable for as long as the map is borrowed.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn into_mut(self) -> &'a mut V {
        self.map.ranges.values.get_mut(self.number)
    }

    /// Replaces its value, and returns the old one. Never takes memory.
    ///
    /// Cost: constant.
    #[doc(alias = "insert")]
    pub fn replace(&mut self, value: V) -> V {
        core::mem::replace(self.get_mut(), value)
    }

    /// Removes the whole entry. Never takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "remove_entry")]
    pub fn remove(self) -> (K::Span, V) {
        let (_, value) =
            self.map.ranges.erase(self.span.first()).expect("M1: an entry that was found is there");
        (K::Span::of_words(self.span), value)
    }
}

impl<V, K: Key> VacantEntry<'_, V, K> {
    /// The whole gap.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn gap(&self) -> K::Span {
        self.gap
    }

    /// Stores a value over a free range, for example one in the gap.
    ///
    /// Cost: O(log n) for n entries, and O(n) where the table of values grows; amortized O(log n).
    ///
    /// # Errors
    /// As for [`RangeMap::insert`].
    pub fn insert(self, bounds: impl RangeBounds<K>, value: V) -> Result<(), Rejected<V, InsertError>> {
        self.map.insert(bounds, value)
    }
}
