//! Several stores that readers see at once, or none of them.

use super::MapleTree;
use super::atomic::MutexGuard;
use super::words::Reclaimed;
use super::writer::Writer;
use crate::entry::{StoredValue, Word};
use crate::error::WriteError;
use crate::tree::{StorePlan, Way};
use core::fmt;
use core::mem;
use core::ops::RangeBounds;
use freehold_units::{Rejected, Span};

/// Stores that readers see at once: planned and made where no reader is, then published by one store of a link.
///
/// It holds the writer's lock. All memory is asked for by each store, and a store is refused where readers hold back too much:
/// [`commit`](Self::commit) takes no memory, waits for nobody and cannot fail. So it is also the plan of a single store: who has
/// something to do between the last thing that can fail and the store, does it before the commit. What is dropped without being
/// committed has changed nothing. One that is leaked keeps the lock for ever.
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
pub struct Transaction<'a, E: StoredValue> {
    map: &'a MapleTree<E>,
    writer: MutexGuard<'a, Writer>,
    /// What was put into the version, and is dropped if that is: after the field above has given the lock back, as a drop may do
    /// anything. So is the other, if its store panicked.
    inserted: Reclaimed<E>,
    failed: Reclaimed<E>,
}

impl<E: StoredValue> MapleTree<E> {
    /// Begins stores that readers see at once. Waits for the writer.
    #[must_use]
    pub fn transaction(&self) -> Transaction<'_, E> {
        Transaction {
            map: self,
            writer: self.lock(),
            inserted: Reclaimed::default(),
            failed: Reclaimed::default(),
        }
    }
}

impl<E: StoredValue> Transaction<'_, E> {
    /// The value at an index, with the stores so far.
    #[must_use]
    pub fn get(&self, index: u64) -> Option<E::Ref<'_>> {
        self.slot_at(index).1
    }

    /// The range that an index is in, with its value; without one, the whole gap. With the stores so far.
    #[must_use]
    pub fn slot_at(&self, index: u64) -> (Span, Option<E::Ref<'_>>) {
        let slot = self.writer.tree.slot_of(index);
        (slot.span, slot.entry.map(|word| self.borrow(word)))
    }

    /// Stores a value over a range, whatever is there.
    ///
    /// # Errors
    /// As for [`MapleTree::store`]. The stores before stand, and can be committed or dropped.
    pub fn store(&mut self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(Span::from_bounds(&bounds), value, false)
    }

    /// Stores a value over a range that is free.
    ///
    /// # Errors
    /// As for [`MapleTree::insert`]. The stores before stand, and can be committed or dropped.
    pub fn insert(&mut self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(Span::from_bounds(&bounds), value, true)
    }

    /// Removes everything in a range.
    ///
    /// # Errors
    /// As for [`MapleTree::remove_range`]. The stores before stand, and can be committed or dropped.
    pub fn remove_range(&mut self, bounds: impl RangeBounds<u64>) -> Result<(), WriteError> {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        let mut plan = StorePlan::new(span);
        self.writer.tree.plan(&mut plan, false);
        if !plan.is_free() {
            self.prepare(&plan)?;
            let second = self.second(&plan);
            self.writer.store_in_version(&mut plan, None, second);
        }
        Ok(())
    }

    fn put(&mut self, span: Option<Span>, value: E, is_insert: bool) -> Result<(), Rejected<E, WriteError>> {
        let Some(span) = span else { return Err(Rejected { value, cause: WriteError::EmptyRange }) };
        let mut plan = StorePlan::new(span);
        self.writer.tree.plan(&mut plan, true);
        let taken = is_insert && !plan.is_free();
        let prepared = match taken {
            true => Err(WriteError::Occupied(self.writer.tree.first_entry(&plan))),
            false => self.prepare(&plan),
        };
        if let Err(cause) = prepared {
            return Err(Rejected { value, cause });
        }
        let word = value.into_word();
        // A split may panic: then the value stays there.
        self.failed.push(word);
        let second = self.second(&plan);
        self.failed.pop();
        self.inserted.push(word);
        self.writer.store_in_version(&mut plan, Some(word), second);
        Ok(())
    }

    /// Reserves what a planned store takes: the new word, and the second word of an entry that is cut in two, also.
    fn prepare(&mut self, plan: &StorePlan) -> Result<(), WriteError> {
        self.inserted.reserve(2)?;
        self.failed.reserve(1)?;
        self.writer.prepare::<E>(plan, Way::Version)
    }

    /// The second word of the entry that a planned store cuts in two, if it does.
    fn second(&mut self, plan: &StorePlan) -> Option<Word> {
        let second = self.writer.tree.cut_word(plan).map(MapleTree::<E>::split);
        second.inspect(|&second| self.inserted.push(second))
    }

    /// Has readers see all stores, from now on and at once. Hands over what no reader can have any more, of removals before.
    pub fn commit(mut self) -> Reclaimed<E> {
        self.writer.publish::<E>(&self.map.published, self.map.is_frozen());
        self.inserted.forget();
        Reclaimed::new(mem::take(&mut self.writer.dead))
    }
}

impl<E: StoredValue> Drop for Transaction<'_, E> {
    fn drop(&mut self) {
        // Nothing, if it was committed.
        self.writer.undo();
    }
}

impl<E: StoredValue> fmt::Debug for Transaction<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("len", &self.writer.tree.len()).finish_non_exhaustive()
    }
}
