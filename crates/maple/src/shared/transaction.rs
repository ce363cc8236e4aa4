//! Several stores that become visible together, or not at all.

use super::atomic::this_thread;
use super::words::{Reclaimed, borrow_from};
use super::writer::Writer;
use super::{MapleTree, WriterGuard};
use crate::entry::{StoredValue, Word};
use crate::error::{WriteError, or_reject};
use crate::map::NewWord;
use crate::tree::{Publish, StorePlan};
use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// Several stores that readers see at once: planned and built where no reader can reach, then published by one store of
/// a link.
///
/// - All other stores are kept out until it ends: other threads wait, and the thread's own stores, which would wait for
///   ever, are refused.
/// - Readers and snapshots go on, and see none of its stores before the commit.
/// - Each store takes all the memory it needs, and is refused where readers hold back too much. So
///   [`commit`](Self::commit) takes no memory, waits for no reader and cannot fail.
/// - A transaction that is dropped without a commit has changed nothing.
/// - A transaction that is leaked keeps stores out for ever; the map can still be read.
///
/// A transaction is also the plan of a single store: make the store, do the last step that can fail, then commit.
///
/// ```
/// use freehold_maple::MapleTree;
///
/// let map = MapleTree::new();
/// map.store(0..100, 1u32)?;
/// let mut moving = map.transaction();
/// moving.remove_range(0..100)?;
/// moving.store(500..600, 1)?;
/// assert_eq!((moving.get(550), map.read().get(550)), (Some(1), None));
/// moving.commit();
/// assert_eq!((map.read().get(50), map.read().get(550)), (None, Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a transaction that is not committed changes nothing"]
pub struct Transaction<'a, E: StoredValue> {
    map: &'a MapleTree<E>,
    /// Cleared by the commit: the transaction then has nothing to undo.
    is_open: bool,
    /// The map records this thread as the owner, so the transaction is neither `Send` nor `Sync`.
    _here: PhantomData<*const ()>,
    /// The values put into the version. If it is undone, they are dropped with no lock held, as a drop may do anything.
    inserted: Reclaimed<E>,
}

impl<E: StoredValue> MapleTree<E> {
    /// Begins stores that readers see at once. Waits for stores and transactions of other threads.
    ///
    /// Cost: constant, once no other thread stores or has a transaction.
    ///
    /// # Panics
    /// If this thread has a transaction of the map open, for which it would wait for ever. A leaked transaction counts
    /// as open.
    pub fn transaction(&self) -> Transaction<'_, E> {
        self.transaction_in(self.begin())
    }

    /// As [`transaction`](Self::transaction), for a caller that holds a lock of its own, which the drop of a value may
    /// want: no value is dropped. Call [`drop_leftovers`](Self::drop_leftovers) before that lock is taken.
    ///
    /// Cost: as [`transaction`](Self::transaction).
    ///
    /// # Panics
    /// As [`transaction`](Self::transaction).
    pub fn transaction_under_lock(&self) -> Transaction<'_, E> {
        self.transaction_in(self.lock_alone())
    }

    #[allow(clippy::panic, reason = "as documented: the thread would wait for ever")]
    fn transaction_in(&self, writer: Result<WriterGuard<'_>, WriteError>) -> Transaction<'_, E> {
        let Ok(mut writer) = writer else { panic!("{}", WriteError::InTransaction) };
        writer.owner = Some(this_thread());
        drop(writer);
        Transaction { map: self, is_open: true, _here: PhantomData, inserted: Reclaimed::default() }
    }
}

impl<'a, E: StoredValue> Transaction<'a, E> {
    /// The value at an index, with this transaction's stores so far.
    ///
    /// Cost: O(log n) for n entries, under the writer's lock.
    #[must_use]
    pub fn get(&self, index: u64) -> Option<E::Ref<'_>> {
        self.slot_at(index).1
    }

    /// The range that contains an index, with its value, or the whole gap if it has none. With this transaction's
    /// stores so far.
    ///
    /// Cost: O(log n) for n entries, under the writer's lock.
    #[must_use]
    pub fn slot_at(&self, index: u64) -> (Span, Option<E::Ref<'_>>) {
        let slot = self.map.lock().tree.slot_of(index);
        (slot.span, slot.entry.map(|word| borrow_from::<_, E>(self, word)))
    }

    /// Stores a value over a range, whatever is there.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for
    /// each node if the map has grown since the last one: amortized O(log n).
    ///
    /// # Errors
    /// As for [`MapleTree::store`]. The stores before stand, and can be committed or dropped.
    pub fn store(&mut self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(&bounds, value, false)
    }

    /// Stores a value over a free range.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for
    /// each node if the map has grown since the last one: amortized O(log n).
    ///
    /// # Errors
    /// As for [`MapleTree::insert`]. The stores before stand, and can be committed or dropped.
    pub fn insert(&mut self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(&bounds, value, true)
    }

    /// Removes everything in a range.
    ///
    /// Cost: O(log n + k) for n entries of which it removes k. The first store of a transaction also clears a bit for
    /// each node if the map has grown since the last one: amortized O(log n).
    ///
    /// # Errors
    /// As for [`MapleTree::remove_range`]. The stores before stand, and can be committed or dropped.
    pub fn remove_range(&mut self, bounds: impl RangeBounds<u64>) -> Result<(), WriteError> {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        let mut writer = self.map.lock();
        let mut plan = StorePlan::new(span);
        writer.tree.plan(&mut plan, false);
        if !plan.is_free() {
            self.prepare(&mut writer, &plan)?;
            let second = self.second(&writer, &plan);
            writer.store_in_version(&mut plan, None, second);
        }
        Ok(())
    }

    fn put(
        &mut self,
        bounds: &impl RangeBounds<u64>,
        value: E,
        is_insert: bool,
    ) -> Result<(), Rejected<E, WriteError>> {
        let span = or_reject!(Span::from_bounds(bounds).ok_or(WriteError::EmptyRange), value);
        // A split may panic: then the value is dropped after the lock is released.
        let entry = NewWord::new(value);
        let mut plan = StorePlan::new(span);
        // If it was refused, no lock is held here: turning the word back into a value runs the caller's code.
        let mut writer = or_reject!(self.plan_put(&mut plan, is_insert), entry.into_value());
        let second = self.second(&writer, &plan);
        let word = entry.word();
        self.inserted.push(word);
        entry.stored();
        writer.store_in_version(&mut plan, Some(word), second);
        Ok(())
    }

    fn plan_put(&mut self, plan: &mut StorePlan, is_insert: bool) -> Result<WriterGuard<'a>, WriteError> {
        let mut writer = self.map.lock();
        writer.tree.plan(plan, true);
        if is_insert && !plan.is_free() {
            return Err(WriteError::Occupied { entry: writer.tree.first_entry(plan) });
        }
        self.prepare(&mut writer, plan)?;
        Ok(writer)
    }

    /// Reserves what a planned store takes, including the record of the new word and of a cut entry's second word.
    fn prepare(&mut self, writer: &mut Writer, plan: &StorePlan) -> Result<(), WriteError> {
        self.inserted.reserve(2)?;
        writer.prepare::<E>(plan, Publish::Version)
    }

    /// The second word of the entry that a planned store cuts in two, if it cuts one.
    fn second(&mut self, writer: &Writer, plan: &StorePlan) -> Option<Word> {
        let second = writer.tree.cut_word(plan).map(MapleTree::<E>::split);
        second.inspect(|&second| self.inserted.push(second))
    }

    /// Publishes all stores at once. Returns the values that it removed and no reader can have any more: none, unless
    /// reclamation is [prompt](crate::maple_tree::Reclaim).
    ///
    /// Cost: O(m) for m nodes and entries that its stores took and removed.
    pub fn commit(mut self) -> Reclaimed<E> {
        let mut writer = self.map.lock();
        let before = writer.values_waiting();
        writer.publish::<E>(&self.map.published, self.map.is_frozen());
        self.is_open = false;
        self.inserted.forget();
        self.map.finish(&mut writer, before)
    }
}

impl<E: StoredValue> Drop for Transaction<'_, E> {
    fn drop(&mut self) {
        if self.is_open {
            let mut writer = self.map.lock();
            writer.undo();
            self.map.note_leftovers(&writer);
        }
    }
}

impl<E: StoredValue> fmt::Debug for Transaction<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The formatter is the caller's code, so no lock is held while it runs.
        let len = self.map.lock().tree.len();
        f.debug_struct("Transaction").field("len", &len).finish_non_exhaustive()
    }
}
