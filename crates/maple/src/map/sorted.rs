//! Builds a map from sorted entries, and adds several entries.

use super::WordMap;
use super::duplicate::or_abort;
use super::words::NewWord;
use crate::OutOfMemory;
use crate::entry::StoredValue;
use crate::error::SortedError;
use crate::key::Key;
use crate::node::{NodeLimits, Nodes};
use crate::tree::Builder;
use core::marker::PhantomData;
use freehold_units::{Rejected, Span};

/// A builder whose words are values of `E`. Dropping it drops them.
pub(crate) struct Filling<E: StoredValue> {
    builder: Builder,
    /// Entries so far. `before` is the range of the last one.
    count: u64,
    before: Option<Span>,
    entries: PhantomData<E>,
}

/// Builds a map from entries that come one by one, in ascending order.
pub(crate) trait FromSorted {
    /// The map's keys.
    type Key: Key;
    /// The entries' values.
    type Value;
    /// The map that it builds.
    type Map;

    /// Appends an entry.
    fn push(&mut self, span: Span, value: Self::Value) -> Result<(), SortedError>;

    /// Whether a range begins after the end of the last entry.
    fn is_behind(&self, span: Span) -> bool;

    /// The map of all entries.
    fn finish(self) -> Result<Self::Map, SortedError>;

    /// Appends entries up to the first that is not in order, which it returns. `span_of` gets an entry's bounds, and
    /// returns nothing for those that cannot be stored. If memory is exhausted, it ends the process.
    #[inline]
    fn fill<R>(
        &mut self,
        entries: &mut impl Iterator<Item = (R, Self::Value)>,
        span_of: impl Fn(&R) -> Option<Span>,
    ) -> Option<(R, Self::Value)> {
        for (bounds, value) in entries {
            let Some(span) = span_of(&bounds).filter(|&span| self.is_behind(span)) else {
                return Some((bounds, value));
            };
            or_abort(self.push(span, value).map_err(|_| OutOfMemory));
        }
        None
    }

    /// The map of all entries. If memory is exhausted, it ends the process.
    fn finish_or_abort(self) -> Self::Map
    where
        Self: Sized,
    {
        or_abort(self.finish().map_err(|_| OutOfMemory))
    }
}

impl<E: StoredValue> Filling<E> {
    pub(crate) fn new(limits: NodeLimits) -> Self {
        Self { builder: Builder::new(limits), count: 0, before: None, entries: PhantomData }
    }
}

impl<E: StoredValue> FromSorted for Filling<E> {
    type Key = u64;
    type Value = E;
    type Map = WordMap<E>;

    fn push(&mut self, span: Span, value: E) -> Result<(), SortedError> {
        if let Some(before) = self.before.filter(|_| !self.is_behind(span)) {
            return Err(SortedError::NotSorted { position: self.count, span, before });
        }
        let word = NewWord::new(value);
        self.builder.push(span, word.word())?;
        word.stored();
        self.before = Some(span);
        self.count += 1;
        Ok(())
    }

    #[inline]
    fn is_behind(&self, span: Span) -> bool {
        self.before.is_none_or(|before| before.last() < span.first())
    }

    fn finish(mut self) -> Result<WordMap<E>, SortedError> {
        self.builder.end()?;
        Ok(WordMap::of_tree(self.builder.take_tree()))
    }
}

impl<E: StoredValue> Drop for Filling<E> {
    fn drop(&mut self) {
        drop(WordMap::<E>::of_tree(self.builder.take_tree()));
    }
}

impl<E: StoredValue> WordMap<E> {
    /// Builds a map from entries that are in ascending order and do not overlap; they may touch.
    ///
    /// Cost: O(n) for n entries. Nodes are filled one after the other and are full except for the last ones. So a leaf
    /// of 256 bytes takes 16 entries that touch, or eight with gaps between them.
    ///
    /// ```
    /// use freehold_maple::{WordMap, SortedError};
    /// use freehold_units::Span;
    ///
    /// let pages = |at: u64| Span::from_size(at * 4096, 4096).unwrap();
    /// let map = WordMap::from_sorted((0..16).map(|at| (pages(at), at)))?;
    /// assert_eq!((map.len(), map.get(4096 * 7)), (16, Some(7)));
    ///
    /// let twice = WordMap::from_sorted([(pages(3), 1u64), (pages(4), 2), (pages(4), 3)]);
    /// let error = SortedError::NotSorted { position: 2, span: pages(4), before: pages(4) };
    /// assert_eq!(twice.unwrap_err(), error);
    /// # Ok::<(), SortedError>(())
    /// ```
    ///
    /// # Errors
    /// `NotSorted` names the first entry that does not begin after the end of the one before it. `OutOfMemory` if there
    /// is not enough memory. The values so far are dropped.
    pub fn from_sorted(entries: impl IntoIterator<Item = (Span, E)>) -> Result<Self, SortedError> {
        Self::from_sorted_with_nodes(Nodes::Full, entries)
    }
}

impl<E: StoredValue> WordMap<E> {
    /// As [`from_sorted`](Self::from_sorted), but uses only a part of the nodes' slots, as `nodes` says. For tests.
    #[doc(hidden)]
    pub fn from_sorted_with_nodes(
        nodes: Nodes,
        entries: impl IntoIterator<Item = (Span, E)>,
    ) -> Result<Self, SortedError> {
        let mut filling = Filling::new(NodeLimits::of(nodes));
        for (span, value) in entries {
            filling.push(span, value)?;
        }
        filling.finish()
    }

    /// Stores entries one after the other, each over whatever is there.
    ///
    /// Cost: that of [`store`](Self::store) for each entry.
    ///
    /// # Errors
    /// There is no memory for another node. The error returns the entry that needed it. The entries before it stay
    /// stored, and those after it are not read.
    pub fn try_extend(
        &mut self,
        entries: impl IntoIterator<Item = (Span, E)>,
    ) -> Result<(), Rejected<(Span, E), OutOfMemory>> {
        for (span, value) in entries {
            self.store_over(span, value)
                .map_err(|Rejected { value, cause }| Rejected { value: (span, value), cause })?;
        }
        Ok(())
    }
}

/// Stores the entries one after the other: a later one cuts and replaces earlier ones. If memory is exhausted, it ends
/// the process as the standard library's collections do.
impl<E: StoredValue> Extend<(Span, E)> for WordMap<E> {
    fn extend<T: IntoIterator<Item = (Span, E)>>(&mut self, entries: T) {
        or_abort(self.try_extend(entries).map_err(|rejected| rejected.cause));
    }
}

/// As [`extend`](Extend::extend) on an empty map. Entries in ascending order, up to the first that is not, are put in as
/// by [`from_sorted`](WordMap::from_sorted).
impl<E: StoredValue> FromIterator<(Span, E)> for WordMap<E> {
    fn from_iter<T: IntoIterator<Item = (Span, E)>>(entries: T) -> Self {
        let (mut entries, mut filling) = (entries.into_iter(), Filling::new(NodeLimits::FULL));
        let unsorted = filling.fill(&mut entries, |&span| Some(span));
        let mut map = filling.finish_or_abort();
        map.extend(unsorted.into_iter().chain(entries));
        map
    }
}
