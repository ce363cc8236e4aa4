//! Storing: under the lock, one writer at a time.

use super::atomic::Ordering;
use super::words::Reclaimed;
use super::writer::Writer;
use super::{MapleTree, WriterGuard};
use crate::drop_all::drop_all;
use crate::entry::{StoredValue, Word};
use crate::error::{WriteError, or_reject};
use crate::map::NewWord;
use crate::tree::{Publish, StorePlan, Subtrees, Words};
use core::mem;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};
use std::sync::PoisonError;

impl<E: StoredValue> MapleTree<E> {
    /// Stores a value over a range, whatever is there. An entry that reaches beyond the range is cut, not removed.
    ///
    /// Cost: waits for the running store and for transactions of other threads. O(log n + k) for n entries of which it
    /// removes k, and the nodes and values that earlier stores retired, up to [`BACKLOG_LIMIT`](Self::BACKLOG_LIMIT); amortized O(log
    /// n).
    ///
    /// # Errors
    /// `EmptyRange`; `OutOfMemory`; `Readers` if readers hold back too much; `NoGracePeriod` if the system refuses
    /// barriers; `InTransaction` if this thread has a transaction of the map open. Nothing has changed then, and the
    /// error returns the value.
    #[doc(alias = "mtree_store_range")]
    pub fn store(&self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(&bounds, value, false, Self::begin).map(drop)
    }

    /// Stores a value over a free range.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// `Occupied` if the range overlaps an entry, or as for [`store`](Self::store).
    #[doc(alias = "mtree_insert_range")]
    pub fn insert(&self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(&bounds, value, true, Self::begin).map(drop)
    }

    /// As [`insert`](Self::insert), for a caller that holds a lock of its own, which the drop of a value may want: no
    /// value is dropped. Call [`drop_leftovers`](Self::drop_leftovers) before that lock is taken.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    pub fn insert_under_lock(
        &self,
        bounds: impl RangeBounds<u64>,
        value: E,
    ) -> Result<(), Rejected<E, WriteError>> {
        self.put(&bounds, value, true, Self::lock_alone).map(drop)
    }

    /// `lock` takes the lock for the change.
    #[inline]
    fn put<'a>(
        &'a self,
        bounds: &impl RangeBounds<u64>,
        value: E,
        is_insert: bool,
        lock: impl FnOnce(&'a Self) -> Result<WriterGuard<'a>, WriteError>,
    ) -> Result<Reclaimed<E>, Rejected<E, WriteError>> {
        let span = or_reject!(Span::from_bounds(bounds).ok_or(WriteError::EmptyRange), value);
        // A split or the drop of a leftover may panic: then the value is dropped while no lock is held.
        let entry = NewWord::new(value);
        let mut plan = StorePlan::new(span);
        let planned = lock(self).and_then(|writer| self.plan_put(writer, &mut plan, is_insert));
        // If it was refused, no lock is held here: turning the word back into a value runs the caller's code.
        let (mut writer, way) = or_reject!(planned, entry.into_value());
        let own = self.commit(&mut writer, &mut plan, way, Some(entry.word()));
        entry.stored();
        Ok(own)
    }

    #[inline]
    fn plan_put<'a>(
        &self,
        mut writer: WriterGuard<'a>,
        plan: &mut StorePlan,
        is_insert: bool,
    ) -> Result<(WriterGuard<'a>, Publish), WriteError> {
        writer.tree.plan(plan, true);
        if is_insert && !plan.is_free() {
            return Err(WriteError::Occupied { entry: writer.tree.first_entry(plan) });
        }
        let way = self.prepare(&mut writer, plan)?;
        Ok((writer, way))
    }

    /// Removes everything in a range. An entry that reaches beyond it is cut, not removed. An empty range removes
    /// nothing.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`store`](Self::store), but an empty range is no error. Nothing has changed then.
    pub fn remove_range(&self, bounds: impl RangeBounds<u64>) -> Result<(), WriteError> {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        let writer = self.begin()?;
        let mut plan = StorePlan::new(span);
        writer.tree.plan(&mut plan, false);
        self.remove(writer, &mut plan).map(drop)
    }

    /// Removes the whole entry that contains an index, and returns its range.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`remove_range`](Self::remove_range).
    #[doc(alias = "mtree_erase")]
    pub fn erase(&self, index: u64) -> Result<Option<Span>, WriteError> {
        self.erase_in(self.begin()?, index).map(|(erased, _)| erased)
    }

    /// As [`erase`](Self::erase), for a caller that holds a lock of its own, which the drop of a value may want: no
    /// value is dropped, and the removed one is returned if no reader can have it. Call
    /// [`drop_leftovers`](Self::drop_leftovers) before that lock is taken.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`remove_range`](Self::remove_range).
    pub fn erase_under_lock(&self, index: u64) -> Result<(Option<Span>, Reclaimed<E>), WriteError> {
        self.erase_in(self.lock_alone()?, index)
    }

    fn erase_in(
        &self,
        writer: WriterGuard<'_>,
        index: u64,
    ) -> Result<(Option<Span>, Reclaimed<E>), WriteError> {
        let mut plan = StorePlan::new(Span::ALL);
        let Some(span) = writer.tree.plan_erase_at(&mut plan, index) else {
            return Ok((None, Reclaimed::default()));
        };
        let own = self.remove(writer, &mut plan)?;
        Ok((Some(span), own))
    }

    fn remove(&self, mut writer: WriterGuard<'_>, plan: &mut StorePlan) -> Result<Reclaimed<E>, WriteError> {
        if plan.is_free() {
            return Ok(Reclaimed::default());
        }
        let way = self.prepare(&mut writer, plan)?;
        Ok(self.commit(&mut writer, plan, way, None))
    }

    /// Reserves what a planned store needs, and decides how it is published.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    fn prepare(&self, writer: &mut Writer, plan: &StorePlan) -> Result<Publish, WriteError> {
        let way = if self.is_frozen() { Publish::Version } else { writer.tree.way_of(plan) };
        // A version is opened last, so a refused store has opened none.
        writer.prepare::<E>(plan, way).inspect_err(|_| self.note_leftovers(writer))?;
        Ok(way)
    }

    /// Makes a prepared store. Readers see it from then on. Returns the removed values that are to be dropped once the
    /// lock is released.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    fn commit(
        &self,
        writer: &mut Writer,
        plan: &mut StorePlan,
        way: Publish,
        entry: Option<Word>,
    ) -> Reclaimed<E> {
        let before = writer.values_waiting();
        match way {
            Publish::Word => writer.store_in_place::<E>(plan, entry),
            Publish::Leaf => {
                let second = writer.tree.cut_word(plan).map(Self::split);
                writer.store_low::<E>(&self.published, plan, entry, second);
            }
            Publish::Version => self.commit_version(writer, plan, entry),
        }
        self.finish(writer, before)
    }

    #[inline(never)]
    fn commit_version(&self, writer: &mut Writer, plan: &mut StorePlan, entry: Option<Word>) {
        let version = Unpublished(writer);
        let second = version.0.tree.cut_word(plan).map(Self::split);
        version.0.store_in_version(plan, entry, second);
        version.0.publish::<E>(&self.published, self.is_frozen());
    }

    /// Whether a snapshot exists: then nothing that its root can reach changes. The caller holds the lock.
    #[inline]
    pub(super) fn is_frozen(&self) -> bool {
        // Acquire: pairs with the Release of `SnapshotGuard::drop`.
        self.moments.load(Ordering::Acquire) > 0
    }
}

/// A version that is being built. It is undone unless it is published.
struct Unpublished<'w>(&'w mut Writer);

impl Drop for Unpublished<'_> {
    fn drop(&mut self) {
        self.0.undo();
    }
}

impl<E: StoredValue> Drop for MapleTree<E> {
    /// Nobody reads a map that is being dropped, so nothing waits. Nodes are freed with their chunks. If a value's drop
    /// panics, values that are not dropped yet may leak.
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A leaked transaction: the values that it inserted leak; those that it removed are dropped with the rest.
        writer.undo();
        // Also if no value waits: dropping a backlog that has records waits for their readers.
        writer.take_back(|word| drop(Self::value(word)));
        if !mem::needs_drop::<E>() {
            return;
        }
        drop(Reclaimed::<E>::new(writer.take_leftovers()));
        let tree = &mut writer.tree;
        let (mut words, mut all) = (Words::new(), Subtrees::new());
        all.extend(tree.take_root());
        drop_all(core::iter::from_fn(|| tree.next_removed(&mut words, &mut all)).map(Self::value));
    }
}
