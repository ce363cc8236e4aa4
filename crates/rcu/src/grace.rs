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
        self.heavy()?;
        self.grace_periods.fetch_add(1, Ordering::Relaxed);
        Ok(Grace { ended, oldest: self.oldest() })
    }

    /// Waits until all guards that are held now are dropped. Guards that begin later are not waited for.
    ///
    /// Cost: a barrier on all threads, and then a look at all slots now and then: first in turn with `yield_now`, then every
    /// 50 to 200 us.
    ///
    /// # Errors
    /// [`Reading`](SynchronizeError::Reading) if this thread holds a guard by [`read`](crate::read) of this domain; the kernel refuses
    /// the barrier. Who holds a guard of a [`Reader`](crate::Reader) or an owned one waits for itself, for ever.
    #[doc(alias = "synchronize_rcu")]
    pub fn synchronize(&self) -> Result<(), SynchronizeError> {
        #[cfg(not(all(test, loom)))]
        if std::ptr::eq(self, Self::global()) && crate::thread::is_reading() {
            return Err(SynchronizeError::Reading);
        }
        let ended = self.end_epoch()?.ended;
        wait_while(|| self.oldest() <= ended);
        Ok(())
    }
}

/// Waits by letting other threads run.
///
/// Cost: a call of `is_busy` for each time that other threads were let run, until it is false.
#[cfg(any(all(test, loom), shuttle))]
pub fn wait_while(is_busy: impl Fn() -> bool) {
    while is_busy() {
        crate::atomic::yield_now();
    }
}
