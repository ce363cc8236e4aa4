//! Storing and erasing.

use super::{RangeMap, words};
use crate::OutOfMemory;
use crate::entry::{Entry, Word};
use crate::error::{InsertError, Rejected};
use crate::node::Shape;
use crate::tree::{Path, Spot, Subtrees, Words};
use freehold_units::{Probe, Span};

impl<E: Entry, S: Shape> RangeMap<E, S> {
    /// Stores a value over a range, whatever is there. What reaches beyond the range is cut, not removed.
    ///
    /// # Errors
    /// There is no memory for another node; nothing has changed then, and the value comes back.
    #[doc(alias = "mtree_store_range")]
    #[inline]
    pub fn store(&mut self, span: Span, value: E) -> Result<(), Rejected<E, OutOfMemory>> {
        self.store_probed(span, value, &mut ())
    }

    /// [`store`](Self::store), its work counted.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn store_probed(
        &mut self,
        span: Span,
        value: E,
        probe: &mut impl Probe,
    ) -> Result<(), Rejected<E, OutOfMemory>> {
        let mut spot = Spot::new(span);
        self.tree.look(&mut spot, true, probe);
        self.store_at(&mut spot, value)
    }

    /// Does a store that was looked at.
    #[inline]
    pub(super) fn store_at(&mut self, spot: &mut Spot, value: E) -> Result<(), Rejected<E, OutOfMemory>> {
        match self.tree.provide(spot) {
            Ok(()) => {
                self.carry_out(spot, Some(value.into_word()));
                Ok(())
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    /// Stores a value over a range that is free.
    ///
    /// # Errors
    /// The range overlaps an entry, or there is no memory for another node; nothing has changed then, and the value
    /// comes back.
    #[doc(alias = "mtree_insert_range")]
    #[inline]
    pub fn insert(&mut self, span: Span, value: E) -> Result<(), Rejected<E, InsertError>> {
        let mut spot = Spot::new(span);
        match self.prepare_insert(&mut spot) {
            Ok(()) => {
                self.carry_out(&mut spot, Some(value.into_word()));
                Ok(())
            }
            Err(cause) => Err(Rejected { value, cause }),
        }
    }

    #[inline]
    fn prepare_insert(&mut self, spot: &mut Spot) -> Result<(), InsertError> {
        self.tree.look(spot, true, &mut ());
        if !spot.is_free() {
            return Err(InsertError::Occupied(self.tree.first_entry(spot)));
        }
        Ok(self.tree.provide(spot)?)
    }

    /// Removes the whole entry that an index is in. Never takes memory.
    #[doc(alias = "mtree_erase")]
    #[doc(alias = "mas_erase")]
    #[inline]
    pub fn erase(&mut self, index: u64) -> Option<(Span, E)> {
        if self.tree.height() == 0 {
            return None;
        }
        let mut path = Path::new();
        self.tree.walk(index, &mut path, &mut ());
        let slot = self.tree.slot(&path);
        let word = slot.entry?;
        self.erase_at(&path, slot.span);
        Some((slot.span, words::take(word)))
    }

    /// Takes the entry of the path's slot out, whole; its word is the caller's. `span` are its indexes.
    #[inline]
    pub(super) fn erase_at(&mut self, path: &Path, span: Span) {
        self.end_leaked();
        if !self.tree.vacate(path) {
            let mut spot = self.tree.look_at(path, span, false);
            self.swap(&mut spot, None);
        }
    }

    /// Does a store that takes one entry out, whole; its word is the caller's.
    #[inline]
    pub(super) fn swap(&mut self, spot: &mut Spot, entry: Option<Word>) {
        self.end_leaked();
        if spot.spans() {
            self.swap_spanning(spot, entry);
        } else {
            self.tree.carry_out(spot, entry, words::split::<E>, &mut Words::new());
        }
    }

    #[inline(never)]
    fn swap_spanning(&mut self, spot: &mut Spot, entry: Option<Word>) {
        let (mut removed, mut subtrees) = (Words::new(), Subtrees::new());
        self.tree.carry_out_spanning(spot, entry, &mut removed, &mut subtrees);
        // All is asked for, so that every node is given back.
        while self.tree.next_removed(&mut removed, &mut subtrees).is_some() {}
    }

    /// Removes everything in a range. What reaches beyond it is cut, not removed.
    ///
    /// # Errors
    /// An entry is cut, so that what is left of it and the gap take more than its node has room for, and there is no memory
    /// for another; nothing has changed then.
    pub fn remove_range(&mut self, span: Span) -> Result<(), OutOfMemory> {
        let mut spot = Spot::new(span);
        self.tree.look(&mut spot, false, &mut ());
        self.tree.provide(&spot)?;
        self.carry_out(&mut spot, None);
        Ok(())
    }

    /// Does a store that was looked at and whose nodes are there.
    #[inline]
    pub(crate) fn carry_out(&mut self, spot: &mut Spot, entry: Option<Word>) {
        self.end_leaked();
        if spot.spans() {
            self.carry_out_spanning(spot, entry);
            return;
        }
        let mut removed = Words::new();
        self.tree.carry_out(spot, entry, words::split::<E>, &mut removed);
        if core::mem::needs_drop::<E>() && !removed.is_empty() {
            words::drop_values::<E>(core::iter::from_fn(|| removed.pop()));
        }
    }

    #[inline(never)]
    fn carry_out_spanning(&mut self, spot: &mut Spot, entry: Option<Word>) {
        let (mut removed, mut subtrees) = (Words::new(), Subtrees::new());
        self.tree.carry_out_spanning(spot, entry, &mut removed, &mut subtrees);
        self.bury(&mut removed, &mut subtrees);
    }
}
