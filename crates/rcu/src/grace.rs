//! Grace periods: how a writer knows that no reader can still reach what it unlinked.
//!
//! 1. Unlink.
//! 2. End the epoch: E becomes E + 1. A reader that publishes E + 1 or later has seen the unlinking (R3).
//! 3. Heavy barrier. A reader whose stamp is not visible after it has seen the unlinking too (R4).
//! 4. Scan all stamps. What was unlinked before step 2 is out of reach if each stamp is 0 or above E.
//!
//! The addition that ends an epoch also returns it; a writer never loads the counter. So two writers that end epochs at
//! the same time get different ones, and a reader of the later epoch has seen the unlinking of both.

use crate::atomic::Ordering;
use crate::barrier::Barrier;
use crate::domain::Domain;
use crate::error::SynchronizeError;
use crate::slot::{EPOCH, Slot};
use freehold_sys::SysError;
#[cfg(not(any(all(test, loom), shuttle)))]
pub use freehold_sys::backoff::wait_while;
use std::time::{Duration, Instant};

/// The end of an epoch, and the oldest reader after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grace {
    /// The epoch that ended.
    pub(crate) ended: u64,
    /// Everything unlinked before the end of an epoch below this one is out of reach.
    pub(crate) oldest: u64,
    /// Whether a barrier, or fences on both sides, cover later scans, too. If not, each scan needs a fence of its own.
    pub(crate) is_ordered: bool,
}

impl Domain {
    /// Step 2.
    pub(crate) fn advance(&self) -> u64 {
        // Release: pairs with the Acquire of `Slot::publish`. All additions to the epoch are in one release sequence,
        // so a later epoch also shows what was unlinked before this one.
        self.epoch.fetch_add(EPOCH, Ordering::AcqRel)
    }

    /// Step 3.
    pub(crate) fn heavy(&self) -> Result<(), SysError> {
        // Acquire: pairs with the Release of `Domain::oldest_fenced`. This thread sees everything that its scan saw of
        // the slots.
        if self.all_fenced.load(Ordering::Acquire) {
            return Barrier::Fences.heavy();
        }
        self.barrier().heavy().inspect_err(|_| {
            self.refused_barriers.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Step 4: the oldest epoch in which a reader is active, or `u64::MAX`.
    pub(crate) fn oldest(&self) -> u64 {
        self.every_slot().map(|slot| slot.stamp()).filter(|&stamp| stamp != 0).min().unwrap_or(u64::MAX)
    }

    /// The epoch of the oldest reader, and the thread that made its guard.
    pub(crate) fn oldest_with_thread(&self) -> Option<(u64, Option<u32>)> {
        let readers =
            self.every_slot().map(|slot| (slot.stamp(), slot.tid())).filter(|&(stamp, _)| stamp != 0);
        readers.min_by_key(|&(stamp, _)| stamp)
    }

    /// The slots of values and of threads, including free ones.
    pub(crate) fn every_slot(&self) -> impl Iterator<Item = &Slot> {
        #[cfg(not(all(test, loom)))]
        return self.slots.iter().chain(self.threads.iter());
        #[cfg(all(test, loom))]
        self.slots.iter()
    }

    /// Whether it has a slot. Where a domain is tells nothing: one that is moved takes its inline slots along, and the
    /// threads that own them.
    pub(crate) fn has_slot(&self, slot: &Slot) -> bool {
        #[cfg(not(all(test, loom)))]
        return self.slots.has(slot) || self.threads.has(slot);
        #[cfg(all(test, loom))]
        self.slots.has(slot)
    }

    /// Steps 2 to 4.
    pub(crate) fn end_epoch(&self) -> Result<Grace, SysError> {
        let ended = self.advance();
        let (oldest, is_ordered) = match self.heavy() {
            Ok(()) => (self.oldest(), true),
            Err(error) => (self.without_barrier(error)?, false),
        };
        self.grace_periods.fetch_add(1, Ordering::Relaxed);
        Ok(Grace { ended, oldest, is_ordered })
    }

    /// Waits until all guards held now are dropped. Guards that begin later are not waited for.
    ///
    /// Cost: a barrier on all threads, then a scan of all slots from time to time: at first alternating with
    /// `yield_now`, later every 50 to 200 us.
    ///
    /// # Errors
    /// [`Reading`](SynchronizeError::Reading) if this thread holds a guard by [`read`](Self::read) of this domain;
    /// [`NoGracePeriod`](SynchronizeError::NoGracePeriod) if barriers are refused and a thread that has not fenced yet may be
    /// reading. A thread that holds an owned guard, a guard of a [`Reader`](crate::Reader), or one that it took at its
    /// end, as its thread-locals were dropped, waits for itself for ever.
    #[doc(alias = "synchronize_rcu")]
    pub fn synchronize(&self) -> Result<(), SynchronizeError> {
        self.wait_for_readers(None)
    }

    /// As [`synchronize`](Self::synchronize), for at most `limit`.
    ///
    /// Cost: as [`synchronize`](Self::synchronize). The wait ends up to 200 us after the limit.
    ///
    /// # Errors
    /// As [`synchronize`](Self::synchronize), or [`TimedOut`](SynchronizeError::TimedOut).
    pub fn synchronize_for(&self, limit: Duration) -> Result<(), SynchronizeError> {
        // A limit beyond what the clock can express is none.
        self.wait_for_readers(Instant::now().checked_add(limit))
    }

    fn wait_for_readers(&self, until: Option<Instant>) -> Result<(), SynchronizeError> {
        #[cfg(not(all(test, loom)))]
        if self.is_reading() {
            return Err(SynchronizeError::Reading);
        }
        let Grace { ended, mut oldest, is_ordered } = self.end_epoch()?;
        let mut failed: Option<SynchronizeError> = None;
        wait_while(|| {
            if is_ordered {
                oldest = self.oldest();
            } else if oldest <= ended {
                match self.end_epoch() {
                    Ok(grace) => oldest = grace.oldest,
                    Err(error) => failed = Some(error.into()),
                }
            }
            let is_busy = oldest <= ended && failed.is_none();
            if is_busy && until.is_some_and(|until| Instant::now() >= until) {
                failed = Some(SynchronizeError::TimedOut);
            }
            is_busy && failed.is_none()
        });
        failed.map_or(Ok(()), Err)
    }
}

/// Waits by letting other threads run.
///
/// Cost: a call of `is_busy` after each yield to other threads, until it is false.
#[cfg(any(all(test, loom), shuttle))]
pub fn wait_while(mut is_busy: impl FnMut() -> bool) {
    while is_busy() {
        crate::atomic::yield_now();
    }
}
