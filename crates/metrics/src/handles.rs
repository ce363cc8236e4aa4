//! The metrics of the registry, as the facade calls them.

use freehold_percpu::{Counter, Histogram, Value};
use freehold_sys::fork;
use metrics::{CounterFn, GaugeFn, HistogramFn};
use std::sync::{Arc, Mutex};

/// A counter of the registry.
pub(crate) struct PerCpu(pub(crate) Arc<Counter>);

impl CounterFn for PerCpu {
    fn increment(&self, value: u64) {
        self.0.add(value);
    }

    /// Raises the counter to `value`. Concurrent increments are added on top.
    fn absolute(&self, value: u64) {
        // One thread at a time: two that read the same count would both add what is missing.
        static RAISING: Mutex<()> = Mutex::new(());
        let _raising = fork::lock(|| RAISING.lock());
        self.0.add(value.saturating_sub(self.0.get()));
    }
}

/// A settable value of the registry.
pub(crate) struct Level(pub(crate) Arc<Value>);

impl GaugeFn for Level {
    fn increment(&self, value: f64) {
        self.0.add(value);
    }

    fn decrement(&self, value: f64) {
        self.0.add(-value);
    }

    fn set(&self, value: f64) {
        self.0.set(value);
    }
}

/// A histogram of the registry.
pub(crate) struct Sizes {
    pub(crate) histogram: Arc<Histogram>,
    pub(crate) rejected: Arc<Counter>,
    pub(crate) unit: f64,
}

impl HistogramFn for Sizes {
    fn record(&self, value: f64) {
        let whole = (value * self.unit).round();
        // The bound is the first number that does not fit in 64 bits. A small negative value is rounded to 0. NaN is neither.
        if value >= 0.0 && whole < 18_446_744_073_709_551_616.0 {
            self.histogram.record(whole as u64);
        } else {
            self.rejected.add(1);
        }
    }
}
