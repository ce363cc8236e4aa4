//! Counters and histograms that a program might use instead: atomics, sharded counters, and those of metrics libraries.
//!
//! Each is used as its documentation shows, by a handle that is looked up once.

mod atomics;
mod histograms;
mod libraries;

pub use atomics::{Padded, PaddedThreads, SharedAtomic};
pub use histograms::{AtomicBuckets, MetricsUtilHistogram, PrometheusHistogram};
pub use libraries::{Contatori, FastCounter, MetricsUtil, Prometheus, ThreadLocals};

/// Counts up, from any thread.
pub trait Counts: Sync {
    /// Adds.
    fn add(&self, value: u64);

    /// All that was added.
    fn total(&self) -> u64;
}

/// Counts values by size, from any thread.
pub trait Records: Sync {
    /// Records a value.
    fn record(&self, value: u64);

    /// How many values were recorded, and their sum.
    fn seen(&self) -> (u64, u64);

    /// Forgets what need not be kept, where values are kept one by one until they are collected.
    fn collect(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counter: &dyn Counts) {
        std::thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(|| (0..1000).for_each(|add| counter.add(add)))));
        });
        assert_eq!(counter.total(), 3 * 499_500);
    }

    fn records(histogram: &dyn Records) {
        std::thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(|| (0..1000).for_each(|value| histogram.record(value)))));
        });
        assert_eq!(histogram.seen(), (3000, 3 * 499_500));
        histogram.collect();
        histogram.record(7);
        assert_eq!(histogram.seen(), (3001, 3 * 499_500 + 7));
    }

    #[test]
    fn sums_are_exact() {
        counts(&SharedAtomic::default());
        counts(&PaddedThreads::new(2));
        counts(&Contatori::default());
        counts(&FastCounter::new(2));
        counts(&ThreadLocals::default());
        counts(&Prometheus::default());
        counts(&MetricsUtil::default());
        records(&AtomicBuckets::default());
        records(&PrometheusHistogram::default());
        records(&MetricsUtilHistogram::default());
    }
}
