//! Builds maps from entries, takes maps apart into entries, and compares maps.

use super::RangeMap;
use crate::error::SortedError;
use crate::map::{self, Filling, FromSorted};
use crate::node::NodeLimits;
use crate::value_arena::ValueArena;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use freehold_units::Span;

/// The entries of a map in ascending order of their indexes, or from the back in descending order. Dropping it drops
/// the remaining entries; forgetting it (`mem::forget`) leaks them.
pub struct IntoIter<V> {
    numbers: map::IntoIter<u32>,
    values: ValueArena<V>,
}

impl<V> Iterator for IntoIter<V> {
    type Item = (Span, V);

    fn next(&mut self) -> Option<Self::Item> {
        self.numbers.next().map(|(span, number)| (span, self.values.take(number)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl<V> DoubleEndedIterator for IntoIter<V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.numbers.next_back().map(|(span, number)| (span, self.values.take(number)))
    }
}

impl<V> ExactSizeIterator for IntoIter<V> {}
impl<V> FusedIterator for IntoIter<V> {}

impl<V> IntoIterator for RangeMap<V> {
    type Item = (Span, V);
    type IntoIter = IntoIter<V>;

    fn into_iter(self) -> IntoIter<V> {
        IntoIter { numbers: self.numbers.into_iter(), values: self.values }
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
        let mut filling = RangeFilling::new();
        for (span, value) in entries {
            filling.push(span, value)?;
        }
        filling.finish()
    }
}

/// A map that is being built from entries in ascending order.
pub(super) struct RangeFilling<V> {
    numbers: Filling<u32>,
    values: ValueArena<V>,
}

impl<V> RangeFilling<V> {
    pub(super) fn new() -> Self {
        Self { numbers: Filling::new(NodeLimits::FULL), values: ValueArena::new() }
    }
}

impl<V> FromSorted for RangeFilling<V> {
    type Value = V;
    type Map = RangeMap<V>;

    fn push(&mut self, span: Span, value: V) -> Result<(), SortedError> {
        self.values.reserve(1)?;
        self.numbers.push(span, self.values.put(value))
    }

    fn finish(self) -> Result<RangeMap<V>, SortedError> {
        Ok(RangeMap { numbers: self.numbers.finish()?, values: self.values })
    }
}

/// Stores the entries one after the other: a later one cuts and replaces earlier ones.
///
/// # Panics
/// A range is empty. If memory is exhausted, it ends the process as the standard library's collections do.
impl<R: RangeBounds<u64>, V: Clone> Extend<(R, V)> for RangeMap<V> {
    fn extend<T: IntoIterator<Item = (R, V)>>(&mut self, entries: T) {
        for (bounds, value) in entries {
            let span = Span::from_bounds(&bounds);
            #[expect(clippy::expect_used, reason = "as documented")]
            let span = span.expect("an entry has at least one index");
            map::or_abort(self.store(span, value).map_err(|_| crate::OutOfMemory));
        }
    }
}

/// As [`extend`](Extend::extend) on an empty map.
impl<R: RangeBounds<u64>, V: Clone> FromIterator<(R, V)> for RangeMap<V> {
    fn from_iter<T: IntoIterator<Item = (R, V)>>(entries: T) -> Self {
        let mut map = Self::new();
        map.extend(entries);
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
impl<V: PartialEq> PartialEq for RangeMap<V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<V: Eq> Eq for RangeMap<V> {}

impl<V: fmt::Debug> fmt::Debug for RangeMap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<V: fmt::Debug> fmt::Debug for IntoIter<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("left", &self.len()).finish_non_exhaustive()
    }
}
