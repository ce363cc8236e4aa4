//! A histogram of whole numbers: eight buckets for each power of two.
//!
//! ```text
//!   value    0 1 2 ... 7 | 8 9 ... 15 | 16-17 18-19 ... 30-31 | 32-35 ...                      2^64 - 1
//!   bucket   0 1 2 ... 7 | 8 9 ... 15 | 16    17        23    | 24                              495
//! ```
//!
//! A bucket is at most an eighth of its lower end wide. A record is two adds: to its bucket, and to the sum.
//!
//! **The sum has 128 bits, its word 64.** The counts say in which range the sum lies, since each bucket has a lowest and
//! a highest value. The range is at most an eighth of the sum wide. While that is below 2^64, only one number of the
//! range has the low 64 bits of the word, so the sum is exact, up to 2^67. Beyond that, the range is that of the values
//! since the last read.

use super::buckets::{BUCKETS, bucket_of};
use super::snapshot::HistogramSnapshot;
use crate::AllocError;
use crate::heap::{HeapError, LazyObject, PerCpuHeap};
use freehold_sys::fork::{self, Held};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The word that holds the low 64 bits of the sum.
const SUM: usize = BUCKETS;
const WORDS: usize = BUCKETS + 1;

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
    read: Mutex<Read>,
}

/// What earlier reads left.
#[derive(Debug)]
struct Read {
    /// The slots' values at the last reset; `None` for zeros.
    baseline: Option<HistogramSnapshot>,
    /// The least sum, the highest sum, and the sum of the last read.
    last: Option<[u128; 3]>,
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
        Self {
            object: LazyObject::new(),
            missed: AtomicU64::new(0),
            read: Mutex::new(Read { baseline: None, last: None }),
        }
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

    /// Records a duration in nanoseconds; a longer one than 584 years counts as that long. Cost: as
    /// [`Histogram::record`].
    #[inline]
    pub fn record_duration(&self, duration: Duration) {
        self.record(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// The number of values that were not recorded because there was no memory. Cost: constant.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// The values recorded since the histogram was made or reset. Values that are recorded concurrently may be in the sum
    /// but not in their buckets, or vice versa; all others are in both. If these values add up to about 2^63 or more, the sum
    /// may be off by a multiple of 2^64. Cost: a load for each CPU and each of 497 words.
    #[must_use]
    pub fn snapshot(&self) -> HistogramSnapshot {
        let mut seen = HistogramSnapshot::default();
        self.read_into(&mut seen);
        seen
    }

    /// [`Histogram::snapshot`] into an existing one.
    pub(crate) fn read_into(&self, seen: &mut HistogramSnapshot) {
        // Slots read under the lock are at least as high as those that the last reset read.
        let mut read = self.read();
        self.slots(&mut read.last, seen);
        if let Some(before) = &read.baseline {
            seen.subtract(before);
        }
    }

    /// Resets the histogram and returns the recorded values. Each count, and each part of the sum, is in the result of
    /// exactly one reset, or in later reads. Cost: as [`Histogram::snapshot`].
    pub fn reset(&self) -> HistogramSnapshot {
        let mut read = self.read();
        let mut now = HistogramSnapshot::default();
        self.slots(&mut read.last, &mut now);
        match read.baseline.replace(now.clone()) {
            Some(before) => now.since(&before),
            None => now,
        }
    }

    /// Reads all values that were ever recorded.
    fn slots(&self, last: &mut Option<[u128; 3]>, seen: &mut HistogramSnapshot) {
        seen.counts.resize(BUCKETS, 0);
        let Some(words) = self.object.get() else {
            seen.counts.fill(0);
            seen.sum = 0;
            return;
        };
        // The sum first: a value's count is added before its sum, so most that is in the sum is counted, too.
        let low = words.sum(SUM);
        words.sum_each(&mut seen.counts);
        let (least, most) = seen.sum_range();
        seen.sum = whole_sum(low, (least, most), last.as_ref());
        *last = Some([least, most, seen.sum]);
    }

    fn read(&self) -> Held<MutexGuard<'_, Read>> {
        fork::lock(|| self.read.lock())
    }
}

/// The sum whose low 64 bits are `low`, and which is nearest to the middle of its range. If the range is too wide for
/// that, the range of what was added since the last read counts.
fn whole_sum(low: u64, (least, most): (u128, u128), last: Option<&[u128; 3]>) -> u128 {
    let middle = match last {
        Some([before_least, before_most, sum]) if most - least >= 1 << 63 => {
            let added = least.saturating_sub(*before_least) / 2 + most.saturating_sub(*before_most) / 2;
            sum.saturating_add(added)
        }
        _ => least + (most - least) / 2,
    };
    // From -2^63 to 2^63 - 1.
    let further = low.wrapping_sub(middle as u64).cast_signed();
    let near = middle.saturating_add_signed(i128::from(further));
    // Below half of 2^64, the nearest number may be below 0.
    if near as u64 == low { near } else { u128::from(low) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_128_bits() {
        let histogram = Histogram::new();
        let mut sum = 0_u128;
        // Fewer than eight times 2^64 at once, and read in between: exact however large.
        for round in 0..if cfg!(miri) { 4 } else { 40_u64 } {
            for value in [u64::MAX, u64::MAX - round, 1 << 63, (1 << 62) + 12_345, 7 * round] {
                histogram.record(value);
                sum += u128::from(value);
            }
            let seen = histogram.snapshot();
            assert_eq!(seen.sum(), sum, "round {round}");
            let (least, most) = seen.sum_range();
            assert!(least <= sum && sum <= most && most - least <= least / 8);
        }
        assert!(sum > 1 << 67);
        let taken = histogram.reset();
        histogram.record(5);
        assert_eq!((taken.sum(), histogram.snapshot().sum()), (sum, 5));
    }

    #[test]
    fn a_sum_that_nobody_read_in_time_is_near() {
        let histogram = Histogram::new();
        (0..1000).for_each(|nth| histogram.record(u64::MAX - nth));
        let (sum, right) =
            (histogram.snapshot().sum(), (0..1000).map(|nth| u128::from(u64::MAX - nth)).sum());
        assert!(sum.abs_diff(right) <= right / 16 + (1 << 63), "{sum}, right: {right}");
    }

    #[test]
    fn timers_record_once() {
        let histogram = Histogram::new();
        drop(histogram.timer());
        let stopped = histogram.timer().stop();
        histogram.timer().discard();
        histogram.record_duration(Duration::MAX);
        let seen = histogram.snapshot();
        assert_eq!(seen.count(), 3);
        assert!(seen.sum() >= u128::from(u64::MAX) + stopped.as_nanos());
    }
}
