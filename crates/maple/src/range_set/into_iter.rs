//! Iteration by value.

use super::RangeSet;
use crate::iterators::mapped;
use crate::key::{Key, Keys, SpanOf};
use crate::map;
use core::fmt;

/// The ranges of a set, ascending, or from the back descending, with the set's memory.
pub struct IntoIter<K = u64> {
    ranges: map::IntoIter<()>,
    keys: Keys<K>,
}

impl<K: Key> IntoIterator for RangeSet<K> {
    type Item = K::Span;
    type IntoIter = IntoIter<K>;

    /// Cost: O(log n) for n ranges to begin, and O(1) for a range, or O(log n) if the next leaf has another parent.
    ///
    /// ```
    /// # use freehold_maple::RangeSet;
    /// let (mut spans, free) = (Vec::new(), RangeSet::from([0..10, 20..30]));
    /// spans.extend(free.into_iter().rev().map(|span| (span.first(), span.last())));
    /// assert_eq!(spans, [(20, 29), (0, 9)]);
    /// ```
    fn into_iter(self) -> IntoIter<K> {
        IntoIter { ranges: self.ranges.into_iter(), keys: self.keys }
    }
}

mapped! { [K: Key] IntoIter<K>: K::Span = self.ranges.map(|(span, ())| K::Span::of_words(span)), size_hint }

impl<K: Key> ExactSizeIterator for IntoIter<K> {}

impl<K> fmt::Debug for IntoIter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("left", &self.ranges.len()).finish()
    }
}
