//! Iteration over entries and over gaps, in both directions.

use super::WordMap;
use crate::entry::StoredValue;
use crate::iterators::{listed, mapped};
use crate::key::{Key, Keys, SpanOf, in_domain};
use crate::tree::{Slots, Tree};
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::RangeBounds;
use freehold_units::Span;

/// Entries in ascending order of their indexes, or from the back in descending order.
pub struct Iter<'a, E: StoredValue> {
    map: &'a WordMap<E>,
    slots: Slots<'a, &'a Tree, true>,
}

impl<'a, E: StoredValue> Iterator for Iter<'a, E> {
    type Item = (Span, E::Ref<'a>);

    #[inline(always)] // as a `RangeMap`'s, which says what it gains
    fn next(&mut self) -> Option<Self::Item> {
        let (span, word) = self.slots.next()?;
        Some((span, self.map.borrow(word)))
    }
}

impl<E: StoredValue> DoubleEndedIterator for Iter<'_, E> {
    #[inline(always)] // 54 instructions an entry in a loop, 125 without
    fn next_back(&mut self) -> Option<Self::Item> {
        let (span, word) = self.slots.next_back()?;
        Some((span, self.map.borrow(word)))
    }
}

impl<E: StoredValue> FusedIterator for Iter<'_, E> {}

impl<E: StoredValue> Clone for Iter<'_, E> {
    fn clone(&self) -> Self {
        Self { map: self.map, slots: self.slots.clone() }
    }
}

/// Gaps in ascending order, or from the back in descending order. Each is whole, even where it reaches beyond the
/// range.
#[derive(Clone)]
pub struct Gaps<'a, K = u64> {
    slots: Slots<'a, &'a Tree, false>,
    keys: Keys<K>,
}

impl<'a, K: Key> Gaps<'a, K> {
    /// The gaps that overlap a range within the domain.
    pub(crate) fn of_tree(tree: &'a Tree, bounds: Option<Span>) -> Self {
        Self { slots: Slots::new(tree, bounds), keys: PhantomData }
    }

    /// The keys of a gap. The last gap of the tree may reach beyond the domain.
    fn keys(gap: Span) -> Option<K::Span> {
        in_domain::<K>(gap).map(K::Span::of_words)
    }
}

mapped! { [K: Key] Gaps<'_, K>: K::Span = self.slots.and_then(|(span, _)| Self::keys(span)) }

/// Gaps in ascending order, or from the back in descending order. Each is clipped to the bounds.
#[derive(Clone)]
pub struct GapsWithin<'a, K = u64> {
    slots: Slots<'a, &'a Tree, false>,
    /// Without it there are no gaps.
    bounds: Option<Span>,
    keys: Keys<K>,
}

impl<'a, K: Key> GapsWithin<'a, K> {
    /// The gaps that overlap a range within the domain.
    pub(crate) fn of_tree(tree: &'a Tree, bounds: Option<Span>) -> Self {
        Self { slots: Slots::new(tree, bounds), bounds, keys: PhantomData }
    }

    fn clip(&self, gap: Span) -> Option<K::Span> {
        gap.intersection(self.bounds?).map(K::Span::of_words)
    }
}

mapped! { [K: Key] GapsWithin<'_, K>: K::Span = self.slots.and_then(|(gap, _)| self.clip(gap)) }

listed! {
    ['a, E: StoredValue] Iter<'a, E> where [E::Ref<'a>: fmt::Debug];
    [K: Key<Span: fmt::Debug>] Gaps<'_, K>;
    [K: Key<Span: fmt::Debug>] GapsWithin<'_, K>;
}

impl<E: StoredValue> WordMap<E> {
    /// All entries, ascending.
    ///
    /// Cost: O(log n) for n entries to begin. An entry costs O(1), or O(log n) if the next leaf has another parent: at
    /// most one in eight. The same from the back.
    #[doc(alias = "mas_for_each")]
    #[inline] // so that the iterator stays in registers: otherwise every step goes through memory
    #[must_use]
    pub fn iter(&self) -> Iter<'_, E> {
        self.range(..)
    }

    /// The entries that overlap the bounds, ascending. The first and the last may reach beyond the bounds. Empty or
    /// reversed bounds have no entries.
    ///
    /// Cost: O(log n) for n entries to begin. An entry costs O(1), or O(log n) if the next leaf has another parent: at
    /// most one in eight. The same from the back.
    #[inline]
    #[must_use]
    pub fn range(&self, bounds: impl RangeBounds<u64>) -> Iter<'_, E> {
        self.range_within(Span::from_bounds(&bounds))
    }

    /// The entries that overlap a range; none without one.
    #[inline]
    pub(crate) fn range_within(&self, span: Option<Span>) -> Iter<'_, E> {
        Iter { map: self, slots: Slots::new(&self.tree, span) }
    }

    /// The gaps that overlap the bounds, ascending. Each is returned whole.
    ///
    /// Cost: O(log n) for n entries to begin. The next gap may be behind many leaves without one: O(n) for one gap and
    /// for all of them together. To find a gap of some size, use [`lowest_gap`](Self::lowest_gap).
    #[must_use]
    pub fn gaps(&self, bounds: impl RangeBounds<u64>) -> Gaps<'_> {
        Gaps::of_tree(&self.tree, Span::from_bounds(&bounds))
    }

    /// As [`gaps`](Self::gaps), each clipped to the bounds.
    ///
    /// Cost: as for [`gaps`](Self::gaps).
    #[must_use]
    pub fn gaps_within(&self, bounds: impl RangeBounds<u64>) -> GapsWithin<'_> {
        GapsWithin::of_tree(&self.tree, Span::from_bounds(&bounds))
    }

    /// Whether no entry overlaps the bounds.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[must_use]
    pub fn is_free(&self, bounds: impl RangeBounds<u64>) -> bool {
        self.range(bounds).next().is_none()
    }

    /// The entry with the lowest indexes.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[must_use]
    pub fn first(&self) -> Option<(Span, E::Ref<'_>)> {
        self.iter().next()
    }

    /// The entry with the highest indexes.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[must_use]
    pub fn last(&self) -> Option<(Span, E::Ref<'_>)> {
        self.iter().next_back()
    }
}

impl<E: StoredValue> WordMap<E> {
    /// The last entry that begins before an index. It may contain the index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[must_use]
    pub fn last_before(&self, index: u64) -> Option<(Span, E::Ref<'_>)> {
        let mut slot = self.tree.slot_of(index.checked_sub(1)?);
        if slot.entry.is_none() {
            // Below a gap there is an entry, or nothing.
            slot = self.tree.slot_of(slot.span.first().checked_sub(1)?);
        }
        slot.entry.map(|word| (slot.span, self.borrow(word)))
    }
}

impl<'a, E: StoredValue> IntoIterator for &'a WordMap<E> {
    type Item = (Span, E::Ref<'a>);
    type IntoIter = Iter<'a, E>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
