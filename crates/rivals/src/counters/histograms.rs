//! Histograms of other crates, and one of plain atomics.

use super::Records;
use metrics_util::storage::AtomicBucket;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Bits of a value below its highest one that tell buckets apart.
const SUB_BITS: u32 = 3;
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) << SUB_BITS;

/// Eight buckets for each power of two, each an atomic that all threads share, and one for the sum.
#[derive(Debug)]
pub struct AtomicBuckets {
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Default for AtomicBuckets {
    fn default() -> Self {
        Self { counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(), sum: AtomicU64::new(0) }
    }
}

impl Records for AtomicBuckets {
    #[inline]
    fn record(&self, value: u64) {
        let bucket = match value.checked_ilog2() {
            Some(highest) if highest >= SUB_BITS => {
                let below = (value >> (highest - SUB_BITS)) as usize & ((1 << SUB_BITS) - 1);
                ((highest - SUB_BITS + 1) as usize) << SUB_BITS | below
            }
            _ => value as usize,
        };
        self.counts[bucket].fetch_add(1, Relaxed);
        self.sum.fetch_add(value, Relaxed);
    }

    fn seen(&self) -> (u64, u64) {
        let count = self.counts.iter().map(|count| count.load(Relaxed)).sum();
        (count, self.sum.load(Relaxed))
    }
}

/// `prometheus-client`: buckets behind a lock, here one for each power of two up to 2^30.
#[derive(Debug)]
pub struct PrometheusHistogram {
    histogram: Histogram,
    registry: Registry,
}

impl Default for PrometheusHistogram {
    fn default() -> Self {
        let histogram = Histogram::new(exponential_buckets(1.0, 2.0, 31));
        let mut registry = Registry::default();
        registry.register("values", "Values.", histogram.clone());
        Self { histogram, registry }
    }
}

impl Records for PrometheusHistogram {
    #[inline]
    fn record(&self, value: u64) {
        self.histogram.observe(value as f64);
    }

    /// As its page shows it. A page that lacks them shows nothing recorded.
    fn seen(&self) -> (u64, u64) {
        let mut page = String::new();
        let shown = encode(&mut page, &self.registry);
        let of = |name: &str| {
            let found = page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
            found.filter(|_| shown.is_ok()).unwrap_or(0.0) as u64
        };
        (of("values_count"), of("values_sum"))
    }
}

/// `metrics-util`: values are kept one by one behind a handle of the `metrics` facade, until they are collected.
pub struct MetricsUtilHistogram {
    handle: metrics::Histogram,
    values: Arc<AtomicBucket<f64>>,
    /// Of what was collected.
    collected: Mutex<(u64, u64)>,
}

impl Default for MetricsUtilHistogram {
    fn default() -> Self {
        let values = Arc::new(AtomicBucket::new());
        Self {
            handle: metrics::Histogram::from_arc(Arc::clone(&values)),
            values,
            collected: Mutex::default(),
        }
    }
}

impl fmt::Debug for MetricsUtilHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsUtilHistogram").field("collected", &self.collected).finish_non_exhaustive()
    }
}

impl Records for MetricsUtilHistogram {
    #[inline]
    fn record(&self, value: u64) {
        self.handle.record(value as f64);
    }

    fn seen(&self) -> (u64, u64) {
        self.collect();
        *self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn collect(&self) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        self.values.clear_with(|values| {
            collected.0 += values.len() as u64;
            collected.1 += values.iter().map(|&value| value as u64).sum::<u64>();
        });
    }
}
