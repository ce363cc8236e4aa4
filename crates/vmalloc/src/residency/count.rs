//! Counts resident free memory without a cache line that all threads write.
//!
//! ```text
//!   thread 0   thread 1   ...      total
//!   +40 KiB    -12 KiB             250 MiB        free: add, then look; past the threshold somebody purges
//!      |          |                   ^
//!      +----------+---- past a share -+
//! ```
//!
//! A block is counted before it is free, and uncounted after it was taken. So the count is never less than the free
//! resident memory, up to the shares of all threads, which together are at most a batch: S6.
//!
//! # Cost
//! A load and a store on the thread's own line, and one load. Threads beyond the first half of the shares pay an atomic
//! addition.

use super::RetainPolicy;
use crate::bits::boxed;
use freehold_sys::{thread_slot, topology};
use freehold_units::OutOfMemory;
use std::sync::atomic::{AtomicI64, Ordering};

/// The count of one or several threads, on a cache line of its own. Each share in the first half has one thread, by its
/// number; later threads share the second half.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Share(AtomicI64);

/// Bytes of free memory that may have pages.
#[derive(Debug)]
pub(crate) struct ResidentCount {
    /// The sum that shares have passed on.
    total: AtomicI64,
    shares: Box<[Share]>,
    /// The amount, positive or negative, from which a share passes its count on.
    most: u64,
    threshold: i64,
}

impl ResidentCount {
    pub(crate) fn new(policy: RetainPolicy) -> Result<Self, OutOfMemory> {
        let count = (4 * topology::possible_cpus()).clamp(2, 64).next_power_of_two() as usize;
        Ok(Self {
            total: AtomicI64::new(0),
            shares: boxed(count, Share::default)?,
            most: policy.batch_bytes() / count as u64,
            threshold: i64::try_from(policy.bytes).unwrap_or(i64::MAX),
        })
    }

    /// Adds a signed number of bytes. Only sums matter, so all accesses are Relaxed.
    #[inline]
    fn change(&self, bytes: i64) {
        let (own, shared) = self.shares.split_at(self.shares.len() / 2);
        let number = thread_slot::id() as usize;
        let Some(Share(share)) = own.get(number) else {
            // The number of shared counts is a power of two.
            return self.change_shared(&shared[number & (shared.len() - 1)].0, bytes);
        };
        // No other thread has this number, now or later, so no other thread writes here.
        let now = share.load(Ordering::Relaxed).wrapping_add(bytes);
        if self.is_share(now) {
            share.store(now, Ordering::Relaxed);
        } else {
            share.store(0, Ordering::Relaxed);
            self.total.fetch_add(now, Ordering::Relaxed);
        }
    }

    /// As [`change`](Self::change), for a count that several threads share.
    #[inline(never)]
    fn change_shared(&self, share: &AtomicI64, bytes: i64) {
        let now = share.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
        if !self.is_share(now) {
            self.total.fetch_add(share.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    #[inline]
    fn is_share(&self, bytes: i64) -> bool {
        bytes.unsigned_abs() <= self.most
    }

    /// Counts memory that is about to be free. `true` if the threshold is exceeded.
    #[inline]
    pub(crate) fn add(&self, bytes: u64) -> bool {
        self.change(bytes as i64);
        self.is_over()
    }

    /// Uncounts memory that was taken or decommitted.
    #[inline]
    pub(crate) fn sub(&self, bytes: u64) {
        self.change((bytes as i64).wrapping_neg());
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.total.load(Ordering::Relaxed) > self.threshold
    }

    /// The count, exact while no thread changes it.
    pub(crate) fn bytes(&self) -> u64 {
        let shares = self.shares.iter().map(|share| share.0.load(Ordering::Relaxed)).sum::<i64>();
        u64::try_from(self.total.load(Ordering::Relaxed).saturating_add(shares)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_seen_within_a_batch() {
        let policy = RetainPolicy::bytes(1 << 20);
        let resident = ResidentCount::new(policy).unwrap();
        let mut bytes = 0;
        while !resident.add(4096) {
            bytes += 4096;
        }
        assert!(bytes <= (1 << 20) + policy.batch_bytes(), "{bytes}");
        assert_eq!(resident.bytes(), bytes + 4096);
        resident.sub(bytes + 4096);
        assert!(resident.bytes() == 0 && !resident.is_over());
        let nothing = ResidentCount::new(RetainPolicy::nothing()).unwrap();
        assert!(nothing.add(1));
    }

    #[test]
    fn what_one_thread_adds_another_takes_away() {
        let resident = ResidentCount::new(RetainPolicy::bytes(64 << 20)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| assert!(!resident.add(8192))));
            }
        });
        assert_eq!(resident.bytes(), 4000 * 8192);
        resident.sub(4000 * 8192);
        assert_eq!(resident.bytes(), 0);
    }
}
