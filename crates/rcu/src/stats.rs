//! Statistics of a domain and of a backlog.

use crate::atomic::Ordering;
use crate::barrier::Mode;
use crate::domain::Domain;
use crate::slot::EPOCH;

/// A domain's counts at one moment. Readers come and go while they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DomainStats {
    /// How stamps are ordered before loads.
    pub mode: Mode,
    /// The epoch.
    pub epoch: u64,
    /// Number of slots, including free ones.
    pub slots: usize,
    /// Slots that belong to a thread or a value.
    pub registered: usize,
    /// Slots with a guard.
    pub reading: usize,
    /// The epoch of the oldest guard, if there is one.
    pub oldest: Option<u64>,
    /// Epochs that ended with a barrier.
    pub grace_periods: u64,
    /// Barriers that the kernel refused.
    pub refused_barriers: u64,
}

impl Domain {
    /// Counts slots and readers. Cost: a scan of all slots.
    #[must_use]
    pub fn stats(&self) -> DomainStats {
        let stamps = || self.every_slot().map(|slot| slot.stamp()).filter(|&stamp| stamp != 0);
        DomainStats {
            mode: self.mode(),
            epoch: self.epoch.load(Ordering::Relaxed) / EPOCH,
            slots: self.every_slot().count(),
            registered: self.slots_and_owners().filter(|&(_, is_owned)| is_owned).count(),
            reading: stamps().count(),
            oldest: stamps().min().map(|stamp| stamp / EPOCH),
            grace_periods: self.grace_periods.load(Ordering::Relaxed),
            refused_barriers: self.refused_barriers.load(Ordering::Relaxed),
        }
    }
}

/// The work of a [`Backlog`](crate::Backlog) so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BacklogStats {
    /// Records that wait for readers.
    pub held: usize,
    /// The most records that waited at one time.
    pub peak: usize,
    /// The most records that it may hold.
    pub limit: usize,
    /// Records that were retired.
    pub retired: u64,
    /// Records that were passed to `reclaim`.
    pub reclaimed: u64,
    /// Polls.
    pub polls: u64,
    /// Requests refused because the backlog was full.
    pub refused: u64,
}
