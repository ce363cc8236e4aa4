//! The union and the intersection of two maps.

use super::RangeMap;
use super::collect::RangeFilling;
use crate::OutOfMemory;
use crate::error::SortedError;
use crate::key::{Key, SpanOf};
use crate::map::{FromSorted, pieces};
use freehold_units::Span;

impl<V, K: Key> RangeMap<V, K> {
    /// A map of every index that is in one of two maps. The ends of the entries of both cut them into pieces; `value`
    /// gets each piece, ascending, with the value that each map has there, of which at least one is `Some`. Its result
    /// is the value of that piece. Pieces with equal values stay apart.
    ///
    /// If `value` panics, both maps are as before, and the values so far are dropped.
    ///
    /// Cost: O(n + m) for n and m entries; the new map has at most 2 (n + m).
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let (day, night) = (RangeMap::from([(0..20, 1)]), RangeMap::from([(10..30, 5)]));
    /// let both = day.union_with(&night, |_, a, b| a.unwrap_or(&0) + b.unwrap_or(&0))?;
    /// assert_eq!([5, 15, 25].map(|at| both.get(at).copied()), [Some(1), Some(6), Some(5)]);
    /// # Ok::<(), freehold_maple::OutOfMemory>(())
    /// ```
    ///
    /// # Errors
    /// There is not enough memory. The values so far are dropped.
    pub fn union_with<W, T>(
        &self,
        other: &RangeMap<W, K>,
        mut value: impl FnMut(K::Span, Option<&V>, Option<&W>) -> T,
    ) -> Result<RangeMap<T, K>, OutOfMemory> {
        filled(self.pieces(other).map(|(span, a, b)| (span, value(K::Span::of_words(span), a, b))))
    }

    /// A map of every index that is in both of two maps. The ends of the entries of both cut them into pieces; `value`
    /// gets each piece that is in both, ascending, with both values. Its result is the value of that piece. Pieces with
    /// equal values stay apart.
    ///
    /// If `value` panics, both maps are as before, and the values so far are dropped.
    ///
    /// Cost: O(n + m) for n and m entries; the new map has less than n + m.
    ///
    /// ```
    /// # use freehold_maple::RangeMap;
    /// let (owners, dirty) = (RangeMap::from([(0..20, "a"), (20..40, "b")]), RangeMap::from([(15..25, ())]));
    /// let written = owners.intersection_with(&dirty, |span, owner, ()| (*owner, span.size_bytes()))?;
    /// assert_eq!(written.values().copied().collect::<Vec<_>>(), [("a", 5), ("b", 5)]);
    /// # Ok::<(), freehold_maple::OutOfMemory>(())
    /// ```
    ///
    /// # Errors
    /// As for [`union_with`](Self::union_with).
    pub fn intersection_with<W, T>(
        &self,
        other: &RangeMap<W, K>,
        mut value: impl FnMut(K::Span, &V, &W) -> T,
    ) -> Result<RangeMap<T, K>, OutOfMemory> {
        let both = self.pieces(other).filter_map(|(span, a, b)| Some((span, a?, b?)));
        filled(both.map(|(span, a, b)| (span, value(K::Span::of_words(span), a, b))))
    }

    /// The pieces of both maps, in words.
    fn pieces<'a, W>(
        &'a self,
        other: &'a RangeMap<W, K>,
    ) -> impl Iterator<Item = (Span, Option<&'a V>, Option<&'a W>)> {
        pieces(self.iter_words(), other.iter_words())
    }
}

/// A map of entries that ascend.
fn filled<T, K: Key>(entries: impl Iterator<Item = (Span, T)>) -> Result<RangeMap<T, K>, OutOfMemory> {
    let mut filling = RangeFilling::new();
    let fill = || {
        for (span, value) in entries {
            filling.push(span, value)?;
        }
        filling.finish()
    };
    fill().map_err(SortedError::of_ascending)
}
