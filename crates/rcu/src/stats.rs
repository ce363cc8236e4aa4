//! What a domain and a backlog say of themselves.

use crate::atomic::Ordering;
use crate::barrier::Mode;
use crate::domain::Domain;
use crate::slot::EPOCH;

/// A domain at one moment. Readers come and go while it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DomainStats {
    /// How stamps are ordered before loads.
    pub mode: Mode,
    /// The epoch.
    pub epoch: u64,
    /// Slots, free ones included.
    pub slots: usize,
    /// Slots that a thread or a value has.
    pub registered: usize,
    /// Slots on which a guard is held.
    pub reading: usize,
    /// The epoch of the guard that was held longest, if one is.
    pub oldest: Option<u64>,
    /// Epochs that ended with a barrier.
    pub grace_periods: u64,
    /// Barriers that the kernel refused.
    pub refused_barriers: u64,
}

impl Domain {
    /// Counts slots and readers. Cost: a look at each slot.
    #[must_use]
    pub fn stats(&self) -> DomainStats {
        let stamps = || self.slots.iter().map(|slot| slot.stamp()).filter(|&stamp| stamp != 0);
        DomainStats {
            mode: self.mode(),
            epoch: self.epoch.load(Ordering::Relaxed) / EPOCH,
            slots: self.slots.iter().count(),
            registered: self.slots.iter().filter(|slot| slot.is_taken()).count(),
            reading: stamps().count(),
            oldest: stamps().min().map(|stamp| stamp / EPOCH),
            grace_periods: self.grace_periods.load(Ordering::Relaxed),
            refused_barriers: self.refused_barriers.load(Ordering::Relaxed),
        }
    }
}

/// What a [`Backlog`](crate::Backlog) did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BacklogStats {
    /// Records that wait for readers.
    pub held: usize,
    /// The most that waited at one time.
    pub peak: usize,
    /// Records that it may hold.
    pub limit: usize,
    /// Records that were retired.
    pub retired: u64,
    /// Records that came back.
    pub reclaimed: u64,
    /// Polls.
    pub polls: u64,
    /// Requests that were refused since the backlog was full.
    pub refused: u64,
}
