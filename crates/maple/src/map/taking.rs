//! `take_range`, `replace_range` and `store_with`: operations that use the old entries of a range.

use super::WordMap;
use crate::OutOfMemory;
use crate::drop_all::drop_all;
use crate::entry::StoredValue;
use crate::error::{StoreError, or_reject};
use crate::iterators::mapped;
use crate::key::{Key, Keys, to_store, with_keys};
use crate::tree::StorePlan;
use alloc::vec::{self, Vec};
use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// The entries that an operation removed from a range: each entry's part within the range, with its value. In ascending
/// order, or from the back in descending order. Dropping it drops the remaining values.
#[derive(Clone)]
pub struct Removed<T, K = u64> {
    entries: vec::IntoIter<(Span, T)>,
    keys: Keys<K>,
}

impl<T, K> Removed<T, K> {
    pub(crate) fn new(entries: Vec<(Span, T)>) -> Self {
        Self { entries: entries.into_iter(), keys: PhantomData }
    }
}

mapped! { [T, K: Key] Removed<T, K>: (K::Span, T) = self.entries.map(with_keys::<K, T>), size_hint }

impl<T, K: Key> ExactSizeIterator for Removed<T, K> {}

impl<T: fmt::Debug, K: Key<Span: fmt::Debug>> fmt::Debug for Removed<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.as_slice().iter().map(|(span, value)| with_keys::<K, _>((*span, value)));
        f.debug_list().entries(entries).finish()
    }
}

/// The part of an entry that lies in a range that it overlaps.
pub(crate) fn overlap(part: Span, span: Span) -> Span {
    part.intersection(span).expect("M1: the entries of a range overlap it")
}

/// Sets the values of the parts that stay of cut entries when it is dropped: also if the store before has panicked as
/// it dropped a value.
struct PartsAtEnd<'m, E: StoredValue> {
    map: &'m mut WordMap<E>,
    parts: [Option<(Span, E)>; 2],
}

impl<E: StoredValue> Drop for PartsAtEnd<'_, E> {
    fn drop(&mut self) {
        let Self { map, parts } = self;
        let replaced = parts.iter_mut().filter_map(Option::take).filter_map(|(part, value)| {
            // A store that panicked in a split has cut nothing.
            if map.tree.slot_of(part.first()).span != part {
                return None;
            }
            // The same slot with another value: this takes no node.
            let mut plan = StorePlan::new(part);
            map.tree.plan(&mut plan, true);
            Some(map.commit_one(&mut plan, Some(value)))
        });
        drop_all(replaced);
    }
}

impl<E: StoredValue> WordMap<E> {
    /// Removes everything in a range, and returns it: each entry's part within the range. An entry that reaches beyond
    /// the range is cut: the part outside stays, and its value is split.
    ///
    /// Cost: as for [`remove_range`](Self::remove_range), and memory for what is returned.
    ///
    /// ```
    /// # use freehold_maple::WordMap;
    /// # use freehold_units::Span;
    /// let mut map = WordMap::new();
    /// map.store(Span::new(0, 9).unwrap(), 1u32)?;
    /// map.store(Span::new(20, 29).unwrap(), 2)?;
    /// let removed: Vec<_> = map.take_range(5..25)?.collect();
    /// assert_eq!(removed, [(Span::new(5, 9).unwrap(), 1), (Span::new(20, 24).unwrap(), 2)]);
    /// assert_eq!(map.iter().map(|(span, _)| span.first()).collect::<Vec<_>>(), [0, 25]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for the result, or for another node if an entry is cut. Nothing has changed then.
    pub fn take_range(&mut self, bounds: impl RangeBounds<u64>) -> Result<Removed<E>, OutOfMemory> {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(Removed::new(Vec::new())) };
        let taken = self.room_for_entries(span)?;
        let mut plan = StorePlan::new(span);
        self.tree.plan_and_reserve(&mut plan, false)?;
        Ok(self.commit_taking(&mut plan, span, None, taken))
    }

    /// Stores a value over a range, and computes new values for the remaining parts of cut entries. `cut` gets the
    /// entry's whole range, the part that stays, and the old value, and returns the value of that part. It is called
    /// for each part that stays, at most two, before anything changes.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k; amortized O(log n), as an entry is removed once.
    ///
    /// ```
    /// # use freehold_maple::WordMap;
    /// # use freehold_units::Span;
    /// let mut disk = WordMap::new();
    /// disk.store(Span::new(0, 99).unwrap(), 5000u64)?;
    /// disk.store_with(Span::new(40, 49).unwrap(), 9000, |whole, kept, old| old + kept.first() - whole.first())?;
    /// assert_eq!([disk.get(39), disk.get(45), disk.get(50)], [Some(5000), Some(9000), Some(5050)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`store`](Self::store).
    pub fn store_with(
        &mut self,
        bounds: impl RangeBounds<u64>,
        value: E,
        mut cut: impl for<'a> FnMut(Span, Span, E::Ref<'a>) -> E,
    ) -> Result<(), Rejected<E, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        or_reject!(self.tree.plan_and_reserve(&mut plan, true), value);
        let mut end = |index: u64, part: fn(Span, Span) -> Option<Span>| {
            let (whole, old) = self.entry_at(index)?;
            let kept = part(whole, overlap(whole, span))?;
            Some((kept, cut(whole, kept, old)))
        };
        let ends = [end(span.first(), Span::below), end(span.last(), Span::above)];
        let parts = PartsAtEnd { map: self, parts: ends };
        parts.map.commit(&mut plan, Some(value));
        Ok(())
    }

    /// Stores a value over a range, and returns the old entries: each entry's part within the range.
    ///
    /// Cost: as for [`store`](Self::store), and memory for what is returned.
    ///
    /// ```
    /// # use freehold_maple::WordMap;
    /// # use freehold_units::Span;
    /// let mut map: WordMap<u32> = [(Span::new(0, 9).unwrap(), 1)].into_iter().collect();
    /// let old: Vec<_> = map.replace_range(Span::new(8, 11).unwrap(), 2)?.collect();
    /// assert_eq!(old, [(Span::new(8, 9).unwrap(), 1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `EmptyRange`, or as for [`take_range`](Self::take_range). The error returns the value.
    pub fn replace_range(
        &mut self,
        bounds: impl RangeBounds<u64>,
        value: E,
    ) -> Result<Removed<E>, Rejected<E, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let mut plan = StorePlan::new(span);
        let taken = or_reject!(self.room_for_entries(span), value);
        or_reject!(self.tree.plan_and_reserve(&mut plan, true), value);
        Ok(self.commit_taking(&mut plan, span, Some(value), taken))
    }

    /// An empty list with capacity for the entries of a range.
    pub(crate) fn room_for_entries<T>(&self, span: Span) -> Result<Vec<(Span, T)>, OutOfMemory> {
        let mut room = Vec::new();
        room.try_reserve_exact(self.range(span).count())?;
        Ok(room)
    }
}
