//! Iteration over shared and over mutable values.

use super::RangeMap;
use super::numbered::Numbered;
use crate::iterators::{listed, mapped};
use crate::key::{Key, Keys, SpanOf, with_keys, within};
use crate::map;
use crate::value_arena::ValueArena;
use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeBounds;
use freehold_units::Span;

/// Entries in ascending order of their indexes, or from the back in descending order.
pub struct Iter<'a, V, K = u64> {
    numbers: map::Iter<'a, u32>,
    values: &'a ValueArena<V>,
    keys: Keys<K>,
}

impl<'a, V, K> Iter<'a, V, K> {
    /// The entries that overlap a range; none without one.
    #[inline]
    pub(super) fn new(ranges: &'a Numbered<V>, within: Option<Span>) -> Self {
        Self { numbers: ranges.numbers.range_within(within), values: &ranges.values, keys: PhantomData }
    }
}

/// Entries in ascending order of their indexes, or from the back in descending order, with mutable values.
pub struct IterMut<'a, V, K = u64> {
    entries: map::IterMut<'a, V>,
    keys: Keys<K>,
}

/// The ranges of entries, ascending.
#[derive(Clone)]
pub struct Spans<'a, K = u64> {
    numbers: map::Iter<'a, u32>,
    keys: Keys<K>,
}

/// The values of entries, in the order of their indexes.
pub struct Values<'a, V>(Iter<'a, V>);

/// The values of entries, in the order of their indexes, mutable.
pub struct ValuesMut<'a, V>(map::IterMut<'a, V>);

impl<V, K> Clone for Iter<'_, V, K> {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers.clone(), values: self.values, keys: PhantomData }
    }
}

impl<V> Clone for Values<'_, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

mapped! {
    // 39 instructions an entry in a loop over 100, 83 without: otherwise every step is a call. Likewise below.
    #[inline(always)]
    ['a, V, K: Key] Iter<'a, V, K>: (K::Span, &'a V) =
        self.numbers.map(|(span, number)| (K::Span::of_words(span), self.values.get(number)))
}
mapped! { #[inline(always)] ['a, V, K: Key] IterMut<'a, V, K>: (K::Span, &'a mut V) = self.entries.map(with_keys::<K, _>) }
mapped! { #[inline(always)] [K: Key] Spans<'_, K>: K::Span = self.numbers.map(|(span, _)| K::Span::of_words(span)) }
mapped! { #[inline(always)] ['a, V] Values<'a, V>: &'a V = self.0.map(|(_, value)| value) }
mapped! { #[inline(always)] ['a, V] ValuesMut<'a, V>: &'a mut V = self.0.map(|(_, value)| value) }

listed! {
    [V: fmt::Debug, K: Key<Span: fmt::Debug>] Iter<'_, V, K>;
    [K: Key<Span: fmt::Debug>] Spans<'_, K>;
    [V: fmt::Debug] Values<'_, V>;
}

impl<V, K> fmt::Debug for IterMut<'_, V, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterMut").finish_non_exhaustive()
    }
}

impl<V> fmt::Debug for ValuesMut<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValuesMut").finish_non_exhaustive()
    }
}

impl<V, K: Key> RangeMap<V, K> {
    /// All entries, ascending.
    ///
    /// Cost: O(log n) for n entries to begin. An entry costs O(1), or O(log n) if the next leaf has another parent: at
    /// most one in eight. The same from the back.
    #[inline]
    #[must_use]
    pub fn iter(&self) -> Iter<'_, V, K> {
        self.range(..)
    }

    /// The entries that overlap the bounds, ascending. The first and the last may reach beyond the bounds. Empty or
    /// reversed bounds have no entries.
    ///
    /// Cost: O(log n) for n entries to begin. An entry costs O(1), or O(log n) if the next leaf has another parent: at
    /// most one in eight. The same from the back.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let map = RangeMap::from([(0..5, 'a'), (5..10, 'b'), (20..25, 'c')]);
    /// assert_eq!(map.range(7..20).map(|(_, value)| *value).collect::<String>(), "b");
    /// assert_eq!(map.range(..).rev().map(|(_, value)| *value).collect::<String>(), "cba");
    /// ```
    #[inline]
    #[must_use]
    pub fn range(&self, bounds: impl RangeBounds<K>) -> Iter<'_, V, K> {
        Iter::new(&self.ranges, within(&bounds))
    }

    /// [`range`](Self::range) under the name that interval maps use.
    ///
    /// Cost: as for [`range`](Self::range).
    #[must_use]
    pub fn overlapping(&self, bounds: impl RangeBounds<K>) -> Iter<'_, V, K> {
        self.range(bounds)
    }

    /// All entries, ascending, with mutable values.
    ///
    /// Cost: O(log n) for n entries to begin. An entry costs O(1), or O(log n) if the next leaf has another parent: at
    /// most one in eight. The same from the back.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut map = RangeMap::from([(0..5, String::from("a")), (7..9, String::from("b"))]);
    /// for (span, name) in &mut map {
    ///     name.push_str(&span.first().to_string());
    /// }
    /// assert_eq!(map.values().collect::<Vec<_>>(), ["a0", "b7"]);
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, V, K> {
        self.range_mut(..)
    }

    /// The entries of [`range`](Self::range), with mutable values. A change applies to a whole entry, even where it
    /// reaches beyond the bounds. [`update_range`](Self::update_range) cuts such entries first.
    ///
    /// Cost: as for [`range`](Self::range).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let mut map = RangeMap::from([(0..5, 1), (5..10, 2), (20..25, 3)]);
    /// map.range_mut(5..).for_each(|(_, value)| *value *= 10);
    /// assert_eq!(map.values().copied().collect::<Vec<_>>(), [1, 20, 30]);
    /// ```
    #[doc(alias = "overlapping_mut")]
    pub fn range_mut(&mut self, bounds: impl RangeBounds<K>) -> IterMut<'_, V, K> {
        let Numbered { numbers, values } = &mut self.ranges;
        let entries = map::IterMut::new(numbers.range_within(within(&bounds)), values.places_mut());
        IterMut { entries, keys: PhantomData }
    }

    /// The ranges of all entries, ascending.
    ///
    /// Cost: as for [`iter`](Self::iter).
    #[doc(alias = "keys")]
    #[must_use]
    pub fn spans(&self) -> Spans<'_, K> {
        Spans { numbers: self.ranges.numbers.iter(), keys: PhantomData }
    }

    /// The values of all entries, in the order of their indexes.
    ///
    /// Cost: as for [`iter`](Self::iter).
    #[must_use]
    pub fn values(&self) -> Values<'_, V> {
        Values(self.iter_words())
    }

    /// The values of all entries, in the order of their indexes, mutable.
    ///
    /// Cost: as for [`iter`](Self::iter).
    pub fn values_mut(&mut self) -> ValuesMut<'_, V> {
        ValuesMut(self.iter_mut().entries)
    }

    /// The entry with the lowest indexes.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "first_key_value")]
    #[must_use]
    pub fn first(&self) -> Option<(K::Span, &V)> {
        self.iter().next()
    }

    /// The entry with the highest indexes.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "last_key_value")]
    #[must_use]
    pub fn last(&self) -> Option<(K::Span, &V)> {
        self.iter().next_back()
    }
}

impl<V, K> RangeMap<V, K> {
    /// All entries, with the words of their keys.
    pub(super) fn iter_words(&self) -> Iter<'_, V> {
        Iter::new(&self.ranges, Some(Span::ALL))
    }
}

impl<'a, V, K: Key> IntoIterator for &'a RangeMap<V, K> {
    type Item = (K::Span, &'a V);
    type IntoIter = Iter<'a, V, K>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, V, K: Key> IntoIterator for &'a mut RangeMap<V, K> {
    type Item = (K::Span, &'a mut V);
    type IntoIter = IterMut<'a, V, K>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
