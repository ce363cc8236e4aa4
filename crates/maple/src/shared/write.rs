//! Writing: under the lock, in a version that is published whole.

use super::MapleTree;
use super::arena::Shared;
use super::view::Root;
use crate::entry::{StoredValue, Word};
use crate::error::WriteError;
use crate::map::{NewWord, drop_all};
use crate::tree::{Need, Retired, StorePlan, Subtrees, Tree, Words};
use alloc::vec::Vec;
use core::mem;
use core::ops::RangeBounds;
use core::sync::atomic::Ordering;
use freehold_rcu::{Backlog, BacklogStats, Domain};
use freehold_units::{Broken, Rejected, Span};
use std::sync::{MutexGuard, PoisonError};

/// What only the thread has that writes.
#[derive(Debug)]
pub(super) struct Writer {
    /// The published version, or one that is being built.
    pub(super) tree: Tree<Shared>,
    backlog: Backlog<'static, Retired>,
    /// Nodes in the backlog.
    waiting: Need,
    /// Words that no reader can have any more. Their values are dropped once the lock is given back, as a drop may do anything.
    dead: Vec<Word>,
}

impl Writer {
    pub(super) fn new(tree: Tree<Shared>, limit: usize) -> Self {
        let backlog = Backlog::new(Domain::global(), limit);
        Self { tree, backlog, waiting: Need::default(), dead: Vec::new() }
    }

    pub(super) fn stats(&self) -> BacklogStats {
        self.backlog.stats()
    }

    pub(super) fn validate(&self) -> Result<(), Broken> {
        self.tree.validate(self.waiting)
    }
}

/// Takes back what no reader can reach. There is room for its words.
fn reclaim(tree: &mut Tree<Shared>, waiting: &mut Need, dead: &mut Vec<Word>, record: Retired) {
    match record {
        Retired::Leaf(id) => {
            waiting.leaves -= 1;
            tree.reuse_leaf(id);
        }
        Retired::Inner(id) => {
            waiting.inners -= 1;
            tree.reuse_inner(id);
        }
        Retired::Word(word) => dead.push(word),
    }
}

/// A version that is being built. It is undone unless it is published.
struct Unpublished<'w>(&'w mut Tree<Shared>);

impl Drop for Unpublished<'_> {
    fn drop(&mut self) {
        self.0.undo_version();
    }
}

impl<E: StoredValue> MapleTree<E> {
    /// Stores a value over a range, whatever is there. What reaches beyond the range is cut, not removed.
    ///
    /// # Errors
    /// The range is empty, there is no memory, or readers hold back too much; nothing has changed then, and the value comes back.
    #[doc(alias = "mtree_store_range")]
    pub fn store(&self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(Span::from_bounds(&bounds), value, false)
    }

    /// Stores a value over a range that is free.
    ///
    /// # Errors
    /// The range overlaps an entry, or as for [`store`](Self::store).
    #[doc(alias = "mtree_insert_range")]
    pub fn insert(&self, bounds: impl RangeBounds<u64>, value: E) -> Result<(), Rejected<E, WriteError>> {
        self.put(Span::from_bounds(&bounds), value, true)
    }

    fn put(&self, span: Option<Span>, value: E, is_insert: bool) -> Result<(), Rejected<E, WriteError>> {
        let Some(span) = span else { return Err(Rejected { value, cause: WriteError::EmptyRange }) };
        let mut writer = self.lock();
        let mut plan = StorePlan::new(span);
        let planned = writer.tree.plan_in_version(&mut plan, true).map_err(WriteError::from);
        let planned = planned.and_then(|()| {
            let taken = is_insert && !plan.is_free();
            if taken { Err(WriteError::Occupied(writer.tree.first_entry(&plan))) } else { Ok(()) }
        });
        if let Err(cause) = planned {
            writer.tree.undo_version();
            return Err(Rejected { value, cause });
        }
        // A split may panic: then the value is dropped.
        let entry = NewWord::new(value);
        let written = self.write(&mut writer, &mut plan, Some(entry.word()));
        let result = match written {
            Ok(()) => {
                entry.stored();
                Ok(())
            }
            Err(cause) => Err(Rejected { value: entry.into_value(), cause }),
        };
        // Drops may panic: the new value is in the tree by now, or back.
        Self::unlock(writer);
        result
    }

    /// Removes everything in a range. What reaches beyond it is cut, not removed. An empty range has nothing to remove.
    ///
    /// # Errors
    /// There is no memory, or readers hold back too much; nothing has changed then.
    pub fn remove_range(&self, bounds: impl RangeBounds<u64>) -> Result<(), WriteError> {
        let Some(span) = Span::from_bounds(&bounds) else { return Ok(()) };
        self.remove(self.lock(), span)
    }

    /// Removes the whole entry that an index is in; returns its range.
    ///
    /// # Errors
    /// As for [`remove_range`](Self::remove_range).
    #[doc(alias = "mtree_erase")]
    pub fn erase(&self, index: u64) -> Result<Option<Span>, WriteError> {
        let writer = self.lock();
        let slot = writer.tree.slot_of(index);
        if slot.entry.is_none() {
            return Ok(None);
        }
        self.remove(writer, slot.span)?;
        Ok(Some(slot.span))
    }

    fn remove(&self, mut writer: MutexGuard<'_, Writer>, span: Span) -> Result<(), WriteError> {
        let mut plan = StorePlan::new(span);
        if let Err(cause) = writer.tree.plan_in_version(&mut plan, false) {
            writer.tree.undo_version();
            return Err(cause.into());
        }
        let written = self.write(&mut writer, &mut plan, None);
        Self::unlock(writer);
        written
    }

    /// Does a store that was planned in a version, and publishes that. On an error the version is undone.
    fn write(
        &self,
        writer: &mut Writer,
        plan: &mut StorePlan,
        entry: Option<Word>,
    ) -> Result<(), WriteError> {
        let Writer { tree, backlog, waiting, dead } = writer;
        // Words that the backlog gives back, and one that is split for nothing.
        let version = Unpublished(tree);
        if mem::needs_drop::<E>() {
            dead.try_reserve(backlog.held() + 1).map_err(|_| WriteError::OutOfMemory)?;
        }
        let (mut words, mut subtrees) = (Words::new(), Subtrees::new());
        let mut second = None;
        let split = |word| *second.insert(Self::split(word));
        version.0.store_in_version(plan, entry, split, &mut words, &mut subtrees);

        // What the old version alone has; of values that need no drop, only the nodes.
        let is_kept = |record: &Retired| mem::needs_drop::<E>() || !matches!(record, Retired::Word(_));
        let mut records = version.0.gone_len();
        let mut count = |record| records += usize::from(is_kept(&record));
        words.iter().for_each(|&word| count(Retired::Word(word)));
        subtrees.iter().for_each(|&subtree| version.0.retire_subtree(subtree, &mut count));
        let room = backlog.reserve(records, |record| reclaim(version.0, waiting, dead, record));
        if let Err(cause) = room {
            drop(version);
            dead.extend(second.filter(|_| mem::needs_drop::<E>()));
            return Err(cause.into());
        }

        // Release: pairs with the Acquire in `Reading::view`. The one store that readers see (M12).
        self.root.store(Root::of(version.0.base()).0, Ordering::Release);
        let mut retire = |record| {
            match record {
                Retired::Leaf(_) => waiting.leaves += 1,
                Retired::Inner(_) => waiting.inners += 1,
                Retired::Word(_) => {}
            }
            if is_kept(&record) {
                backlog.retire(record).expect("M12: room for what is retired is reserved");
            }
        };
        words.iter().for_each(|&word| retire(Retired::Word(word)));
        subtrees.iter().for_each(|&subtree| version.0.retire_subtree(subtree, &mut retire));
        version.0.publish_version(&mut retire);
        Ok(())
    }

    /// Gives the lock back, and drops the values that no reader can have any more.
    fn unlock(mut writer: MutexGuard<'_, Writer>) {
        if !writer.dead.is_empty() {
            let dead = mem::take(&mut writer.dead);
            drop(writer);
            drop_all(dead.into_iter().map(Self::value));
        }
    }
}

impl<E: StoredValue> Drop for MapleTree<E> {
    /// Nobody reads a map that is dropped: nothing waits. Nodes go with their chunks. Should a value's drop panic, values that are
    /// not dropped yet may be leaked.
    fn drop(&mut self) {
        let Writer { tree, backlog, .. } = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        backlog.take_all(|record| {
            if let Retired::Word(word) = record {
                drop(Self::value(word));
            }
        });
        if !mem::needs_drop::<E>() {
            return;
        }
        let (mut words, mut all) = (Words::new(), Subtrees::new());
        all.extend(tree.take_root());
        drop_all(core::iter::from_fn(|| tree.next_removed(&mut words, &mut all)).map(Self::value));
    }
}
