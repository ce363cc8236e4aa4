//! Builds maps from entries, takes maps apart into entries, and compares maps.

use super::RangeMap;
use super::numbered::Numbered;
use crate::OutOfMemory;
use crate::error::{SortedError, StoreError};
use crate::iterators::mapped;
use crate::key::{Key, Keys, SpanOf, to_store};
use crate::map::{self, Filling, FromSorted};
use crate::node::NodeLimits;
use crate::value_arena::ValueArena;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ops::RangeBounds;
use freehold_units::Span;

/// The entries of a map in ascending order of their indexes, or from the back in descending order. Dropping it drops
/// the remaining entries; forgetting it (`mem::forget`) leaks them.
pub struct IntoIter<V, K = u64> {
    numbers: map::IntoIter<u32>,
    values: ValueArena<V>,
    keys: Keys<K>,
}

mapped! {
    [V, K: Key] IntoIter<V, K>: (K::Span, V) =
        self.numbers.map(|(span, number)| (K::Span::of_words(span), self.values.take(number))), size_hint
}

impl<V, K: Key> ExactSizeIterator for IntoIter<V, K> {}

impl<V, K: Key> IntoIterator for RangeMap<V, K> {
    type Item = (K::Span, V);
    type IntoIter = IntoIter<V, K>;

    fn into_iter(self) -> Self::IntoIter {
        let Numbered { numbers, values } = self.ranges;
        IntoIter { numbers: numbers.into_iter(), values, keys: PhantomData }
    }
}

impl<V> RangeMap<V> {
    /// Builds a map from entries that are in ascending order and do not overlap; they may touch.
    ///
    /// Cost: O(n) for n entries; nodes are filled one after the other.
    ///
    /// ```
    /// use freehold_maple::{RangeMap, SortedError};
    /// use freehold_units::Span;
    ///
    /// let page = |at: u64| Span::from_size(at * 4096, 4096).unwrap();
    /// let map = RangeMap::from_sorted((0..16).map(|at| (page(at), format!("page {at}"))))?;
    /// assert_eq!(map.get(4096 * 7).unwrap(), "page 7");
    /// let twice = RangeMap::from_sorted([(page(4), 2), (page(4), 3)]);
    /// assert!(matches!(twice, Err(SortedError::NotSorted { position: 1, .. })));
    /// # Ok::<(), SortedError>(())
    /// ```
    ///
    /// # Errors
    /// `NotSorted` names the first entry that does not begin after the end of the one before it. `OutOfMemory` if there
    /// is not enough memory. The values so far are dropped.
    pub fn from_sorted(entries: impl IntoIterator<Item = (Span, V)>) -> Result<Self, SortedError> {
        Self::from_sorted_with_keys(entries)
    }
}

impl<V, K: Key> RangeMap<V, K> {
    /// As [`from_sorted`](RangeMap::from_sorted), with keys of any type.
    ///
    /// Cost: O(n) for n entries.
    ///
    /// ```
    /// use freehold_maple::{KeySpan, RangeMap, SortedError};
    ///
    /// let kinds = [('0', '9', "digit"), ('a', 'z', "letter")];
    /// let kinds = kinds.map(|(first, last, kind)| (KeySpan::new(first, last).unwrap(), kind));
    /// let kinds = RangeMap::from_sorted_with_keys(kinds)?;
    /// assert_eq!(kinds.get('q'), Some(&"letter"));
    /// # Ok::<(), SortedError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`from_sorted`](RangeMap::from_sorted), or `OutOfDomain`.
    pub fn from_sorted_with_keys(
        entries: impl IntoIterator<Item = (K::Span, V)>,
    ) -> Result<Self, SortedError> {
        let entries = entries.into_iter();
        let mut filling = RangeFilling::new();
        // No value has a place too many then. If a hint is wrong, or so much is not there, places are made one by one.
        let _ = filling.values.reserve(entries.size_hint().0);
        for (span, value) in entries {
            filling.push(span.words(), value)?;
        }
        filling.finish()
    }
}

/// A map that is being built from entries in ascending order.
pub(super) struct RangeFilling<V, K> {
    numbers: Filling<u32>,
    values: ValueArena<V>,
    keys: Keys<K>,
}

impl<V, K> RangeFilling<V, K> {
    pub(super) fn new() -> Self {
        Self { numbers: Filling::new(NodeLimits::FULL), values: ValueArena::new(), keys: PhantomData }
    }
}

impl<V, K: Key> FromSorted for RangeFilling<V, K> {
    type Key = K;
    type Value = V;
    type Map = RangeMap<V, K>;

    fn push(&mut self, span: Span, value: V) -> Result<(), SortedError> {
        if span.last() > K::LAST {
            return Err(SortedError::OutOfDomain { position: self.values.len() as u64 });
        }
        self.values.reserve(1)?;
        self.numbers.push(span, self.values.put(value))
    }

    #[inline]
    fn is_behind(&self, span: Span) -> bool {
        self.numbers.is_behind(span)
    }

    fn finish(self) -> Result<RangeMap<V, K>, SortedError> {
        Ok(RangeMap::of_ranges(Numbered { numbers: self.numbers.finish()?, values: self.values }))
    }
}

/// Stores the entries one after the other: a later one cuts and replaces earlier ones.
///
/// # Panics
/// A range is empty, or reaches beyond the last key. If memory is exhausted, it ends the process as the standard
/// library's collections do.
impl<R: RangeBounds<K>, V: Clone, K: Key> Extend<(R, V)> for RangeMap<V, K> {
    fn extend<T: IntoIterator<Item = (R, V)>>(&mut self, entries: T) {
        for (bounds, value) in entries {
            let stored = self.store(bounds, value).map_err(|rejected| rejected.cause);
            if stored == Err(StoreError::OutOfMemory) {
                map::or_abort(Err(OutOfMemory))
            }
            #[expect(clippy::expect_used, reason = "as documented")]
            stored.expect("an entry has at least one key, and nothing else");
        }
    }
}

/// As [`extend`](Extend::extend) on an empty map. Entries in ascending order, up to the first that is not, are put in as
/// by [`from_sorted`](RangeMap::from_sorted).
impl<R: RangeBounds<K>, V: Clone, K: Key> FromIterator<(R, V)> for RangeMap<V, K> {
    fn from_iter<T: IntoIterator<Item = (R, V)>>(entries: T) -> Self {
        let (mut entries, mut filling) = (entries.into_iter(), RangeFilling::new());
        let unsorted = filling.fill(&mut entries, |bounds| to_store(bounds).ok());
        let mut map = filling.finish_or_abort();
        map.extend(unsorted.into_iter().chain(entries));
        map
    }
}

/// As [`extend`](Extend::extend) on an empty map.
impl<R: RangeBounds<u64>, V: Clone, const N: usize> From<[(R, V); N]> for RangeMap<V> {
    fn from(entries: [(R, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

/// Maps are equal if they have equal entries.
impl<V: PartialEq, K: Key> PartialEq for RangeMap<V, K> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter_words().eq(other.iter_words())
    }
}

impl<V: Eq, K: Key> Eq for RangeMap<V, K> {}

impl<V: Hash, K: Key> Hash for RangeMap<V, K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter_words().for_each(|entry| entry.hash(state));
    }
}

/// By first key, last key and value, entry by entry.
impl<V: PartialOrd, K: Key> PartialOrd for RangeMap<V, K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.iter_words().partial_cmp(other.iter_words())
    }
}

impl<V: Ord, K: Key> Ord for RangeMap<V, K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter_words().cmp(other.iter_words())
    }
}

impl<V: fmt::Debug, K: Key<Span: fmt::Debug>> fmt::Debug for RangeMap<V, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
