//! Counters of other crates.

use super::Counts;
use contatori::counters::unsigned::Unsigned;
use contatori::counters::{CounterValue, Observable};
use fast_counter::ConcurrentCounter;
use metrics::Key;
use metrics_util::registry::{AtomicStorage, Registry};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use thread_local::ThreadLocal;

/// `contatori`: 128 shards, each on cache lines of its own, chosen by thread.
#[derive(Debug)]
pub struct Contatori(Unsigned);

impl Default for Contatori {
    fn default() -> Self {
        Self(Unsigned::new())
    }
}

impl Counts for Contatori {
    #[inline]
    fn add(&self, value: u64) {
        self.0.add(value as usize);
    }

    fn total(&self) -> u64 {
        match self.0.value() {
            CounterValue::Unsigned(value) => value,
            CounterValue::Signed(value) => value.cast_unsigned(),
            CounterValue::Float(value) => value as u64,
        }
    }
}

/// `fast-counter`: as many shards as asked for, chosen by thread.
#[derive(Debug)]
pub struct FastCounter(ConcurrentCounter);

impl FastCounter {
    /// With at least as many shards.
    #[must_use]
    pub fn new(shards: u32) -> Self {
        Self(ConcurrentCounter::new(shards as usize))
    }
}

impl Counts for FastCounter {
    #[inline]
    fn add(&self, value: u64) {
        self.0.add(value.cast_signed() as isize);
    }

    fn total(&self) -> u64 {
        (self.0.sum() as i64).cast_unsigned()
    }
}

/// `thread_local`: a value for each thread, found by the thread's number, summed over all that ever were.
#[derive(Debug, Default)]
pub struct ThreadLocals(ThreadLocal<AtomicU64>);

impl Counts for ThreadLocals {
    /// Only its own thread writes to a value, so a load and a store do.
    #[inline]
    fn add(&self, value: u64) {
        let own = self.0.get_or_default();
        own.store(own.load(Relaxed).wrapping_add(value), Relaxed);
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|own| own.load(Relaxed)).fold(0, u64::wrapping_add)
    }
}

/// `prometheus-client`: an atomic behind an `Arc`.
#[derive(Debug, Default)]
pub struct Prometheus(prometheus_client::metrics::counter::Counter);

impl Counts for Prometheus {
    #[inline]
    fn add(&self, value: u64) {
        self.0.inc_by(value);
    }

    fn total(&self) -> u64 {
        self.0.get()
    }
}

/// `metrics-util`: what its registry gives for a key, behind a handle of the `metrics` facade.
pub struct MetricsUtil {
    handle: metrics::Counter,
    counter: Arc<AtomicU64>,
}

impl Default for MetricsUtil {
    fn default() -> Self {
        let registry: Registry<Key, AtomicStorage> = Registry::atomic();
        let counter = registry.get_or_create_counter(&Key::from_name("requests"), Arc::clone);
        Self { handle: metrics::Counter::from_arc(Arc::clone(&counter)), counter }
    }
}

impl fmt::Debug for MetricsUtil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MetricsUtil").field(&self.counter).finish()
    }
}

impl Counts for MetricsUtil {
    #[inline]
    fn add(&self, value: u64) {
        self.handle.increment(value);
    }

    fn total(&self) -> u64 {
        self.counter.load(Relaxed)
    }
}
