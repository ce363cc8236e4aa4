//! What one writer has retired, and readers may still hold: a queue with a limit.
//!
//! ```text
//!   records   oldest | .......  batch, epoch 5 | ....  batch, epoch 8 | ..  open: retired since
//! ```
//!
//! Records are stamped by the batch: a poll ends an epoch and makes what is open a batch of it. A batch leaves when nobody reads in
//! its epoch or before. R6: an open record has no epoch yet, and does not leave.

use crate::domain::Domain;
use crate::error::{BacklogError, SynchronizeError};
use crate::grace::Grace;
use crate::stats::BacklogStats;
use std::collections::VecDeque;
use std::fmt;

/// Open records at which `reserve` polls: few enough that what is reused is still in the cache, enough to share a barrier.
const POLL: usize = if cfg!(shuttle) { 6 } else { 512 };

/// Records that room is made for beyond a request.
const AHEAD: usize = if cfg!(shuttle) { 0 } else { 64 };

/// Batches that are told apart. Behind a reader that stalls, more of them say nothing.
const BATCHES: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Batch {
    /// The epoch that ended after its records were retired.
    epoch: u64,
    records: usize,
}

/// Retired records of one writer, up to a limit, that wait for the readers of a [`Domain`].
///
/// A record is what the writer needs to reuse something: a node's number, a word, a box. It comes back, oldest first, to the closure
/// of [`reserve`](Self::reserve), [`poll`](Self::poll) or [`barrier`](Self::barrier), as soon as no reader can reach it.
///
/// A backlog that is dropped waits for its readers and drops the records. If this thread reads by [`read`](crate::read), it leaks the
/// records; it waits for an owned guard, or one of a [`Reader`](crate::Reader), also if it is this thread's, which is for ever then.
pub struct Backlog<'d, T> {
    domain: &'d Domain,
    records: VecDeque<T>,
    batches: VecDeque<Batch>,
    /// Records behind all batches.
    open: usize,
    limit: usize,
    /// Records that may be retired: for which there is memory.
    room: usize,
    /// Counts of closed batches; what follows from others is filled in when it is asked for.
    stats: BacklogStats,
}

impl<'d, T> Backlog<'d, T> {
    /// An empty backlog that grants no request while `limit` records wait. One request may take it above that, however large it
    /// is: a request for more than the limit would be refused for ever otherwise. It asks for no memory yet.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn new(domain: &'d Domain, limit: usize) -> Self {
        Self {
            domain,
            records: VecDeque::new(),
            batches: VecDeque::new(),
            open: 0,
            limit,
            room: 0,
            stats: BacklogStats::default(),
        }
    }

    /// The domain whose readers are waited for. Cost: constant.
    #[must_use]
    pub fn domain(&self) -> &'d Domain {
        self.domain
    }

    /// Makes sure that `more` records can be [retired](Self::retire). It polls if that is due, or if too many wait.
    ///
    /// Cost: constant, amortized, for the records that it grants. Once for some hundred records, and on each call
    /// while too many wait, it is that of [`poll`](Self::poll).
    ///
    /// # Errors
    /// [`Full`](BacklogError::Full) if readers hold back too much, [`OutOfMemory`](BacklogError::OutOfMemory), or
    /// [`Barrier`](BacklogError::Barrier) if as much is held back since barriers are refused. Records that left are with `reclaim` also then; nothing else changed.
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
                // A barrier that is refused may be granted again, and readers may fence by then.
                Err(error) if self.is_full() => return Err(error),
                _ => {}
            }
        }
        if self.is_full() {
            let held = self.held();
            self.stats.refused += 1;
            return Err(BacklogError::Full { held, limit: self.limit });
        }
        // Some more than was asked for, so that the next requests need not come here.
        let room = more.saturating_add(AHEAD);
        // A poll asks for no memory: room for its batches is made here.
        let reserved = self.batches.try_reserve(BATCHES).and_then(|()| self.records.try_reserve(room));
        reserved.map_err(|_| BacklogError::OutOfMemory)?;
        self.room = room;
        Ok(())
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.records.len() >= self.limit
    }

    /// Takes a record of what was unlinked before. Needs no memory, and never fails within what was reserved.
    ///
    /// Cost: constant, and no memory is taken.
    ///
    /// # Errors
    /// The record comes back if there is no room for it. There is for those that were [reserved](Self::reserve), and may be for some
    /// more.
    #[doc(alias = "call_rcu")]
    #[inline]
    pub fn retire(&mut self, record: T) -> Result<(), T> {
        let Some(room) = self.room.checked_sub(1) else { return Err(record) };
        self.room = room;
        self.records.push_back(record);
        self.open += 1;
        Ok(())
    }

    /// Ends an epoch and gives `reclaim` what no reader can reach any more, oldest first. Returns how many that were.
    ///
    /// Cost: a barrier on all threads (some microseconds), and a look at all slots. It waits for nobody.
    ///
    /// # Errors
    /// Barriers are refused, and of some thread nobody knows whether it reads: nothing is given back.
    pub fn poll(&mut self, reclaim: impl FnMut(T)) -> Result<usize, BacklogError> {
        self.stats.polls += 1;
        let Grace { ended, oldest, .. } = self.domain.end_epoch()?;
        self.close(ended);
        Ok(self.reclaim_below(oldest, reclaim))
    }

    /// Waits for the readers of this moment, and gives `reclaim` all that was retired.
    ///
    /// Cost: as [`Domain::synchronize`], and constant for each record that comes back.
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

    /// Gives `reclaim` all that was retired, without waiting: for a writer who knows that no reader can reach it, since the
    /// structure that it came from is the writer's alone by now.
    ///
    /// Cost: constant for each record that comes back.
    pub fn take_all(&mut self, reclaim: impl FnMut(T)) -> usize {
        self.close(0);
        self.reclaim_below(u64::MAX, reclaim)
    }

    /// Makes a batch of what is open.
    fn close(&mut self, epoch: u64) {
        let records = std::mem::take(&mut self.open);
        self.stats.retired += records as u64;
        self.stats.peak = self.stats.peak.max(self.records.len());
        if records == 0 {
            return;
        }
        if self.batches.len() < BATCHES {
            self.batches.push_back(Batch { epoch, records });
        } else if let Some(last) = self.batches.back_mut() {
            // Its older records wait longer than they need to.
            *last = Batch { epoch, records: last.records + records };
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

    /// What it did so far. Cost: constant.
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
