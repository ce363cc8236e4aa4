//! A bounded queue of what one writer has retired and readers may still hold.
//!
//! ```text
//!   records   oldest | .......  batch, epoch 5 | ....  batch, epoch 8 | ..  open: retired since
//! ```
//!
//! Records are stamped by the batch: a poll ends an epoch and closes the open records as a batch of that epoch. A batch
//! leaves when nobody reads in its epoch or before. R6: an open record has no epoch yet, and does not leave.

use crate::domain::{Domain, DomainRef};
use crate::error::{BacklogError, Stalled, SynchronizeError};
use crate::grace::Grace;
use crate::stats::BacklogStats;
use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

/// Open records at which `reserve` polls: few enough that reused memory is still in the cache, enough to share a
/// barrier.
const POLL: usize = if cfg!(shuttle) { 6 } else { 512 };

/// Records reserved beyond a request.
const AHEAD: usize = if cfg!(shuttle) { 0 } else { 64 };

/// The most batches that are kept apart. More would not help behind a reader that stalls.
const BATCHES: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Batch {
    /// The epoch that ended after its records were retired.
    epoch: u64,
    records: usize,
    /// When that epoch ended. A reader that holds the batch back began before.
    closed: Instant,
}

/// Retired records of one writer, up to a limit, that wait for the readers of a [`Domain`].
///
/// A record is what the writer needs to reuse something: a node's number, a word, a box. As soon as no reader can reach
/// it, it is passed, oldest first, to the closure of [`reserve`](Self::reserve), [`poll`](Self::poll) or
/// [`barrier`](Self::barrier).
///
/// Dropping a backlog waits for its readers and drops the records. If this thread reads by [`read`](crate::read), it
/// leaks the records instead. It also waits for an owned guard, or a guard of a [`Reader`](crate::Reader): for ever, if
/// this thread holds it.
pub struct Backlog<'d, T> {
    domain: DomainRef<'d>,
    records: VecDeque<T>,
    batches: VecDeque<Batch>,
    /// Records after all batches.
    open: usize,
    limit: usize,
    /// Records that may be retired without another reservation.
    room: usize,
    /// Counts of closed batches. The other fields are computed when `stats` is called.
    stats: BacklogStats,
}

impl<'d, T> Backlog<'d, T> {
    /// An empty backlog that grants no request while `limit` records wait. A single request may exceed the limit,
    /// however large it is; otherwise a request for more than the limit would be refused for ever. Takes no memory yet.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn new(domain: impl Into<DomainRef<'d>>, limit: usize) -> Self {
        Self {
            domain: domain.into(),
            records: VecDeque::new(),
            batches: VecDeque::new(),
            open: 0,
            limit,
            room: 0,
            stats: BacklogStats::default(),
        }
    }

    /// The domain whose readers it waits for. Cost: constant.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Reserves room to [retire](Self::retire) `more` records. Room of earlier requests that is unused counts, and stays.
    /// Polls if a poll is due, or if too many records wait.
    ///
    /// Cost: constant, amortized, for the records that it grants. Once for some hundred records, and on each call
    /// while too many wait, it is that of [`poll`](Self::poll).
    ///
    /// # Errors
    /// [`Full`](BacklogError::Full) if readers hold back too much, [`OutOfMemory`](BacklogError::OutOfMemory), or
    /// [`NoGracePeriod`](BacklogError::NoGracePeriod) if as much is held back because barriers are refused. `reclaim` has got the
    /// records that left even then; nothing else has changed.
    #[inline]
    pub fn reserve(&mut self, more: usize, reclaim: impl FnMut(T)) -> Result<(), BacklogError> {
        if more <= self.room && self.open < POLL && !self.is_full() {
            Ok(())
        } else {
            self.make_room(more, reclaim)
        }
    }

    #[inline(never)]
    fn make_room(&mut self, more: usize, reclaim: impl FnMut(T)) -> Result<(), BacklogError> {
        if self.open >= POLL || (self.is_full() && self.held() > 0) {
            match self.poll(reclaim) {
                // A refused barrier may be granted later, or readers may fence by then.
                Err(error) if self.is_full() => return Err(error),
                _ => {}
            }
        }
        if self.is_full() {
            let held = self.held();
            self.stats.refused += 1;
            return Err(BacklogError::Full { held, limit: self.limit, oldest: self.oldest() });
        }
        // Slightly more than requested, so that the next requests take the fast path. A larger request may be unused still.
        let room = more.saturating_add(AHEAD).max(self.room);
        // A poll takes no memory: space for its batches is reserved here.
        let reserved = self.batches.try_reserve(BATCHES).and_then(|()| self.records.try_reserve(room));
        reserved.map_err(|_| BacklogError::OutOfMemory)?;
        self.room = room;
        Ok(())
    }

    /// The oldest reader that may hold back records.
    fn oldest(&self) -> Option<Stalled> {
        let (stamp, thread) = self.domain.oldest_with_thread()?;
        // It began in that epoch or before, so before the first batch of that epoch or later was closed.
        let since = self.batches.iter().find(|batch| batch.epoch >= stamp)?.closed;
        Some(Stalled { domain: self.domain.name(), thread, inside: since.elapsed() })
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.records.len() >= self.limit
    }

    /// Takes a record of something that is already unlinked. Within what was reserved it never fails.
    ///
    /// Cost: constant, and no memory is taken.
    ///
    /// # Errors
    /// Returns the record if there is no room for it. There is room for the records that were
    /// [reserved](Self::reserve), and possibly for more.
    #[doc(alias = "call_rcu")]
    #[inline]
    pub fn retire(&mut self, record: T) -> Result<(), T> {
        let Some(room) = self.room.checked_sub(1) else { return Err(record) };
        self.room = room;
        self.records.push_back(record);
        self.open += 1;
        Ok(())
    }

    /// Ends an epoch and passes `reclaim` what no reader can reach any more, oldest first. Returns the number of these
    /// records.
    ///
    /// Cost: a barrier on all threads (some microseconds), and a scan of all slots. It waits for nobody.
    ///
    /// # Errors
    /// Barriers are refused, and a thread that has not fenced yet may be reading. Nothing is reclaimed.
    pub fn poll(&mut self, reclaim: impl FnMut(T)) -> Result<usize, BacklogError> {
        self.stats.polls += 1;
        let Grace { ended, oldest, .. } = self.domain.end_epoch()?;
        self.close(ended);
        Ok(self.reclaim_below(oldest, reclaim))
    }

    /// Whether a poll would surely reclaim nothing, as a reader is still there that holds back the oldest batch.
    ///
    /// Cost: a scan of all slots; no barrier.
    #[must_use]
    pub fn is_held_back(&self) -> bool {
        self.batches.front().is_some_and(|oldest| self.domain.oldest() <= oldest.epoch)
    }

    /// Waits for all present readers, and passes `reclaim` all retired records.
    ///
    /// Cost: as [`Domain::synchronize`], and constant for each record.
    ///
    /// # Errors
    /// As [`Domain::synchronize`].
    #[doc(alias = "rcu_barrier")]
    pub fn barrier(&mut self, reclaim: impl FnMut(T)) -> Result<usize, SynchronizeError> {
        if self.records.is_empty() {
            return Ok(0);
        }
        self.domain.synchronize()?;
        self.close(0);
        Ok(self.reclaim_below(u64::MAX, reclaim))
    }

    /// Passes `reclaim` all retired records without waiting. For a writer that knows that no reader can reach them, as
    /// the structure they came from is now the writer's alone.
    ///
    /// Cost: constant for each record.
    pub fn take_all(&mut self, reclaim: impl FnMut(T)) -> usize {
        self.close(0);
        self.reclaim_below(u64::MAX, reclaim)
    }

    /// Closes the open records as a batch.
    fn close(&mut self, epoch: u64) {
        let records = std::mem::take(&mut self.open);
        self.stats.retired += records as u64;
        self.stats.peak = self.stats.peak.max(self.records.len());
        if records == 0 {
            return;
        }
        if self.batches.len() < BATCHES {
            self.batches.push_back(Batch { epoch, records, closed: Instant::now() });
        } else if let Some(last) = self.batches.back_mut() {
            // The older records of that batch wait longer than they need to.
            *last = Batch { epoch, records: last.records + records, closed: Instant::now() };
        }
    }

    fn reclaim_below(&mut self, oldest: u64, mut reclaim: impl FnMut(T)) -> usize {
        let mut done = 0;
        while let Some(batch) = self.batches.front_mut().filter(|batch| batch.epoch < oldest) {
            while batch.records > 0 {
                // Counted first: `reclaim` may panic, and its record is gone then.
                batch.records -= 1;
                done += 1;
                reclaim(self.records.pop_front().expect("R6: a batch's records are in the queue"));
            }
            self.batches.pop_front();
        }
        done
    }

    /// Records that wait for readers. Cost: constant.
    #[must_use]
    pub fn held(&self) -> usize {
        self.records.len()
    }

    /// Counts of its work so far. Cost: constant.
    #[must_use]
    pub fn stats(&self) -> BacklogStats {
        let held = self.records.len();
        let retired = self.stats.retired + self.open as u64;
        let peak = self.stats.peak.max(held);
        BacklogStats {
            held,
            peak,
            limit: self.limit,
            retired,
            reclaimed: retired - held as u64,
            ..self.stats
        }
    }
}

impl<T> Drop for Backlog<'_, T> {
    fn drop(&mut self) {
        if self.barrier(drop).is_err() {
            std::mem::forget(std::mem::take(&mut self.records));
        }
    }
}

impl<T> fmt::Debug for Backlog<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backlog").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
