//! Grace periods: how a writer knows that no reader can still reach what it unlinked.
//!
//! 1. Unlink.
//! 2. End the epoch: E becomes E + 1. A reader that publishes E + 1 or later has seen the unlinking (R3).
//! 3. Heavy barrier. A reader whose stamp is not visible behind it has seen the unlinking too (R4).
//! 4. Look at all stamps. What was unlinked before step 2 is out of reach if each is 0 or above E.
//!
//! Epochs are taken from the counter by the very addition that ends them, never by a load: two writers that end epochs at
//! one time get different ones, and a reader that sees the later has seen the unlinking of both.

use crate::atomic::Ordering;
use crate::barrier::Barrier;
use crate::domain::Domain;
use crate::error::SynchronizeError;
use crate::slot::EPOCH;
use freehold_sys::SysError;
#[cfg(not(any(all(test, loom), shuttle)))]
pub use freehold_sys::backoff::wait_while;

/// The end of an epoch, and who reads behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grace {
    /// The epoch that ended.
    pub(crate) ended: u64,
    /// What was unlinked before an epoch below this one ended is out of reach.
    pub(crate) oldest: u64,
    /// Whether a barrier, or fences on both sides, let later looks tell the same. If not, each look needs a fence of its own.
    pub(crate) is_ordered: bool,
}

impl Domain {
    /// Step 2.
    pub(crate) fn advance(&self) -> u64 {
        // Release: pairs with the Acquire of `Slot::publish`. All additions to the epoch are in one release sequence, so a
        // later epoch also shows what was unlinked before this one.
        self.epoch.fetch_add(EPOCH, Ordering::AcqRel)
    }

    /// Step 3.
    pub(crate) fn heavy(&self) -> Result<(), SysError> {
        // Acquire: pairs with the Release of `Domain::oldest_fenced`. What its look saw of the slots, this thread's sees, too.
        if self.all_fenced.load(Ordering::Acquire) {
            return Barrier::Fences.heavy();
        }
        self.barrier().heavy().inspect_err(|_| {
            self.refused_barriers.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Step 4: the oldest epoch in which somebody reads, or `u64::MAX`.
    pub(crate) fn oldest(&self) -> u64 {
        self.slots.iter().map(|slot| slot.stamp()).filter(|&stamp| stamp != 0).min().unwrap_or(u64::MAX)
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

    /// Waits until all guards that are held now are dropped. Guards that begin later are not waited for.
    ///
    /// Cost: a barrier on all threads, and then a look at all slots now and then: first in turn with `yield_now`, then every
    /// 50 to 200 us.
    ///
    /// # Errors
    /// [`Reading`](SynchronizeError::Reading) if this thread holds a guard by [`read`](crate::read) of this domain;
    /// [`Barrier`](SynchronizeError::Barrier) if barriers are refused, and of some thread nobody knows whether it reads. Who holds a guard of a [`Reader`](crate::Reader) or an owned one waits for itself, for ever.
    #[doc(alias = "synchronize_rcu")]
    pub fn synchronize(&self) -> Result<(), SynchronizeError> {
        #[cfg(not(all(test, loom)))]
        if std::ptr::eq(self, Self::global()) && crate::thread::is_reading() {
            return Err(SynchronizeError::Reading);
        }
        let Grace { ended, mut oldest, is_ordered } = self.end_epoch()?;
        let mut failed = None;
        wait_while(|| {
            if is_ordered {
                oldest = self.oldest();
            } else if oldest <= ended {
                match self.end_epoch() {
                    Ok(grace) => oldest = grace.oldest,
                    Err(error) => failed = Some(error),
                }
            }
            oldest <= ended && failed.is_none()
        });
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Waits by letting other threads run.
///
/// Cost: a call of `is_busy` for each time that other threads were let run, until it is false.
#[cfg(any(all(test, loom), shuttle))]
pub fn wait_while(mut is_busy: impl FnMut() -> bool) {
    while is_busy() {
        crate::atomic::yield_now();
    }
}
