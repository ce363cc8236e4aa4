//! Look-ups: what cursors and the calls without a cursor read.

use super::Item;
use freehold_maple::{NonNullValue, WordMap};
use freehold_units::Span;

/// A tree as it is read: one with a single owner, or a shared one under a reader's guard.
///
/// An implementation has the first two methods; the kernel's calls follow from them.
pub trait Ranges {
    /// The entry that a look-up returns: the value itself if it is small, otherwise a reference to it.
    type Value<'t>
    where
        Self: 't;

    /// The range that contains an index, an entry's or a gap, with its item.
    fn slot_at(&self, index: u64) -> (Span, Item<Self::Value<'_>>);

    /// The entries and zero entries that overlap `first..=last`, ascending; none if `first > last`.
    fn entries(
        &self,
        first: u64,
        last: u64,
    ) -> impl DoubleEndedIterator<Item = (Span, Item<Self::Value<'_>>)>;

    /// The entry at an index.
    #[doc(alias = "mtree_load")]
    fn load(&self, index: u64) -> Option<Self::Value<'_>> {
        self.slot_at(index).1.entry()
    }

    /// The first entry that ends at `*index` or above and starts at `max` or below. Sets `*index` to one above its last
    /// index, or to 0 after `u64::MAX`. Without such an entry `*index` does not change.
    #[doc(alias = "mt_find")]
    fn find(&self, index: &mut u64, max: u64) -> Option<Self::Value<'_>> {
        let found = self.entries(*index, max).find_map(|(span, item)| Some((span, item.entry()?)));
        let (span, entry) = found?;
        *index = span.last().wrapping_add(1);
        Some(entry)
    }

    /// Continues a [`find`](Self::find). An index of 0 means that the search has reached `u64::MAX`.
    #[doc(alias = "mt_find_after")]
    #[doc(alias = "mt_for_each")]
    fn find_after(&self, index: &mut u64, max: u64) -> Option<Self::Value<'_>> {
        if *index == 0 { None } else { self.find(index, max) }
    }

    /// The next entry or zero entry above the range that contains an index, if it starts at `max` or below.
    #[doc(alias = "mt_next")]
    fn next(&self, index: u64, max: u64) -> Item<Self::Value<'_>> {
        let above = self.slot_at(index).0.last().checked_add(1);
        let found = above.and_then(|above| self.entries(above, max).next());
        found.map_or(Item::Null, |(_, item)| item)
    }

    /// The next entry or zero entry below the range that contains an index, if it ends at `min` or above.
    #[doc(alias = "mt_prev")]
    fn prev(&self, index: u64, min: u64) -> Item<Self::Value<'_>> {
        let below = self.slot_at(index).0.first().checked_sub(1);
        let found = below.and_then(|below| self.entries(min, below).next_back());
        found.map_or(Item::Null, |(_, item)| item)
    }
}

impl<E: NonNullValue> Ranges for WordMap<Option<E>> {
    type Value<'t>
        = E::Ref<'t>
    where
        Self: 't;

    fn slot_at(&self, index: u64) -> (Span, Item<E::Ref<'_>>) {
        let (span, slot) = self.slot_at(index);
        (span, Item::from_slot(slot))
    }

    fn entries(&self, first: u64, last: u64) -> impl DoubleEndedIterator<Item = (Span, Item<E::Ref<'_>>)> {
        self.range(first..=last).map(|(span, value)| (span, value.into()))
    }

    /// Without the range: a shorter way down.
    fn load(&self, index: u64) -> Option<E::Ref<'_>> {
        self.get(index).flatten()
    }
}
