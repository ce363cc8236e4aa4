//! How much free memory is resident, counted without a cache line that all threads write to.
//!
//! ```text
//!   thread 0   thread 1   ...      total
//!   +40 KiB    -12 KiB             250 MiB        free: add, then look; past the threshold somebody purges
//!      |          |                   ^
//!      +----------+---- past a share -+
//! ```
//!
//! A block is counted before it is free, and no longer counted after it was taken. So what is counted is never less than
//! what is free and resident, and the shares of all threads together are a batch: S6.
//!
//! # Cost
//! A load and a store on a line of the thread's own, and one load; of a thread after so many others, an atomic addition.

use super::RetainPolicy;
use freehold_sys::{thread_slot, topology};
use freehold_units::OutOfMemory;
use std::sync::atomic::{AtomicI64, Ordering};

/// The count of a thread, or of several, on a cache line of its own. The first half of them have one thread each, by its number;
/// later threads share the others.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Share(AtomicI64);

/// Bytes of free memory that may have pages.
#[derive(Debug)]
pub(crate) struct ResidentCount {
    /// What shares have handed on.
    total: AtomicI64,
    shares: Box<[Share]>,
    /// What a share may have before it hands it on, more or less than nothing.
    most: u64,
    threshold: i64,
}

impl ResidentCount {
    pub(crate) fn new(policy: RetainPolicy) -> Result<Self, OutOfMemory> {
        let count = (4 * topology::possible_cpus()).clamp(2, 64).next_power_of_two() as usize;
        let mut shares = Vec::new();
        shares.try_reserve_exact(count)?;
        shares.resize_with(count, Share::default);
        Ok(Self {
            total: AtomicI64::new(0),
            shares: shares.into_boxed_slice(),
            most: policy.batch_bytes() / count as u64,
            threshold: i64::try_from(policy.bytes).unwrap_or(i64::MAX),
        })
    }

    /// Adds, or takes away. Only sums matter, so all of it is Relaxed.
    #[inline]
    fn change(&self, bytes: i64) {
        let (own, shared) = self.shares.split_at(self.shares.len() / 2);
        let number = thread_slot::number() as usize;
        let Some(Share(share)) = own.get(number) else {
            // The count is a power of two.
            return self.change_shared(&shared[number & (shared.len() - 1)].0, bytes);
        };
        // No other thread has the number, now or later: none writes here.
        let now = share.load(Ordering::Relaxed).wrapping_add(bytes);
        if self.is_share(now) {
            share.store(now, Ordering::Relaxed);
        } else {
            share.store(0, Ordering::Relaxed);
            self.total.fetch_add(now, Ordering::Relaxed);
        }
    }

    /// The same of a count that several threads have.
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

    /// Counts what is about to be free. True if that is past the threshold.
    #[inline]
    pub(crate) fn add(&self, bytes: u64) -> bool {
        self.change(bytes as i64);
        self.is_over()
    }

    /// Counts what was taken, or given back.
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
