//! A histogram of whole numbers: eight buckets for each power of two.
//!
//! ```text
//!   value    0 1 2 ... 7 | 8 9 ... 15 | 16-17 18-19 ... 30-31 | 32-35 ...                      2^64 - 1
//!   bucket   0 1 2 ... 7 | 8 9 ... 15 | 16    17        23    | 24                              495
//! ```
//!
//! A bucket is at most an eighth of its lower end wide. A record is two adds: to its bucket, and to the sum.

use crate::AllocError;
use crate::heap::{HeapError, LazyObject, PerCpuHeap};
use freehold_sys::fork::{self, Held};
use std::fmt;
use std::iter::FusedIterator;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::vec::Vec;

/// Number of bits below a value's highest one that select the bucket.
const SUB_BITS: u32 = 3;
const SUBS: usize = 1 << SUB_BITS;
/// Buckets of a histogram.
pub const BUCKETS: usize = (u64::BITS - SUB_BITS + 1) as usize * SUBS;
/// The word that holds the sum.
const SUM: usize = BUCKETS;
const WORDS: usize = BUCKETS + 1;

/// The bucket of a value.
#[inline]
fn bucket_of(value: u64) -> usize {
    // The `| SUBS` makes each small value its own bucket without a branch.
    let shift = (u64::BITS - SUB_BITS - 1).saturating_sub((value | SUBS as u64).leading_zeros());
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// The values of a bucket: the lowest and the highest.
fn values_of(bucket: usize) -> (u64, u64) {
    let shift = (bucket / SUBS).saturating_sub(1) as u32;
    let first = ((bucket - ((shift as usize) << SUB_BITS)) as u64) << shift;
    (first, first + ((1 << shift) - 1))
}

/// Counts values by size, from any thread. It takes 3,976 bytes for each CPU.
///
/// ```
/// use freehold_percpu::Histogram;
/// static LATENCY_NS: Histogram = Histogram::new();
/// for value in [120, 130, 5000] {
///     LATENCY_NS.record(value);
/// }
/// let seen = LATENCY_NS.snapshot();
/// assert_eq!((seen.count(), seen.sum()), (3, 5250));
/// assert_eq!(seen.quantile(0.5), Some((128, 143)));
/// assert_eq!(LATENCY_NS.reset(), seen);
/// assert_eq!(LATENCY_NS.snapshot().count(), 0);
/// ```
pub struct Histogram {
    object: LazyObject<WORDS>,
    /// Number of values that were not recorded because there was no memory.
    missed: AtomicU64,
    /// The slots' values at the last reset; `None` for zeros.
    baseline: Mutex<Option<HistogramSnapshot>>,
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shows nothing behind a lock: the formatter is the caller's code.
        f.debug_struct("Histogram").field("missed", &self.missed).finish_non_exhaustive()
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// A histogram without values and without memory. Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self { object: LazyObject::new(), missed: AtomicU64::new(0), baseline: Mutex::new(None) }
    }

    /// A histogram without values in a heap. Cost: as [`PerCpuHeap::alloc`].
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_heap(heap: &'static PerCpuHeap) -> Result<Self, AllocError> {
        Ok(Self { object: LazyObject::in_heap(heap)?, ..Self::new() })
    }

    /// Takes the memory now, as [`Counter::prepare`](super::Counter::prepare).
    ///
    /// Cost: as [`PerCpuHeap::alloc`]; constant once there is memory.
    ///
    /// # Errors
    /// There is no memory, or no global heap.
    pub fn prepare(&self) -> Result<(), HeapError> {
        self.object.make().map(|_| ())
    }

    /// Records a value. While there is no memory, values are only [counted as missed](Self::missed).
    ///
    /// Cost: constant, two adds, once there is memory.
    #[inline]
    pub fn record(&self, value: u64) {
        match self.object.get() {
            Some(words) => words.add_two((bucket_of(value), 1), (SUM, value)),
            None => self.record_first(value),
        }
    }

    #[cold]
    fn record_first(&self, value: u64) {
        match self.object.make() {
            Ok(words) => words.add_two((bucket_of(value), 1), (SUM, value)),
            Err(_) => {
                self.missed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// The number of values that were not recorded because there was no memory. Cost: constant.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// The values recorded since the histogram was made or reset. A concurrent record may be in the sum but not in its
    /// bucket, or vice versa. Cost: a load for each CPU and each of 497 words.
    #[must_use]
    pub fn snapshot(&self) -> HistogramSnapshot {
        // Slots read under the lock are at least as high as those that the last reset read.
        let baseline = self.baseline();
        let now = self.slots();
        match &*baseline {
            Some(before) => now.since(before),
            None => now,
        }
    }

    /// Resets the histogram and returns the recorded values. Each count, and each part of the sum, is in the result of
    /// exactly one reset, or in later reads. Cost: as [`Histogram::snapshot`].
    pub fn reset(&self) -> HistogramSnapshot {
        let mut baseline = self.baseline();
        let now = self.slots();
        match baseline.replace(now.clone()) {
            Some(before) => now.since(&before),
            None => now,
        }
    }

    /// All values that were ever recorded.
    fn slots(&self) -> HistogramSnapshot {
        let words = self.object.get();
        let word = |index| words.map_or(0, |words| words.sum(index));
        HistogramSnapshot { counts: (0..BUCKETS).map(word).collect(), sum: word(SUM) }
    }

    fn baseline(&self) -> Held<MutexGuard<'_, Option<HistogramSnapshot>>> {
        fork::lock(|| self.baseline.lock())
    }
}

/// The values that a histogram had recorded at one moment, or between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramSnapshot {
    counts: Vec<u64>,
    sum: u64,
}

impl HistogramSnapshot {
    /// The number of recorded values. Cost: a step for each of 496 buckets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().copied().fold(0, u64::wrapping_add)
    }

    /// The sum of the recorded values, modulo 2^64. Cost: constant.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The values recorded after `earlier`, a snapshot of the same histogram. Cost: a step for each of 497 words.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = self.counts.iter().zip(&earlier.counts).map(|(now, then)| now.wrapping_sub(*then));
        Self { counts: counts.collect(), sum: self.sum.wrapping_sub(earlier.sum) }
    }

    /// The nonempty buckets: the lowest and the highest value of each, and its number of recorded values.
    ///
    /// Cost: a step for each of 496 buckets.
    pub fn buckets(&self) -> impl FusedIterator<Item = (u64, u64, u64)> {
        let all = self.counts.iter().enumerate().filter(|(_, count)| **count != 0);
        all.map(|(bucket, &count)| {
            let (first, last) = values_of(bucket);
            (first, last, count)
        })
    }

    /// The number of values up to `most`, which should be the highest value of a bucket. Otherwise the bucket of `most`
    /// is not counted.
    ///
    /// Cost: a step for each bucket up to `most`.
    #[must_use]
    pub fn count_up_to(&self, most: u64) -> u64 {
        let below = self.buckets().take_while(|&(_, last, _)| last <= most);
        below.map(|(_, _, count)| count).fold(0, u64::wrapping_add)
    }

    /// The lowest and the highest value of the bucket that contains the value at `quantile`: 0 is the first value, 0.5
    /// the median, 1 the last. `None` if nothing was recorded, or for a quantile outside 0 to 1. Cost: a step for each
    /// of 496 buckets.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<(u64, u64)> {
        if !(0.0..=1.0).contains(&quantile) {
            return None;
        }
        let wanted = ((quantile * self.count() as f64).ceil() as u64).max(1);
        let mut passed = 0_u64;
        self.buckets().find_map(|(first, last, count)| {
            passed = passed.saturating_add(count);
            (passed >= wanted).then_some((first, last))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another_and_hold_their_values() {
        let mut next = 0_u64;
        for bucket in 0..BUCKETS {
            let (first, last) = values_of(bucket);
            assert_eq!(first, next, "bucket {bucket}");
            assert!(first <= last && last - first <= first / 8);
            for value in [first, first + (last - first) / 2, last] {
                assert_eq!(bucket_of(value), bucket, "{value}");
            }
            next = last.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends at the largest value");
    }

    #[test]
    fn quantiles() {
        let counts = |pairs: &[(u64, u64)]| {
            let mut counts = std::vec![0; BUCKETS];
            pairs.iter().for_each(|&(value, count)| counts[bucket_of(value)] += count);
            HistogramSnapshot { counts, sum: 0 }
        };
        let seen = counts(&[(1, 50), (100, 49), (1000, 1)]);
        assert_eq!(seen.quantile(0.0), Some((1, 1)));
        assert_eq!(seen.quantile(0.5), Some((1, 1)));
        assert_eq!(seen.quantile(0.51), Some((96, 103)));
        assert_eq!(seen.quantile(1.0), Some((960, 1023)));
        assert_eq!(seen.quantile(1.1), None);
        assert_eq!(seen.quantile(f64::NAN), None);
        assert_eq!(counts(&[]).quantile(0.5), None);
        assert_eq!((seen.count_up_to(1), seen.count_up_to(102), seen.count_up_to(103)), (50, 50, 99));
        assert_eq!(seen.since(&counts(&[(1, 20)])), counts(&[(1, 30), (100, 49), (1000, 1)]));
    }
}
