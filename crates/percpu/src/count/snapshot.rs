//! The values of a histogram at one moment: counts by bucket, and the sum.

use super::buckets::{BUCKETS, values_of};
use crate::OutOfMemory;
use std::iter::FusedIterator;
use std::vec::Vec;

/// The values that a histogram had recorded at one moment, or between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramSnapshot {
    /// One for each bucket.
    pub(super) counts: Vec<u64>,
    pub(super) sum: u128,
}

impl Default for HistogramSnapshot {
    /// No values.
    fn default() -> Self {
        Self { counts: std::vec![0; BUCKETS], sum: 0 }
    }
}

impl HistogramSnapshot {
    /// No values, or no memory for them.
    pub(crate) fn try_new() -> Result<Self, OutOfMemory> {
        let mut counts = Vec::new();
        counts.try_reserve_exact(BUCKETS).map_err(|_| OutOfMemory)?;
        counts.resize(BUCKETS, 0);
        Ok(Self { counts, sum: 0 })
    }

    /// The number of recorded values. Cost: a step for each of 496 buckets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().copied().fold(0, u64::wrapping_add)
    }

    /// The sum of the recorded values. It is exact below 2^67, and above if no more than that was added between two
    /// reads; otherwise it differs by at most a sixteenth of what was added since the last read, plus 2^63. Values that were
    /// recorded during the read may not be in it ([`Histogram::snapshot`](super::Histogram::snapshot)). Cost: constant.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The least and the highest sum of values that these counts allow: they differ by at most an eighth. A sum that is
    /// read while values are recorded may be outside. Cost: a step for each of 496 buckets.
    #[must_use]
    pub fn sum_range(&self) -> (u128, u128) {
        let mut range = (0_u128, 0_u128);
        for (first, last, count) in self.buckets() {
            let times = |value: u64| u128::from(value) * u128::from(count);
            range = (range.0.saturating_add(times(first)), range.1.saturating_add(times(last)));
        }
        range
    }

    /// The number of values in the buckets below each of `ends`, which rise, then the number of all values.
    pub(crate) fn counts_below(&self, ends: impl Iterator<Item = usize>, mut each: impl FnMut(u64)) {
        let (mut at, mut count) = (0, 0_u64);
        for end in ends.chain([BUCKETS]) {
            count = self.counts[at..end].iter().copied().fold(count, u64::wrapping_add);
            at = end;
            each(count);
        }
    }

    /// The values recorded after `earlier`, a snapshot of the same histogram. Cost: a step for each of 497 words.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        since.subtract(earlier);
        since
    }

    pub(super) fn subtract(&mut self, earlier: &Self) {
        for (now, then) in self.counts.iter_mut().zip(&earlier.counts) {
            *now = now.wrapping_sub(*then);
        }
        self.sum = self.sum.saturating_sub(earlier.sum);
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
        let count = self.count();
        // A float may be above the count.
        let wanted = ((quantile * count as f64).ceil() as u64).min(count).max(1);
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
    use crate::count::bucket_of;

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
        // As a float, this count is one higher.
        assert_eq!(counts(&[(1, (1 << 53) + 3)]).quantile(1.0), Some((1, 1)));
        assert_eq!((seen.count_up_to(1), seen.count_up_to(102), seen.count_up_to(103)), (50, 50, 99));
        assert_eq!(seen.since(&counts(&[(1, 20)])), counts(&[(1, 30), (100, 49), (1000, 1)]));
    }
}
