//! The set of ranges.

mod into_iter;
#[cfg(feature = "serde")]
mod serde;
#[cfg(test)]
mod tests;

pub use into_iter::IntoIter;

use crate::iterators::{listed, mapped};
use crate::key::{Key, Keys, SpanOf, to_store, within};
use crate::map::{self, Gaps, GapsWithin, WordMap, or_abort, pieces};
use crate::{OutOfMemory, SortedError, StoreError};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ops::RangeBounds;
use freehold_units::{Broken, Span, check};

/// A set of `u64`, or of another type of [`Key`], that is kept as ranges. Ranges that overlap or touch are one range, so two sets with the same indexes
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
pub struct RangeSet<K = u64> {
    ranges: WordMap<()>,
    keys: Keys<K>,
}

/// The ranges of a set, ascending, or from the back descending.
#[derive(Clone)]
pub struct Iter<'a, K = u64> {
    ranges: map::Iter<'a, ()>,
    keys: Keys<K>,
}

mapped! { #[inline] [K: Key] Iter<'_, K>: K::Span = self.ranges.map(|(span, ())| K::Span::of_words(span)) }
listed! { [K: Key<Span: fmt::Debug>] Iter<'_, K>; }

impl RangeSet {
    /// An empty set of `u64`, without memory of its own. Up to seven ranges take none.
    ///
    /// Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_keys()
    }

    /// Builds a set from ranges that are in ascending order and do not overlap; those that touch become one.
    ///
    /// Cost: O(n) for n ranges.
    ///
    /// # Errors
    /// `NotSorted` names the first range that does not begin after the end of the one before it. `OutOfMemory` if there
    /// is not enough memory.
    pub fn from_sorted(ranges: impl IntoIterator<Item = Span>) -> Result<Self, SortedError> {
        Self::from_sorted_with_keys(ranges)
    }
}

impl<K> RangeSet<K> {
    /// An empty set with keys of any type. [`new`](RangeSet::new) is the same for `u64`, so that its type need not be
    /// written.
    ///
    /// Cost: constant.
    ///
    /// ```
    /// # use freehold_maple::{KeySpan, RangeSet};
    /// let mut letters = RangeSet::with_keys();
    /// letters.insert('a'..='m')?;
    /// assert_eq!(letters.insert('n'..='z')?, KeySpan::new('a', 'z').unwrap());
    /// assert!(letters.contains('q') && !letters.contains('Q'));
    /// # Ok::<(), freehold_maple::StoreError>(())
    /// ```
    #[must_use]
    pub const fn with_keys() -> Self {
        Self::of_ranges(WordMap::new())
    }

    const fn of_ranges(ranges: WordMap<()>) -> Self {
        Self { ranges, keys: PhantomData }
    }
}

impl<K: Key> RangeSet<K> {
    /// As [`from_sorted`](RangeSet::from_sorted), with keys of any type.
    ///
    /// Cost: O(n) for n ranges.
    ///
    /// # Errors
    /// As for [`from_sorted`](RangeSet::from_sorted), or `OutOfDomain`.
    pub fn from_sorted_with_keys(ranges: impl IntoIterator<Item = K::Span>) -> Result<Self, SortedError> {
        let (mut next, mut before) = (0, None::<Span>);
        // Before any are joined, so that an error names a range as it was given.
        let checked = ranges.into_iter().map(|span| {
            let (position, span) = (next, span.words());
            next += 1;
            if span.last() > K::LAST {
                return Err(SortedError::OutOfDomain { position });
            }
            match before.replace(span) {
                Some(before) if span.first() <= before.last() => {
                    Err(SortedError::NotSorted { position, span, before })
                }
                _ => Ok(span),
            }
        });
        let mut refused = None;
        let words = checked.map_while(|span| span.map_err(|error| refused = Some(error)).ok());
        let ranges = joined(words)?;
        refused.map_or(Ok(Self::of_ranges(ranges)), Err)
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
    pub fn contains(&self, index: K) -> bool {
        self.ranges.get(index.to_word()).is_some()
    }

    /// Whether every index of the bounds is in the set. Empty bounds are.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[must_use]
    pub fn covers(&self, bounds: impl RangeBounds<K>) -> bool {
        let Some(span) = within(&bounds) else { return true };
        self.ranges.entry_at(span.first()).is_some_and(|(range, ())| range.covers(span))
    }

    /// Whether no index of the bounds is in the set.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[doc(alias = "overlaps")]
    #[must_use]
    pub fn is_free(&self, bounds: impl RangeBounds<K>) -> bool {
        self.ranges.range_within(within(&bounds)).next().is_none()
    }

    /// The whole range that contains an index.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[doc(alias = "get")]
    #[must_use]
    pub fn range_at(&self, index: K) -> Option<K::Span> {
        self.ranges.entry_at(index.to_word()).map(|(span, ())| K::Span::of_words(span))
    }

    /// The lowest range.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[must_use]
    pub fn first(&self) -> Option<K::Span> {
        self.iter().next()
    }

    /// The highest range.
    ///
    /// Cost: O(log n) for n ranges, worst case and amortized.
    #[must_use]
    pub fn last(&self) -> Option<K::Span> {
        self.iter().next_back()
    }

    /// Adds a range; returns the range of the set that contains it afterwards.
    ///
    /// Cost: O(log n + k) for n ranges of which it absorbs k; amortized O(log n).
    ///
    /// # Errors
    /// `EmptyRange`, `OutOfDomain`, or `OutOfMemory` if there is no memory for another node. Nothing has changed then.
    pub fn insert(&mut self, bounds: impl RangeBounds<K>) -> Result<K::Span, StoreError> {
        let merged = self.ranges.store_merging(to_store(&bounds)?, ()).map_err(|rejected| rejected.cause)?;
        Ok(K::Span::of_words(merged))
    }

    /// Removes a range. Ranges that reach beyond it are cut. Empty bounds remove nothing.
    ///
    /// Cost: O(log n + k) for n ranges of which it removes k; amortized O(log n).
    ///
    /// # Errors
    /// A range is cut, and there is no memory for another node. Nothing has changed then.
    pub fn remove(&mut self, bounds: impl RangeBounds<K>) -> Result<(), OutOfMemory> {
        within(&bounds).map_or(Ok(()), |span| self.ranges.remove_range(span))
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
    pub fn iter(&self) -> Iter<'_, K> {
        self.overlapping(..)
    }

    /// The ranges that overlap the bounds, ascending, each whole.
    ///
    /// Cost: as for [`iter`](Self::iter).
    #[must_use]
    pub fn overlapping(&self, bounds: impl RangeBounds<K>) -> Iter<'_, K> {
        Iter { ranges: self.ranges.range_within(within(&bounds)), keys: PhantomData }
    }

    /// The gaps that overlap the bounds, ascending, each whole.
    ///
    /// Cost: as for [`WordMap::gaps`].
    #[must_use]
    pub fn gaps(&self, bounds: impl RangeBounds<K>) -> Gaps<'_, K> {
        Gaps::of_tree(self.ranges.tree(), within(&bounds))
    }

    /// The gaps that overlap the bounds, ascending, each clipped to the bounds.
    ///
    /// Cost: as for [`WordMap::gaps`].
    #[must_use]
    pub fn gaps_within(&self, bounds: impl RangeBounds<K>) -> GapsWithin<'_, K> {
        GapsWithin::of_tree(self.ranges.tree(), within(&bounds))
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
        Ok(Self::of_ranges(self.ranges.try_clone()?))
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
        for (span, ()) in &self.ranges {
            let apart = before.replace(span).is_none_or(|before| !before.touches(span));
            check(apart, "M13", "two ranges of a set never touch", span.first())?;
        }
        let last = before.map_or(0, Span::last);
        check(last <= K::LAST, "M14", "a word of the tree is the word of a key", last)
    }

    /// The pieces of both sets for which `keeps` is true of whether each set has them.
    fn pieces_where(&self, other: &Self, keeps: fn(bool, bool) -> bool) -> Result<Self, OutOfMemory> {
        let all = pieces(self.ranges.iter(), other.ranges.iter());
        let kept = all.filter(|(_, a, b)| keeps(a.is_some(), b.is_some())).map(|(span, ..)| span);
        joined(kept).map(Self::of_ranges).map_err(SortedError::of_ascending)
    }
}

/// A map of ranges that ascend; those that touch become one.
fn joined(ranges: impl Iterator<Item = Span>) -> Result<WordMap<()>, SortedError> {
    let mut ranges = ranges.peekable();
    WordMap::from_sorted(core::iter::from_fn(|| {
        let mut span: Span = ranges.next()?;
        while let Some(next) = ranges.next_if(|next| span.touches(*next) && span < *next) {
            span = span.hull(next);
        }
        Some((span, ()))
    }))
}

impl<K> Default for RangeSet<K> {
    fn default() -> Self {
        Self::with_keys()
    }
}

/// As [`try_clone`](RangeSet::try_clone), but if memory is exhausted it ends the process, like the standard library's
/// collections.
impl<K: Key> Clone for RangeSet<K> {
    fn clone(&self) -> Self {
        or_abort(self.try_clone())
    }
}

/// Sets are equal if they have the same indexes.
impl<K: Key> PartialEq for RangeSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.ranges == other.ranges
    }
}

impl<K: Key> Eq for RangeSet<K> {}

impl<K: Key> Hash for RangeSet<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ranges.len().hash(state);
        self.ranges.iter().for_each(|range| range.hash(state));
    }
}

impl<K: Key> PartialOrd for RangeSet<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By first and last index, range by range.
impl<K: Key> Ord for RangeSet<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ranges.iter().cmp(other.ranges.iter())
    }
}

impl<K: Key<Span: fmt::Debug>> fmt::Debug for RangeSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<'a, K: Key> IntoIterator for &'a RangeSet<K> {
    type Item = K::Span;
    type IntoIter = Iter<'a, K>;

    fn into_iter(self) -> Iter<'a, K> {
        self.iter()
    }
}

/// Inserts the ranges one after the other. An empty range adds nothing.
///
/// # Panics
/// A range reaches beyond the last key. If memory is exhausted, it ends the process as the standard library's
/// collections do.
impl<R: RangeBounds<K>, K: Key> Extend<R> for RangeSet<K> {
    fn extend<T: IntoIterator<Item = R>>(&mut self, ranges: T) {
        for bounds in ranges {
            match self.insert(bounds) {
                Ok(_) | Err(StoreError::EmptyRange) => {}
                Err(StoreError::OutOfMemory) => or_abort(Err(OutOfMemory)),
                #[expect(clippy::panic, reason = "as documented")]
                Err(error @ StoreError::OutOfDomain) => panic!("{error}"),
            }
        }
    }
}

/// As [`extend`](Extend::extend) on an empty set.
impl<R: RangeBounds<K>, K: Key> FromIterator<R> for RangeSet<K> {
    fn from_iter<T: IntoIterator<Item = R>>(ranges: T) -> Self {
        let mut set = Self::with_keys();
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
