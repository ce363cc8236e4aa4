//! The set of ranges.

use crate::map::{self, Gaps, GapsWithin, WordMap, or_abort, pieces};
use crate::{OutOfMemory, SortedError, StoreError};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use freehold_units::{Broken, Span};

/// A set of `u64` that is kept as ranges. Ranges that overlap or touch are one range, so two sets with the same indexes
/// have the same ranges.
///
/// ```
/// use freehold_maple::RangeSet;
///
/// let mut free = RangeSet::from([0..10, 20..30]);
/// free.insert(10..20)?;
/// free.remove(25..28)?;
/// assert_eq!(free.iter().map(|span| span.to_string()).collect::<Vec<_>>(), ["0x0..=0x18", "0x1c..=0x1d"]);
/// assert!(free.contains(24) && !free.contains(25));
/// # Ok::<(), freehold_maple::StoreError>(())
/// ```
///
/// # Cost
/// The cost of [`WordMap`]; a range takes 24 to 54 bytes.
///
/// # Memory
/// An operation that lacks memory returns an error and has changed nothing.
pub struct RangeSet {
    ranges: WordMap<()>,
}

/// The ranges of a set, ascending, or from the back descending.
#[derive(Clone)]
pub struct Iter<'a>(map::Iter<'a, ()>);

impl Iterator for Iter<'_> {
    type Item = Span;

    #[inline]
    fn next(&mut self) -> Option<Span> {
        self.0.next().map(|(span, ())| span)
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Span> {
        self.0.next_back().map(|(span, ())| span)
    }
}

impl FusedIterator for Iter<'_> {}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl RangeSet {
    /// An empty set, without memory of its own. Up to seven ranges take none.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self { ranges: WordMap::new() }
    }

    /// Builds a set from ranges that are in ascending order and do not overlap; those that touch become one.
    ///
    /// Cost: O(n) for n ranges.
    ///
    /// # Errors
    /// `NotSorted` names the first range that does not begin after the end of the one before it. `OutOfMemory` if there
    /// is not enough memory.
    pub fn from_sorted(ranges: impl IntoIterator<Item = Span>) -> Result<Self, SortedError> {
        let mut ranges = ranges.into_iter().peekable();
        let joined = core::iter::from_fn(|| {
            let mut span: Span = ranges.next()?;
            while let Some(next) = ranges.next_if(|next| span.touches(*next) && span < *next) {
                span = span.hull(next);
            }
            Some((span, ()))
        });
        Ok(Self { ranges: WordMap::from_sorted(joined)? })
    }

    /// The number of ranges.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.ranges.len()
    }

    /// Whether no index is in the set.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether an index is in the set.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[inline]
    #[must_use]
    pub fn contains(&self, index: u64) -> bool {
        self.ranges.get(index).is_some()
    }

    /// Whether every index of the bounds is in the set. Empty bounds are.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[must_use]
    pub fn covers(&self, bounds: impl RangeBounds<u64>) -> bool {
        let Some(span) = Span::from_bounds(&bounds) else { return true };
        self.range_at(span.first()).is_some_and(|range| range.covers(span))
    }

    /// Whether no index of the bounds is in the set.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[doc(alias = "overlaps")]
    #[must_use]
    pub fn is_free(&self, bounds: impl RangeBounds<u64>) -> bool {
        self.ranges.is_free(bounds)
    }

    /// The whole range that contains an index.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[doc(alias = "get")]
    #[must_use]
    pub fn range_at(&self, index: u64) -> Option<Span> {
        self.ranges.entry_at(index).map(|(span, ())| span)
    }

    /// The lowest range.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[must_use]
    pub fn first(&self) -> Option<Span> {
        self.iter().next()
    }

    /// The highest range.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[must_use]
    pub fn last(&self) -> Option<Span> {
        self.iter().next_back()
    }

    /// Adds a range; returns the range of the set that contains it afterwards.
    ///
    /// Cost: O(log n + k) for n ranges of which it absorbs k; amortized O(log n).
    ///
    /// # Errors
    /// `EmptyRange`, or `OutOfMemory` if there is no memory for another node. Nothing has changed then.
    pub fn insert(&mut self, bounds: impl RangeBounds<u64>) -> Result<Span, StoreError> {
        self.ranges.store_merging(bounds, ()).map_err(|rejected| rejected.cause)
    }

    /// Removes a range. Ranges that reach beyond it are cut. Empty bounds remove nothing.
    ///
    /// Cost: O(log n + k) for n ranges of which it removes k; amortized O(log n).
    ///
    /// # Errors
    /// A range is cut, and there is no memory for another node. Nothing has changed then.
    pub fn remove(&mut self, bounds: impl RangeBounds<u64>) -> Result<(), OutOfMemory> {
        self.ranges.remove_range(bounds)
    }

    /// Removes all indexes, and keeps the memory for others.
    ///
    /// Cost: O(n) for n ranges.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// All ranges, ascending.
    ///
    /// Cost: O(log n) for n ranges to begin, and O(1) for a range, or O(log n) if the next leaf has another parent.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        self.overlapping(..)
    }

    /// The ranges that overlap the bounds, ascending, each whole.
    ///
    /// Cost: as for [`iter`](Self::iter).
    #[must_use]
    pub fn overlapping(&self, bounds: impl RangeBounds<u64>) -> Iter<'_> {
        Iter(self.ranges.range(bounds))
    }

    /// The gaps that overlap the bounds, ascending, each whole.
    ///
    /// Cost: as for [`WordMap::gaps`].
    #[must_use]
    pub fn gaps(&self, bounds: impl RangeBounds<u64>) -> Gaps<'_> {
        self.ranges.gaps(bounds)
    }

    /// The gaps that overlap the bounds, ascending, each clipped to the bounds.
    ///
    /// Cost: as for [`WordMap::gaps`].
    #[must_use]
    pub fn gaps_within(&self, bounds: impl RangeBounds<u64>) -> GapsWithin<'_> {
        self.ranges.gaps_within(bounds)
    }

    /// The indexes that are in at least one of two sets.
    ///
    /// Cost: O(n + m) for n and m ranges: both are read once.
    ///
    /// ```
    /// # use freehold_maple::RangeSet;
    /// let (a, b) = (RangeSet::from([0..10, 20..30]), RangeSet::from([5..20]));
    /// assert_eq!(a.union(&b)?, RangeSet::from([0..30]));
    /// assert_eq!(a.intersection(&b)?, RangeSet::from([5..10]));
    /// assert_eq!(a.difference(&b)?, RangeSet::from([0..5, 20..30]));
    /// # Ok::<(), freehold_maple::OutOfMemory>(())
    /// ```
    ///
    /// # Errors
    /// There is not enough memory for the new set.
    pub fn union(&self, other: &Self) -> Result<Self, OutOfMemory> {
        self.pieces_where(other, |_, _| true)
    }

    /// The indexes that are in both of two sets.
    ///
    /// Cost: O(n + m) for n and m ranges: both are read once.
    ///
    /// # Errors
    /// There is not enough memory for the new set.
    pub fn intersection(&self, other: &Self) -> Result<Self, OutOfMemory> {
        self.pieces_where(other, |a, b| a && b)
    }

    /// The indexes that are in this set and not in the other.
    ///
    /// Cost: O(n + m) for n and m ranges: both are read once.
    ///
    /// # Errors
    /// There is not enough memory for the new set.
    pub fn difference(&self, other: &Self) -> Result<Self, OutOfMemory> {
        self.pieces_where(other, |a, b| a && !b)
    }

    /// A set of the same indexes.
    ///
    /// Cost: O(n) for n ranges.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(Self { ranges: self.ranges.try_clone()? })
    }

    /// Bytes of memory that the set holds for nodes, in use or not.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.ranges.bytes()
    }

    /// Checks every invariant of the set from scratch.
    ///
    /// Cost: O(n) for n ranges.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn validate(&self) -> Result<(), Broken> {
        self.ranges.validate()?;
        let mut before: Option<Span> = None;
        for span in self {
            let apart = before.replace(span).is_none_or(|before| !before.touches(span));
            freehold_units::check(apart, "M13", "two ranges of a set never touch", span.first())?;
        }
        Ok(())
    }

    /// The pieces of both sets for which `keeps` is true of whether each set has them.
    fn pieces_where(&self, other: &Self, keeps: fn(bool, bool) -> bool) -> Result<Self, OutOfMemory> {
        let all = pieces(self.ranges.iter(), other.ranges.iter());
        let kept = all.filter(|(_, a, b)| keeps(a.is_some(), b.is_some())).map(|(span, ..)| span);
        Self::from_sorted(kept).map_err(SortedError::of_ascending)
    }
}

impl Default for RangeSet {
    fn default() -> Self {
        Self::new()
    }
}

/// As [`try_clone`](RangeSet::try_clone), but if memory is exhausted it ends the process, like the standard library's
/// collections.
impl Clone for RangeSet {
    fn clone(&self) -> Self {
        or_abort(self.try_clone())
    }
}

/// Sets are equal if they have the same indexes.
impl PartialEq for RangeSet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for RangeSet {}

impl fmt::Debug for RangeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for &'a RangeSet {
    type Item = Span;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Inserts the ranges one after the other. An empty range adds nothing. If memory is exhausted, it ends the process as
/// the standard library's collections do.
impl<R: RangeBounds<u64>> Extend<R> for RangeSet {
    fn extend<T: IntoIterator<Item = R>>(&mut self, ranges: T) {
        for span in ranges.into_iter().filter_map(|bounds| Span::from_bounds(&bounds)) {
            or_abort(self.insert(span).map_err(|_| OutOfMemory));
        }
    }
}

/// As [`extend`](Extend::extend) on an empty set.
impl<R: RangeBounds<u64>> FromIterator<R> for RangeSet {
    fn from_iter<T: IntoIterator<Item = R>>(ranges: T) -> Self {
        let mut set = Self::new();
        set.extend(ranges);
        set
    }
}

/// As [`extend`](Extend::extend) on an empty set.
impl<R: RangeBounds<u64>, const N: usize> From<[R; N]> for RangeSet {
    fn from(ranges: [R; N]) -> Self {
        ranges.into_iter().collect()
    }
}
