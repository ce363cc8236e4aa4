//! The set, of both forms of ranges: a map of nothing.

use crate::{MapOf, RangeOf, map_of};
use core::borrow::Borrow;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{BitAnd, BitOr, Range, RangeInclusive};
use freehold_units::Span;

/// A set that is kept as ranges. Those that touch are one. `S` names steps, which are those of words.
pub struct SetOf<R, S = ()> {
    ranges: MapOf<R, (), S>,
}

impl<K> SetOf<Range<K>> {
    /// An empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self::new_with_step_fns()
    }
}

impl<K> SetOf<RangeInclusive<K>, K> {
    /// An empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self::new_with_step_fns()
    }
}

impl<R, S> SetOf<R, S> {
    /// An empty set.
    #[must_use]
    pub const fn new_with_step_fns() -> Self {
        Self { ranges: MapOf::new_with_step_fns() }
    }

    /// Removes all ranges.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The number of ranges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are no ranges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

impl<R: RangeOf, S> SetOf<R, S> {
    /// The range that has a key.
    #[must_use]
    pub fn get(&self, value: &R::Key) -> Option<R> {
        self.ranges.get_key_value(value).map(|(range, ())| range)
    }

    /// Whether a key is in the set.
    #[must_use]
    pub fn contains(&self, value: &R::Key) -> bool {
        self.ranges.contains_key(value)
    }

    /// The ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = R> + FusedIterator + Clone + '_ {
        self.ranges.iter().map(|(range, ())| range)
    }

    /// Adds a range.
    ///
    /// # Panics
    /// The range is empty, or memory is exhausted.
    pub fn insert(&mut self, range: R) {
        self.ranges.insert(range, ());
    }

    /// Removes what is in a range.
    ///
    /// # Panics
    /// The range is empty, or memory is exhausted.
    pub fn remove(&mut self, range: R) {
        self.ranges.remove(range);
    }

    /// The gaps within a range, ascending, clipped to it.
    #[must_use]
    pub fn gaps<'a>(&'a self, outer_range: &'a R) -> map_of::Gaps<'a, R, ()> {
        self.ranges.gaps(outer_range)
    }

    /// The ranges that overlap a range, ascending, each whole.
    pub fn overlapping<B: Borrow<R>>(
        &self,
        range: B,
    ) -> impl DoubleEndedIterator<Item = R> + FusedIterator + use<'_, R, S, B> {
        self.ranges.overlapping(range).map(|(range, ())| range)
    }

    /// Whether a range of the set overlaps a range.
    #[must_use]
    pub fn overlaps(&self, range: &R) -> bool {
        self.ranges.overlaps(range)
    }

    /// The lowest range.
    #[must_use]
    pub fn first(&self) -> Option<R> {
        self.ranges.first_range_value().map(|(range, ())| range)
    }

    /// The highest range.
    #[must_use]
    pub fn last(&self) -> Option<R> {
        self.ranges.last_range_value().map(|(range, ())| range)
    }

    /// The ranges of both sets, ascending.
    pub fn union<'a>(&'a self, other: &'a Self) -> impl FusedIterator<Item = R> + 'a {
        self.merged(other, |words, other| words.union(other))
    }

    /// The parts that are in both sets, ascending.
    pub fn intersection<'a>(&'a self, other: &'a Self) -> impl FusedIterator<Item = R> + 'a {
        self.merged(other, |words, other| words.intersection(other))
    }

    /// The ranges of a set that is made of the words of two.
    fn merged(&self, other: &Self, merge: Merge) -> impl FusedIterator<Item = R> + use<R, S> {
        let words = |set: &Self| {
            let words = set.iter().filter_map(|range| range.words());
            freehold_maple::RangeSet::from_sorted(words).expect("ranges ascend, and there is memory")
        };
        let merged = merge(&words(self), &words(other)).expect("there is memory");
        let mut left = Some(0);
        core::iter::from_fn(move || {
            let span: Span = merged.overlapping(left?..).next()?;
            left = span.last().checked_add(1);
            Some(R::of_words(span))
        })
        .fuse()
    }
}

type Words = freehold_maple::RangeSet;
type Merge = fn(&Words, &Words) -> Result<Words, freehold_units::OutOfMemory>;

impl<R: RangeOf, S> IntoIterator for SetOf<R, S> {
    type Item = R;
    type IntoIter = core::iter::Map<map_of::IntoIter<R, ()>, fn((R, ())) -> R>;

    fn into_iter(self) -> Self::IntoIter {
        self.ranges.into_iter().map(|(range, ())| range)
    }
}

impl<R: RangeOf, S> Extend<R> for SetOf<R, S> {
    fn extend<T: IntoIterator<Item = R>>(&mut self, ranges: T) {
        ranges.into_iter().for_each(|range| self.insert(range));
    }
}

impl<R: RangeOf, S> FromIterator<R> for SetOf<R, S> {
    fn from_iter<T: IntoIterator<Item = R>>(ranges: T) -> Self {
        let mut set = Self::new_with_step_fns();
        set.extend(ranges);
        set
    }
}

impl<R: RangeOf, S, const N: usize> From<[R; N]> for SetOf<R, S> {
    fn from(ranges: [R; N]) -> Self {
        ranges.into_iter().collect()
    }
}

impl<R: RangeOf, S> BitAnd for &SetOf<R, S> {
    type Output = SetOf<R, S>;

    fn bitand(self, other: Self) -> SetOf<R, S> {
        self.intersection(other).collect()
    }
}

impl<R: RangeOf, S> BitOr for &SetOf<R, S> {
    type Output = SetOf<R, S>;

    fn bitor(self, other: Self) -> SetOf<R, S> {
        self.union(other).collect()
    }
}

impl<R, S> Default for SetOf<R, S> {
    fn default() -> Self {
        Self::new_with_step_fns()
    }
}

impl<R, S> Clone for SetOf<R, S> {
    fn clone(&self) -> Self {
        Self { ranges: self.ranges.clone() }
    }
}

impl<R, S> PartialEq for SetOf<R, S> {
    fn eq(&self, other: &Self) -> bool {
        self.ranges == other.ranges
    }
}

impl<R, S> Eq for SetOf<R, S> {}

impl<R, S> core::hash::Hash for SetOf<R, S> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.ranges.hash(state);
    }
}

impl<R, S> PartialOrd for SetOf<R, S> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<R, S> Ord for SetOf<R, S> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.ranges.cmp(&other.ranges)
    }
}

impl<R: RangeOf + fmt::Debug, S> fmt::Debug for SetOf<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
