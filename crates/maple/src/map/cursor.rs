//! A position in a map that moves from slot to slot.
//!
//! ```text
//!   0                                                              u64::MAX
//!   |  gap  |   entry   | entry |     gap     |   entry   |     gap      |
//!              ^ a cursor is on one of them, always
//! ```
//!
//! Entries and gaps together cover all indexes. So a cursor is never before the first slot, after the last or between
//! two. At either end it stays where it is, and returns that it did.

use super::WordMap;
use crate::entry::StoredValue;
use crate::error::{InsertError, StoreError, or_reject};
use crate::key::to_store;
use crate::tree::{Direction, SlotPos};
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// A cursor over a shared map.
///
/// ```
/// # use freehold_maple::WordMap;
/// # use freehold_units::Span;
/// let mut map = WordMap::new();
/// map.store(Span::new(10, 19).unwrap(), 1u32)?;
/// let mut cursor = map.cursor(0);
/// assert_eq!(cursor.slot(), (Span::new(0, 9).unwrap(), None));
/// assert_eq!(cursor.next_entry(), Some((Span::new(10, 19).unwrap(), 1)));
/// assert!(cursor.move_next() && cursor.value().is_none());
/// assert!(!cursor.move_next(), "the gap up to the last index is the last slot");
/// assert_eq!(cursor.span().first(), 20);
/// # Ok::<(), freehold_maple::Rejected<u32, freehold_maple::StoreError>>(())
/// ```
#[doc(alias = "ma_state")]
pub struct Cursor<'a, E: StoredValue> {
    map: &'a WordMap<E>,
    place: SlotPos,
}

/// A cursor that can change its map.
///
/// ```
/// # use freehold_maple::WordMap;
/// # use freehold_units::Span;
/// let mut map = WordMap::new();
/// map.store(Span::new(10, 19).unwrap(), 1u32)?;
/// let mut cursor = map.cursor_mut(15);
/// cursor.store(Span::new(12, 14).unwrap(), 2)?;
/// assert_eq!(cursor.slot(), (Span::new(12, 14).unwrap(), Some(2)));
/// assert!(cursor.move_next());
/// assert_eq!(cursor.erase(), Some((Span::new(15, 19).unwrap(), 1)));
/// assert_eq!(cursor.slot(), (Span::new(15, u64::MAX).unwrap(), None), "the gap that it left");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "ma_state")]
pub struct CursorMut<'a, E: StoredValue> {
    map: &'a mut WordMap<E>,
    /// Searched again after each change.
    place: SlotPos,
}

impl<E: StoredValue> WordMap<E> {
    /// A cursor on the entry or the gap that contains an index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "MA_STATE")]
    #[must_use]
    pub fn cursor(&self, index: u64) -> Cursor<'_, E> {
        Cursor { map: self, place: self.tree.pos_of(index) }
    }

    /// A cursor that can change the map, on the entry or the gap that contains an index.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "MA_STATE")]
    #[must_use]
    pub fn cursor_mut(&mut self, index: u64) -> CursorMut<'_, E> {
        let place = self.tree.pos_of(index);
        CursorMut { map: self, place }
    }
}

impl<E: StoredValue> Clone for Cursor<'_, E> {
    fn clone(&self) -> Self {
        Self { map: self.map, place: self.place.clone() }
    }
}

/// The methods of both kinds of cursor. The lifetime is that of the returned values.
macro_rules! moves {
    ($life:lifetime) => {
        /// The whole range of the entry or the gap at the cursor.
        ///
        /// Cost: constant.
        #[must_use]
        pub fn span(&self) -> Span {
            self.place.slot.span
        }

        /// The value of the entry at the cursor; `None` on a gap.
        ///
        /// Cost: constant.
        #[must_use]
        pub fn value(&self) -> Option<E::Ref<$life>> {
            self.place.slot.entry.map(|word| self.map.borrow(word))
        }

        /// The range and the value.
        ///
        /// Cost: constant.
        #[must_use]
        pub fn slot(&self) -> (Span, Option<E::Ref<$life>>) {
            (self.span(), self.value())
        }

        /// Moves to the entry or the gap that contains an index.
        ///
        /// Cost: O(log n) for n entries, worst case and amortized.
        #[doc(alias = "mas_walk")]
        pub fn seek(&mut self, index: u64) {
            self.place = self.map.tree.pos_of(index);
        }

        /// Moves to the next entry or gap. Returns `false`, and stays, if there is none.
        ///
        /// Cost: O(1) within a leaf, O(log n) for n entries from one leaf to the next.
        #[doc(alias = "mas_next_range")]
        pub fn move_next(&mut self) -> bool {
            self.map.tree.step(&mut self.place, Direction::Up)
        }

        /// Moves to the previous entry or gap. Returns `false`, and stays, if there is none.
        ///
        /// Cost: O(1) within a leaf, O(log n) for n entries from one leaf to the next.
        #[doc(alias = "mas_prev_range")]
        pub fn move_prev(&mut self) -> bool {
            self.map.tree.step(&mut self.place, Direction::Down)
        }

        /// Moves to the next entry, past a gap if there is one. Returns `None`, and stays, if there is no entry.
        ///
        /// Cost: O(1) within a leaf, O(log n) for n entries from one leaf to the next.
        #[doc(alias = "mas_next")]
        pub fn next_entry(&mut self) -> Option<(Span, E::Ref<$life>)> {
            self.map.tree.step_to_entry(&mut self.place, Direction::Up).then(|| self.on_entry())
        }

        /// Moves to the previous entry, past a gap if there is one. Returns `None`, and stays, if there is no entry.
        ///
        /// Cost: O(1) within a leaf, O(log n) for n entries from one leaf to the next.
        #[doc(alias = "mas_prev")]
        pub fn prev_entry(&mut self) -> Option<(Span, E::Ref<$life>)> {
            self.map.tree.step_to_entry(&mut self.place, Direction::Down).then(|| self.on_entry())
        }

        /// The entry at the cursor.
        fn on_entry(&self) -> (Span, E::Ref<$life>) {
            (self.span(), self.value().expect("M5: a step to an entry ends on one"))
        }

        /// The slot that [`move_next`](Self::move_next) would move to.
        ///
        /// Cost: O(1) within a leaf, O(log n) for n entries from one leaf to the next.
        #[must_use]
        pub fn peek_next(&self) -> Option<(Span, Option<E::Ref<$life>>)> {
            self.span().last().checked_add(1).map(|index| self.map.slot_at(index))
        }

        /// The slot that [`move_prev`](Self::move_prev) would move to.
        ///
        /// Cost: O(1) within a leaf, O(log n) for n entries from one leaf to the next.
        #[must_use]
        pub fn peek_prev(&self) -> Option<(Span, Option<E::Ref<$life>>)> {
            self.span().first().checked_sub(1).map(|index| self.map.slot_at(index))
        }
    };
}

impl<'a, E: StoredValue> Cursor<'a, E> {
    moves!('a);
}

/// Moves a cursor at the end of a store, even if a replaced value's drop unwinds: the cursor's old place names the word
/// of that value, and nodes that may be gone (M7).
struct SeekAtEnd<'c, 'm, E: StoredValue> {
    cursor: &'c mut CursorMut<'m, E>,
    index: u64,
}

impl<E: StoredValue> Drop for SeekAtEnd<'_, '_, E> {
    fn drop(&mut self) {
        self.cursor.seek(self.index);
    }
}

impl<E: StoredValue> CursorMut<'_, E> {
    moves!('_);

    /// The cursor's map.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn map(&self) -> &WordMap<E> {
        self.map
    }

    /// Stores a value over a range, whatever is there, and moves to the new entry. The range may be anywhere. If it
    /// begins in the cursor's slot, no search is needed.
    ///
    /// Cost: as for [`WordMap::store`].
    ///
    /// # Errors
    /// `EmptyRange`, or `OutOfMemory` if there is no memory for another node. Nothing has changed then, the cursor has
    /// not moved, and the error returns the value.
    #[doc(alias = "mas_store_gfp")]
    pub fn store(&mut self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, StoreError>> {
        let span = or_reject!(to_store(&bounds), value);
        let old = self.span();
        let mut seek = SeekAtEnd { cursor: self, index: span.first() };
        let cursor = &mut *seek.cursor;
        let stored = if old.contains(span.first()) {
            let mut plan = cursor.map.tree.plan_at(&cursor.place.path, span, true);
            cursor.map.store_at(&mut plan, value)
        } else {
            cursor.map.store_over(span, value)
        };
        if stored.is_err() {
            seek.index = old.first();
        }
        stored
    }

    /// Stores a value over a free range, and moves to the new entry.
    ///
    /// Cost: as for [`WordMap::insert`].
    ///
    /// # Errors
    /// `EmptyRange`, `Occupied` if the range overlaps an entry, or `OutOfMemory` if there is no memory for another node.
    /// Nothing has changed then, the cursor has not moved, and the error returns the value.
    pub fn insert(
        &mut self,
        bounds: impl RangeBounds<u64>,
        value: E,
    ) -> Result<(), Rejected<E, InsertError>> {
        let span = or_reject!(to_store(&bounds), value);
        self.map.insert(span, value)?;
        self.seek(span.first());
        Ok(())
    }

    /// Removes the whole entry at the cursor, which is then on the gap that results. Returns `None` on a gap. Never
    /// takes memory.
    ///
    /// Cost: O(log n) for n entries, worst case and amortized.
    #[doc(alias = "mas_erase")]
    pub fn erase(&mut self) -> Option<(Span, E)> {
        self.place.slot.entry?;
        let span = self.span();
        // Bits may panic as they are read back.
        let seek = SeekAtEnd { cursor: self, index: span.first() };
        Some((span, seek.cursor.map.erase_at(&seek.cursor.place.path, span)))
    }
}
