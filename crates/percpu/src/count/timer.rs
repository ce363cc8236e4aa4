//! A guard that records how long it lived.

use super::Histogram;
use std::time::{Duration, Instant};

/// Records the time since its start in a [`Histogram`], in nanoseconds, when it is dropped: also on an early return and
/// in a panic.
#[derive(Debug)]
#[must_use = "the time is recorded when the timer is dropped"]
pub struct Timer<'a> {
    histogram: &'a Histogram,
    started: Instant,
}

/// Timing.
impl Histogram {
    /// Starts a timer that records the nanoseconds until it is dropped. Cost: a look at the clock, and another with an
    /// [`Histogram::record`] at its end.
    ///
    /// ```
    /// use freehold_percpu::Histogram;
    /// static LATENCY_NS: Histogram = Histogram::new();
    /// {
    ///     let _timer = LATENCY_NS.timer();
    /// }
    /// LATENCY_NS.timer().discard();
    /// assert_eq!(LATENCY_NS.snapshot().count(), 1);
    /// ```
    #[inline]
    pub fn timer(&self) -> Timer<'_> {
        Timer { histogram: self, started: Instant::now() }
    }
}

impl Timer<'_> {
    /// Records the time now, and returns it. Cost: as a drop of the timer.
    pub fn stop(self) -> Duration {
        let elapsed = self.started.elapsed();
        self.histogram.record_duration(elapsed);
        self.discard();
        elapsed
    }

    /// Ends the timer without a record. Cost: constant.
    pub fn discard(self) {
        std::mem::forget(self);
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        self.histogram.record_duration(self.started.elapsed());
    }
}
