//! Storing: under the lock, one writer at a time.

use super::atomic::Ordering;
use super::words::Reclaimed;
use super::writer::Writer;
use super::{MapleTree, WriterGuard};
use crate::drop_all::drop_all;
use crate::entry::{StoredValue, Word};
use crate::error::WriteError;
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
    /// removes k, and up to [`BACKLOG`](Self::BACKLOG) nodes and values that earlier stores retired; amortized O(log
    /// n).
    ///
    /// # Errors
    /// `EmptyRange`; `OutOfMemory`; `Full` if readers hold back too much; `NoGracePeriod` if the system refuses
    /// barriers; `InTransaction` if this thread has a transaction of the map open. Nothing has changed then, and the
    /// error returns the value.
    #[doc(alias = "mtree_store_range")]
    pub fn store(&self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(Span::from_bounds(&bounds), value, false).map(drop)
    }

    /// Stores a value over a free range.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// `Occupied` if the range overlaps an entry, or as for [`store`](Self::store).
    #[doc(alias = "mtree_insert_range")]
    pub fn insert(&self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.insert_reclaiming(bounds, value).map(drop)
    }

    /// As [`insert`](Self::insert), but returns the values that earlier removals reclaimed instead of dropping them
    /// here.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    pub fn insert_reclaiming(
        &self,
        bounds: impl RangeBounds<u64>,
        value: E,
    ) -> Result<Reclaimed<E>, Rejected<E, WriteError>> {
        self.put(Span::from_bounds(&bounds), value, true)
    }

    #[inline]
    fn put(
        &self,
        span: Option<Span>,
        value: E,
        is_insert: bool,
    ) -> Result<Reclaimed<E>, Rejected<E, WriteError>> {
        let Some(span) = span else { return Err(Rejected { value, cause: WriteError::EmptyRange }) };
        // A split may panic: then the value is dropped after the lock is released.
        let entry = NewWord::new(value);
        let mut plan = StorePlan::new(span);
        let (mut writer, way) = match self.plan_put(&mut plan, is_insert) {
            Ok(planned) => planned,
            // No lock is held here: turning the word back into a value runs the caller's code.
            Err(cause) => return Err(Rejected { value: entry.into_value(), cause }),
        };
        self.commit(&mut writer, &mut plan, way, Some(entry.word()));
        entry.stored();
        Ok(Reclaimed::new(mem::take(&mut writer.dead)))
    }

    #[inline]
    fn plan_put(
        &self,
        plan: &mut StorePlan,
        is_insert: bool,
    ) -> Result<(WriterGuard<'_>, Publish), WriteError> {
        let mut writer = self.lock_alone()?;
        writer.tree.plan(plan, true);
        if is_insert && !plan.is_free() {
            return Err(WriteError::Occupied(writer.tree.first_entry(plan)));
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
        let writer = self.lock_alone()?;
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
        self.erase_reclaiming(index).map(|(erased, _)| erased)
    }

    /// As [`erase`](Self::erase), but returns the values that earlier removals reclaimed instead of dropping them here.
    ///
    /// Cost: as for [`store`](Self::store).
    ///
    /// # Errors
    /// As for [`remove_range`](Self::remove_range).
    pub fn erase_reclaiming(&self, index: u64) -> Result<(Option<Span>, Reclaimed<E>), WriteError> {
        let writer = self.lock_alone()?;
        let mut plan = StorePlan::new(Span::ALL);
        let Some(span) = writer.tree.plan_erase_at(&mut plan, index) else {
            return Ok((None, Reclaimed::default()));
        };
        let reclaimed = self.remove(writer, &mut plan)?;
        Ok((Some(span), reclaimed))
    }

    fn remove(&self, mut writer: WriterGuard<'_>, plan: &mut StorePlan) -> Result<Reclaimed<E>, WriteError> {
        if !plan.is_free() {
            let way = self.prepare(&mut writer, plan)?;
            self.commit(&mut writer, plan, way, None);
        }
        Ok(Reclaimed::new(mem::take(&mut writer.dead)))
    }

    /// Reserves what a planned store needs, and decides how it is published.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    fn prepare(&self, writer: &mut Writer, plan: &StorePlan) -> Result<Publish, WriteError> {
        let way = if self.is_frozen() { Publish::Version } else { writer.tree.way_of(plan) };
        // A version is opened last, so a refused store has opened none.
        writer.prepare::<E>(plan, way).map(|()| way)
    }

    /// Makes a prepared store. Readers see it from then on.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    fn commit(&self, writer: &mut Writer, plan: &mut StorePlan, way: Publish, entry: Option<Word>) {
        match way {
            Publish::Word => writer.store_in_place::<E>(plan, entry),
            Publish::Leaf => {
                let second = writer.tree.cut_word(plan).map(Self::split);
                writer.store_low::<E>(&self.published, plan, entry, second);
            }
            Publish::Version => self.commit_version(writer, plan, entry),
        }
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
        drop(Reclaimed::<E>::new(mem::take(&mut writer.dead)));
        let tree = &mut writer.tree;
        let (mut words, mut all) = (Words::new(), Subtrees::new());
        all.extend(tree.take_root());
        drop_all(core::iter::from_fn(|| tree.next_removed(&mut words, &mut all)).map(Self::value));
    }
}
