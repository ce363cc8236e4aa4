//! A recorder for the `metrics` facade that counts in per-CPU memory: a program that uses the facade changes one line.
//!
//! ```
//! let registry = freehold_metrics::Recorder::new().install()?;
//!
//! let hits = metrics::counter!("http_requests_total", "path" => "/");
//! hits.increment(2);
//! metrics::histogram!("http_seconds").record(0.25);
//! let text = registry.render();
//! assert!(text.contains("http_requests_total{path=\"/\"} 2"));
//! assert!(text.contains("http_seconds_sum 0.25"));
//! # Ok::<(), metrics::SetRecorderError<freehold_metrics::Recorder>>(())
//! ```
//!
//! - Counters and histograms are per-CPU. A handle that is kept adds in a few nanoseconds; the macros look the handle
//!   up each time, which costs more than the add.
//! - Gauges are set as often as they are added to, so each is one atomic number.
//! - A histogram stores whole multiples of a unit, by default 1e-9: seconds are stored as nanoseconds, up to 1.8e10.
//!   Its buckets are an eighth wide.
//! - Names and labels are made valid for Prometheus in the usual way: each invalid character becomes `_`.
//! - Refused input is counted in `freehold_metrics_rejected_total`: a histogram's value that is negative, not a number
//!   or too large; and a metric of another kind under a name that is taken.

#![forbid(unsafe_code)]

use freehold_percpu::registry::Registry;
use freehold_percpu::{Counter, Histogram, Value};
use metrics::{
    CounterFn, GaugeFn, HistogramFn, Key, KeyName, Metadata, SetRecorderError, SharedString, Unit,
};
use std::sync::Arc;

/// A histogram stores values as multiples of 1 divided by this number.
const DEFAULT_UNIT: f64 = 1e9;
const REJECTED: &str = "freehold_metrics_rejected_total";

/// Recorder for the `metrics` facade.
#[derive(Debug)]
pub struct Recorder {
    registry: Arc<Registry>,
    rejected: Arc<Counter>,
    unit: f64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorder {
    /// A recorder with a registry of its own.
    #[must_use]
    pub fn new() -> Self {
        let registry = Arc::new(Registry::new());
        let rejected = registry.counter(REJECTED, &[]).unwrap_or_default();
        Self { registry, rejected, unit: DEFAULT_UNIT }
    }

    /// Sets the unit of histograms: values are stored as whole multiples of `1 / unit`. A unit of 1 suits sizes in
    /// bytes.
    #[must_use]
    pub fn unit(self, unit: f64) -> Self {
        Self { unit, ..self }
    }

    /// Makes this the recorder of the whole program. Returns its registry, for the page that shows the values.
    ///
    /// # Errors
    /// The program already has a recorder.
    pub fn install(self) -> Result<Arc<Registry>, SetRecorderError<Self>> {
        let registry = self.registry();
        metrics::set_global_recorder(self)?;
        Ok(registry)
    }

    /// Its registry, for the page that shows the values.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    /// Registers a metric under its key's name and labels, in Prometheus's form. Counts a refusal.
    fn register<T, E>(
        &self,
        key: &Key,
        get: impl FnOnce(&str, &[(&str, &str)]) -> Result<T, E>,
    ) -> Option<T> {
        let name = sanitized(key.name());
        let labels: Vec<_> =
            key.labels().map(|label| (sanitized_label(label.key()), label.value())).collect();
        let labels: Vec<_> = labels.iter().map(|(label, value)| (label.as_str(), *value)).collect();
        get(&name, &labels).inspect_err(|_| self.rejected.add(1)).ok()
    }

    fn describe(&self, name: &KeyName, text: &SharedString) {
        if self.registry.describe(&sanitized(name.as_str()), text).is_err() {
            self.rejected.add(1);
        }
    }
}

/// A name in which each character that Prometheus does not accept is `_`.
fn sanitized(name: &str) -> String {
    let known = |at: usize, c: char| c.is_ascii_alphabetic() || c == '_' || at > 0 && c.is_ascii_digit();
    name.chars().enumerate().map(|(at, c)| if known(at, c) { c } else { '_' }).collect()
}

/// As `sanitized`, for a label. Its name must not begin with two `_`, which Prometheus reserves.
fn sanitized_label(name: &str) -> String {
    let name = sanitized(name);
    if name.starts_with("__") { format!("_{}", name.trim_start_matches('_')) } else { name }
}

impl metrics::Recorder for Recorder {
    fn describe_counter(&self, key: KeyName, _unit: Option<Unit>, description: SharedString) {
        self.describe(&key, &description);
    }

    fn describe_gauge(&self, key: KeyName, _unit: Option<Unit>, description: SharedString) {
        self.describe(&key, &description);
    }

    fn describe_histogram(&self, key: KeyName, _unit: Option<Unit>, description: SharedString) {
        self.describe(&key, &description);
    }

    fn register_counter(&self, key: &Key, _metadata: &Metadata<'_>) -> metrics::Counter {
        let found = self.register(key, |name, labels| self.registry.counter(name, labels));
        found.map_or_else(metrics::Counter::noop, |counter| {
            metrics::Counter::from_arc(Arc::new(PerCpu(counter)))
        })
    }

    fn register_gauge(&self, key: &Key, _metadata: &Metadata<'_>) -> metrics::Gauge {
        let found = self.register(key, |name, labels| self.registry.value(name, labels));
        found.map_or_else(metrics::Gauge::noop, |value| metrics::Gauge::from_arc(Arc::new(Level(value))))
    }

    fn register_histogram(&self, key: &Key, _metadata: &Metadata<'_>) -> metrics::Histogram {
        let found = self.register(key, |name, labels| self.registry.histogram(name, labels, self.unit));
        found.map_or_else(metrics::Histogram::noop, |histogram| {
            let rejected = Arc::clone(&self.rejected);
            metrics::Histogram::from_arc(Arc::new(Sizes { histogram, rejected, unit: self.unit }))
        })
    }
}

/// A counter of the registry.
struct PerCpu(Arc<Counter>);

impl CounterFn for PerCpu {
    fn increment(&self, value: u64) {
        self.0.add(value);
    }

    /// Raises the counter to `value`. Concurrent increments are added on top.
    fn absolute(&self, value: u64) {
        self.0.add(value.saturating_sub(self.0.get()));
    }
}

/// A settable value of the registry.
struct Level(Arc<Value>);

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
struct Sizes {
    histogram: Arc<Histogram>,
    rejected: Arc<Counter>,
    unit: f64,
}

impl HistogramFn for Sizes {
    fn record(&self, value: f64) {
        let whole = (value * self.unit).round();
        // The bound is the first number that does not fit in 64 bits. The range contains no NaN.
        if (0.0..18_446_744_073_709_551_616.0).contains(&whole) {
            self.histogram.record(whole as u64);
        } else {
            self.rejected.add(1);
        }
    }
}

/// The README's example must compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::with_local_recorder;

    #[test]
    fn what_is_recorded_is_shown() {
        let recorder = Recorder::new();
        let registry = recorder.registry();
        with_local_recorder(&recorder, || {
            let hits = metrics::counter!("http.requests", "path" => "/a", "0 code" => "200");
            hits.increment(3);
            metrics::counter!("http.requests", "0 code" => "200", "path" => "/a").increment(1);
            hits.absolute(10);
            hits.absolute(5);
            metrics::describe_counter!("http.requests", "Requests.");
            let depth = metrics::gauge!("depth");
            depth.set(2.5);
            depth.increment(1.0);
            depth.decrement(0.25);
            let seconds = metrics::histogram!("seconds");
            seconds.record(0.5);
            seconds.record(1.0);
        });
        let text = registry.render();
        for line in [
            "# HELP http_requests Requests.",
            "# TYPE http_requests counter",
            "http_requests{_code=\"200\",path=\"/a\"} 10",
            "# TYPE depth gauge",
            "depth 3.25",
            "# TYPE seconds histogram",
            "seconds_sum 1.5",
            "seconds_count 2",
            "freehold_metrics_rejected_total 0",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} in\n{text}");
        }
    }

    #[test]
    fn what_cannot_be_recorded_is_counted() {
        let recorder = Recorder::new().unit(1.0);
        let registry = recorder.registry();
        with_local_recorder(&recorder, || {
            let bytes = metrics::histogram!("bytes");
            [-1.0, f64::NAN, f64::INFINITY, 2e19, 7.0].into_iter().for_each(|value| bytes.record(value));
            metrics::gauge!("bytes").set(1.0);
            metrics::counter!("a", "x-y" => "", "x_y" => "").increment(1);
        });
        let text = registry.render();
        assert!(text.contains("freehold_metrics_rejected_total 6\n"), "{text}");
        assert!(text.contains("bytes_count 1\n") && text.contains("bytes_sum 7\n"), "{text}");
    }
}
