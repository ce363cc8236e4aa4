//! The map, of both forms of ranges.

use crate::{Key, RangeOf};
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::{Range, RangeInclusive};
use freehold_maple::range_map;
use freehold_units::Span;

/// A map of ranges to values. Equal neighbours are one range. `S` names steps, which are those of words.
pub struct MapOf<R, V, S = ()> {
    words: freehold_maple::RangeMap<V>,
    ranges: PhantomData<fn() -> (R, S)>,
}

impl<K, V> MapOf<Range<K>, V> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self::new_with_step_fns()
    }
}

impl<K, V> MapOf<RangeInclusive<K>, V, K> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self::new_with_step_fns()
    }
}

impl<R, V, S> MapOf<R, V, S> {
    /// An empty map.
    #[must_use]
    pub const fn new_with_step_fns() -> Self {
        Self { words: freehold_maple::RangeMap::new(), ranges: PhantomData }
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// The number of ranges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() as usize
    }

    /// Whether there are no ranges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

impl<R: RangeOf, V, S> MapOf<R, V, S> {
    /// The value at a key.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &R::Key) -> Option<&V> {
        self.words.get(key.to_word())
    }

    /// The range that has a key, and its value.
    #[inline]
    #[must_use]
    pub fn get_key_value(&self, key: &R::Key) -> Option<(R, &V)> {
        self.words.entry_at(key.to_word()).map(entry)
    }

    /// Whether a key is in a range of the map.
    #[must_use]
    pub fn contains_key(&self, key: &R::Key) -> bool {
        self.get(key).is_some()
    }

    /// The entries, ascending.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, R, V> {
        Iter { entries: self.words.iter(), ranges: PhantomData }
    }

    /// The gaps within a range, ascending, clipped to it.
    #[must_use]
    pub fn gaps<'a>(&'a self, outer_range: &'a R) -> Gaps<'a, R, V> {
        Gaps { gaps: outer_range.words().map(|words| self.words.gaps_within(words)), ranges: PhantomData }
    }

    /// The entries that overlap a range, ascending, each whole.
    pub fn overlapping<B: Borrow<R>>(&self, range: B) -> Overlapping<'_, R, V, B> {
        let (start, end) = range.borrow().ends();
        // An empty range overlaps the entry that has keys on both sides of it.
        let words = match range.borrow().words() {
            Some(words) => words,
            None => Span::from_size(start, 1).expect("one word is a range"),
        };
        Overlapping { entries: self.words.range(words), end, ranges: PhantomData }
    }

    /// Whether an entry overlaps a range.
    #[must_use]
    pub fn overlaps(&self, range: &R) -> bool {
        self.overlapping(range).next().is_some()
    }

    /// The entry with the lowest keys.
    #[must_use]
    pub fn first_range_value(&self) -> Option<(R, &V)> {
        self.words.first().map(entry)
    }

    /// The entry with the highest keys.
    #[must_use]
    pub fn last_range_value(&self) -> Option<(R, &V)> {
        self.words.last().map(entry)
    }
}

impl<R: RangeOf, V: PartialEq + Clone, S> MapOf<R, V, S> {
    /// Stores a value over a range, and makes one range of it and its equal neighbours.
    ///
    /// # Panics
    /// The range is empty, or memory is exhausted.
    pub fn insert(&mut self, range: R, value: V) {
        let words = range.words().expect("a range that is inserted has keys");
        self.words.store_merging(words, value).map(drop).expect("there is memory");
    }

    /// Removes what is in a range.
    ///
    /// # Panics
    /// The range is empty, or memory is exhausted.
    pub fn remove(&mut self, range: R) {
        let words = range.words().expect("a range that is removed has keys");
        self.words.remove_range(words).expect("there is memory");
    }
}

/// An entry, with the range of its words.
fn entry<R: RangeOf, V>((words, value): (Span, V)) -> (R, V) {
    (R::of_words(words), value)
}

/// The entries of a map, ascending.
pub struct Iter<'a, R, V> {
    entries: range_map::Iter<'a, V>,
    ranges: PhantomData<fn() -> R>,
}

/// The entries of a map that is taken apart, ascending.
pub struct IntoIter<R, V> {
    entries: range_map::IntoIter<V>,
    ranges: PhantomData<fn() -> R>,
}

/// The gaps within a range, ascending.
pub struct Gaps<'a, R, V> {
    /// Without it the range is empty.
    gaps: Option<freehold_maple::GapsWithin<'a>>,
    ranges: PhantomData<fn() -> (R, &'a V)>,
}

/// The entries that overlap a range, ascending.
pub struct Overlapping<'a, R, V, B> {
    entries: range_map::Iter<'a, V>,
    /// The first word behind the range, if there is one.
    end: Option<u64>,
    ranges: PhantomData<fn() -> (R, B)>,
}

impl<R, V> Clone for Iter<'_, R, V> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), ranges: PhantomData }
    }
}

impl<'a, R: RangeOf, V> Iterator for Iter<'a, R, V> {
    type Item = (R, &'a V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next().map(entry)
    }
}

impl<R: RangeOf, V> DoubleEndedIterator for Iter<'_, R, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries.next_back().map(entry)
    }
}

impl<R: RangeOf, V> Iterator for IntoIter<R, V> {
    type Item = (R, V);

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next().map(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<R: RangeOf, V> DoubleEndedIterator for IntoIter<R, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries.next_back().map(entry)
    }
}

impl<R: RangeOf, V> Iterator for Gaps<'_, R, V> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        self.gaps.as_mut()?.next().map(R::of_words)
    }
}

impl<'a, R: RangeOf, V, B> Iterator for Overlapping<'a, R, V, B> {
    type Item = (R, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next().filter(|(words, _)| self.end.is_none_or(|end| words.first() < end)).map(entry)
    }
}

impl<R: RangeOf, V, B> DoubleEndedIterator for Overlapping<'_, R, V, B> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries
            .next_back()
            .filter(|(words, _)| self.end.is_none_or(|end| words.first() < end))
            .map(entry)
    }
}

impl<R: RangeOf, V> FusedIterator for Iter<'_, R, V> {}
impl<R: RangeOf, V> FusedIterator for Gaps<'_, R, V> {}
impl<R: RangeOf, V, B> FusedIterator for Overlapping<'_, R, V, B> {}
impl<R: RangeOf, V> ExactSizeIterator for IntoIter<R, V> {}

impl<R: RangeOf, V, S> IntoIterator for MapOf<R, V, S> {
    type Item = (R, V);
    type IntoIter = IntoIter<R, V>;

    fn into_iter(self) -> IntoIter<R, V> {
        IntoIter { entries: self.words.into_iter(), ranges: PhantomData }
    }
}

impl<R: RangeOf, V: PartialEq + Clone, S> Extend<(R, V)> for MapOf<R, V, S> {
    fn extend<T: IntoIterator<Item = (R, V)>>(&mut self, entries: T) {
        entries.into_iter().for_each(|(range, value)| self.insert(range, value));
    }
}

impl<R: RangeOf, V: PartialEq + Clone, S> FromIterator<(R, V)> for MapOf<R, V, S> {
    fn from_iter<T: IntoIterator<Item = (R, V)>>(entries: T) -> Self {
        let mut map = Self::new_with_step_fns();
        map.extend(entries);
        map
    }
}

impl<R: RangeOf, V: PartialEq + Clone, S, const N: usize> From<[(R, V); N]> for MapOf<R, V, S> {
    fn from(entries: [(R, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<R, V, S> Default for MapOf<R, V, S> {
    fn default() -> Self {
        Self::new_with_step_fns()
    }
}

impl<R, V: Clone, S> Clone for MapOf<R, V, S> {
    fn clone(&self) -> Self {
        Self { words: self.words.clone(), ranges: PhantomData }
    }
}

impl<R, V: PartialEq, S> PartialEq for MapOf<R, V, S> {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl<R, V: Eq, S> Eq for MapOf<R, V, S> {}

impl<R, V: Hash, S> Hash for MapOf<R, V, S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.words.len());
        self.words.iter().for_each(|entry| entry.hash(state));
    }
}

/// By first key, last key and value, entry by entry.
impl<R, V: PartialOrd, S> PartialOrd for MapOf<R, V, S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.words.iter().partial_cmp(other.words.iter())
    }
}

impl<R, V: Ord, S> Ord for MapOf<R, V, S> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.words.iter().cmp(other.words.iter())
    }
}

impl<R: RangeOf + fmt::Debug, V: fmt::Debug, S> fmt::Debug for MapOf<R, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
