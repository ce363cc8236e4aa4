//! When removed values are dropped: at the end of the change that removed them, or later, by the batch.
//!
//! ```text
//!   a change   lock, drop what earlier ones left, without the lock | lock, change, retire | prompt: poll | unlock, drop its own
//! ```
//!
//! A value that another change removed is dropped before a change begins: if that drop panics, nothing has changed, and
//! no result is lost.

use super::writer::Writer;
use super::{MapleTree, Reclaimed, WriterGuard};
use crate::entry::StoredValue;
use crate::error::WriteError;
use core::mem;
use core::sync::atomic::Ordering;
use core::time::Duration;
use freehold_rcu::{Domain, SynchronizeError};
use freehold_units::Span;
use std::time::Instant;

impl<E: StoredValue> MapleTree<E> {
    /// Locks the writer's state for a change, as [`lock_alone`](Self::lock_alone). Values that earlier changes left are
    /// dropped before.
    #[inline]
    pub(super) fn begin(&self) -> Result<WriterGuard<'_>, WriteError> {
        let writer = self.lock_alone()?;
        if mem::needs_drop::<E>() && writer.has_leftovers() { self.begin_again(writer) } else { Ok(writer) }
    }

    #[cold]
    fn begin_again<'a>(&'a self, writer: WriterGuard<'a>) -> Result<WriterGuard<'a>, WriteError> {
        drop(self.leftovers(writer));
        self.lock_alone()
    }

    /// The values that earlier changes left. Releases the lock, so that the caller can drop them.
    fn leftovers(&self, mut writer: WriterGuard<'_>) -> Reclaimed<E> {
        let left = Reclaimed::new(writer.take_leftovers());
        self.note_leftovers(&writer);
        left
    }

    /// Drops the values that earlier changes left, as far as no reader can have them. Each change begins with this,
    /// except for those that are made [under a lock](Self::erase_under_lock).
    ///
    /// Cost: a load if nothing is left; else the writer's lock, and the drops. Under prompt reclamation, while values wait, also a scan of the readers;
    /// a barrier on all threads once the oldest of these readers has left.
    pub fn drop_leftovers(&self) {
        // Relaxed: who has made a change knows of it, and others need not.
        if mem::needs_drop::<E>() && self.has_leftovers.load(Ordering::Relaxed) {
            drop(self.leftovers(self.lock()));
        }
    }

    /// Ends a change before which `before` values waited. Returns those that it removed and no reader can have, under
    /// prompt reclamation.
    #[inline]
    pub(super) fn finish(&self, writer: &mut Writer, before: usize) -> Reclaimed<E> {
        let own = writer.take_own(before);
        self.note_leftovers(writer);
        Reclaimed::new(own)
    }

    /// Called after each change, made or refused, and after each drop of leftovers: a change may have found values that
    /// earlier ones removed.
    #[inline]
    pub(super) fn note_leftovers(&self, writer: &Writer) {
        if mem::needs_drop::<E>() {
            self.has_leftovers.store(writer.has_leftovers(), Ordering::Relaxed);
        }
    }

    /// Drops the removed values that no reader can have any more, and lets nodes be used again. Returns how many values
    /// and nodes still wait.
    ///
    /// Cost: the writer's lock, a barrier on all threads, a scan of the readers, and the drops. It waits for no reader.
    ///
    /// # Errors
    /// `OutOfMemory`; `NoGracePeriod` if the system refuses barriers. Nothing is dropped then.
    pub fn reclaim(&self) -> Result<usize, WriteError> {
        let (waiting, reclaimed) = {
            let mut writer = self.lock();
            let waiting = writer.poll()?;
            let polled = writer.take_polled();
            self.note_leftovers(&writer);
            (waiting, Reclaimed::<E>::new(polled?))
        };
        drop(reclaimed);
        Ok(waiting)
    }

    /// Waits until all present readers of the map's domain have left, and drops the values that were removed before the
    /// call. A map that nobody changes meanwhile keeps no garbage.
    ///
    /// A thread that holds an [`OwnedReading`](crate::maple_tree::OwnedReading) or a [`Snapshot`](crate::maple_tree::Snapshot)
    /// of a map of that domain waits for itself for ever, as all do for a reader that was leaked (`mem::forget`).
    ///
    /// Cost: as [`Domain::synchronize`] where readers are inside, and twice that of [`reclaim`](Self::reclaim).
    ///
    /// # Errors
    /// As [`reclaim`](Self::reclaim); `Reading` if this thread reads in the map's domain, and would wait for itself.
    #[doc(alias = "rcu_barrier")]
    pub fn synchronize(&self) -> Result<(), WriteError> {
        // What is retired by now gets an epoch, behind which no later reader counts.
        if self.reclaim()? > 0 {
            self.domain().synchronize()?;
            self.reclaim()?;
        }
        Ok(())
    }

    /// As [`erase`](Self::erase), but where readers hold back too much, waits for them: up to `limit`, without the
    /// lock.
    ///
    /// Cost: as [`erase`](Self::erase), after a wait for as long as `limit`.
    ///
    /// # Errors
    /// As [`erase`](Self::erase): `Readers` once the limit is over. `Reading` if this thread is one of those readers.
    pub fn erase_waiting(&self, index: u64, limit: Duration) -> Result<Option<Span>, WriteError> {
        self.waiting(limit, || self.erase(index), |error| matches!(error, WriteError::Readers { .. }))
    }

    /// Repeats a change that readers prevent until they have left, or `limit` is over. `is_full` says whether an error
    /// means that readers hold back too much.
    ///
    /// Cost: that of the change, repeated after each wait for the readers that were inside, up to `limit`.
    ///
    /// # Errors
    /// Those of the change; `Reading` if this thread is one of the readers.
    pub fn waiting<T, C: From<WriteError>>(
        &self,
        limit: Duration,
        mut change: impl FnMut() -> Result<T, C>,
        is_full: impl Fn(&C) -> bool,
    ) -> Result<T, C> {
        let begin = Instant::now();
        loop {
            let refused = match change() {
                Err(refused) if is_full(&refused) => refused,
                answer => return answer,
            };
            let left = limit.saturating_sub(begin.elapsed());
            match self.domain().synchronize_for(left) {
                // Others may be inside by now. A map that may keep nothing refuses every change.
                Ok(()) if !left.is_zero() && self.backlog().limit > 0 => {}
                Ok(()) | Err(SynchronizeError::TimedOut) => return Err(refused),
                Err(error) => return Err(WriteError::from(error).into()),
            }
        }
    }

    /// The domain whose readers the map waits for. Cost: constant.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        self.published.domain.as_deref().unwrap_or_else(|| Domain::global())
    }
}
