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
//! - Histograms are shown in the buckets that [`Recorder::buckets`] chooses for all, or [`Recorder::buckets_of`] for a name;
//!   [`Buckets`] says how exact their counts are. Without a choice there is a bucket for each power of two.
//! - Names and labels are made valid for Prometheus in the usual way: each invalid character becomes `_`.
//! - A limit of series, and removals, are methods of the [`Registry`] that [`Recorder::install`] returns. After a removal, a
//!   macro makes a new series that begins at 0; handles that were kept count for nobody.
//!
//! # Units
//! A histogram stores whole parts of its unit, and values are rounded to these. The first of these rules that applies says
//! which parts:
//!
//! 1. what [`Recorder::unit_of`] says of the name;
//! 2. the unit that is described ([`metrics::describe_histogram!`]) before the first histogram of the name is registered;
//! 3. the unit that the name ends with, as in `http_request_seconds` or `body_bytes`;
//! 4. what [`Recorder::unit`] says, by default billionths.
//!
//! | Unit | Parts | Largest value |
//! |---|---|---|
//! | `seconds`, `milliseconds`, `microseconds`, `nanoseconds` | nanoseconds | 584 years |
//! | `bytes`, `kibibytes` .. `tebibytes` | bytes | 16 EiB |
//! | `bits_per_second` .. `terabits_per_second` | bits in a second | 1.8e19 |
//! | `count` | whole numbers | 1.8e19 |
//! | others | billionths | 1.8e10 |
//!
//! A sum has 128 bits, so it does not wrap: [`HistogramSnapshot::sum`](freehold_percpu::HistogramSnapshot::sum).
//!
//! Programs that use `prometheus-client` find a page for them in [`from_prometheus_client`].
//!
//! # What is refused
//! It is counted in `freehold_metrics_rejected_total`: a histogram's value that is negative, not a number or too large; a
//! metric of another kind under a name that is taken, or under the name of another's series, as `x_count` of a histogram
//! `x`; one without a name, with a label without one, with two labels whose names are equal once they are valid, or a
//! histogram with the label `le`; and a unit that is described after the first histogram of the name, where it would change
//! the parts.

#![forbid(unsafe_code)]

mod cache;
#[doc = include_str!("../docs/from_prometheus_client.md")]
pub mod from_prometheus_client {}
mod handles;
mod names;
#[cfg(test)]
mod tests;
mod unit;

pub use freehold_percpu::registry::{Buckets, BucketsError, Registry};

use cache::Cache;
use freehold_percpu::Counter;
use freehold_percpu::registry::RegistryError;
use handles::{Level, PerCpu, Sizes};
use metrics::{Key, KeyName, Metadata, SetRecorderError, SharedString, Unit};
use names::{sanitized, sanitized_label};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A histogram without a unit stores values as multiples of 1 divided by this number.
const DEFAULT_UNIT: f64 = 1e9;
const REJECTED: &str = "freehold_metrics_rejected_total";
const REJECTED_HELP: &str = "Values and metrics that could not be kept.";

/// Recorder for the `metrics` facade.
#[derive(Debug)]
pub struct Recorder {
    registry: Arc<Registry>,
    rejected: Arc<Counter>,
    choices: Choices,
    /// Apart, so that the error of an installation, which returns the recorder, is not large.
    cached: Box<Cached>,
}

/// Handles that were found before.
#[derive(Debug)]
struct Cached {
    counters: Cache<metrics::Counter>,
    gauges: Cache<metrics::Gauge>,
    histograms: Cache<metrics::Histogram>,
}

/// How histograms are stored and shown: for all, and by name.
#[derive(Debug)]
struct Choices {
    unit: f64,
    unit_of: BTreeMap<String, f64>,
    bounds: Option<Vec<f64>>,
    bounds_of: BTreeMap<String, Vec<f64>>,
}

impl Choices {
    /// The buckets of a name whose described unit is `unit`.
    fn buckets(&self, name: &str, unit: Option<Unit>) -> Result<Buckets, BucketsError> {
        let by_rule = || unit.or_else(|| unit::of_name(name)).and_then(unit::parts).unwrap_or(self.unit);
        let parts = self.unit_of.get(name).copied().unwrap_or_else(by_rule);
        match self.bounds_of.get(name).or(self.bounds.as_ref()) {
            Some(bounds) => Buckets::new(parts, bounds),
            None => Buckets::powers_of_two(parts),
        }
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

/// Making a recorder.
impl Recorder {
    /// A recorder with a registry of its own. Cost: constant.
    #[must_use]
    pub fn new() -> Self {
        let registry = Arc::new(Registry::new());
        // An empty registry refuses neither.
        let rejected = registry.counter(REJECTED, &[]).unwrap_or_default();
        let _ = registry.describe(REJECTED, REJECTED_HELP);
        let choices = Choices {
            unit: DEFAULT_UNIT,
            unit_of: BTreeMap::new(),
            bounds: None,
            bounds_of: BTreeMap::new(),
        };
        let cached = Cached { counters: Cache::new(), gauges: Cache::new(), histograms: Cache::new() };
        Self { registry, rejected, choices, cached: Box::new(cached) }
    }

    /// Sets the unit of histograms that have none by their name or description: values are stored as whole multiples of
    /// `1 / unit`. Cost: constant.
    ///
    /// # Errors
    /// [`BucketsError::Divisor`].
    pub fn unit(mut self, unit: f64) -> Result<Self, BucketsError> {
        Buckets::powers_of_two(unit)?;
        self.choices.unit = unit;
        Ok(self)
    }

    /// Sets the unit of the histograms of a name: values are stored as whole multiples of `1 / unit`. Cost: logarithmic in
    /// the names.
    ///
    /// # Errors
    /// [`BucketsError::Divisor`].
    pub fn unit_of(mut self, name: &str, unit: f64) -> Result<Self, BucketsError> {
        Buckets::powers_of_two(unit)?;
        self.choices.unit_of.insert(sanitized(name), unit);
        Ok(self)
    }

    /// Chooses the upper bounds of the buckets of all histograms that [`buckets_of`](Self::buckets_of) does not name. They
    /// rise; a bucket of all values is added.
    ///
    /// ```
    /// let recorder = freehold_metrics::Recorder::new()
    ///     .buckets(&[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0])?
    ///     .buckets_of("body_bytes", &[1024.0, 65536.0, 1048576.0])?;
    /// let registry = recorder.registry();
    /// metrics::with_local_recorder(&recorder, || metrics::histogram!("body_bytes").record(2000.0));
    /// assert!(registry.render().contains("body_bytes_bucket{le=\"65536\"} 1\n"));
    /// # Ok::<(), freehold_metrics::BucketsError>(())
    /// ```
    ///
    /// Cost: linear in the bounds.
    ///
    /// # Errors
    /// [`BucketsError::Bound`], [`BucketsError::Order`].
    pub fn buckets(mut self, bounds: &[f64]) -> Result<Self, BucketsError> {
        Buckets::new(1.0, bounds)?;
        self.choices.bounds = Some(bounds.to_vec());
        Ok(self)
    }

    /// Chooses the upper bounds of the buckets of the histograms of a name, as [`buckets`](Self::buckets) does. Cost: linear
    /// in the bounds.
    ///
    /// # Errors
    /// [`BucketsError::Bound`], [`BucketsError::Order`].
    pub fn buckets_of(mut self, name: &str, bounds: &[f64]) -> Result<Self, BucketsError> {
        Buckets::new(1.0, bounds)?;
        self.choices.bounds_of.insert(sanitized(name), bounds.to_vec());
        Ok(self)
    }

    /// Makes this the recorder of the whole program. Returns its registry, for the page that shows the values. Cost:
    /// constant.
    ///
    /// # Errors
    /// The program already has a recorder.
    pub fn install(self) -> Result<Arc<Registry>, SetRecorderError<Self>> {
        let registry = self.registry();
        metrics::set_global_recorder(self)?;
        Ok(registry)
    }

    /// Its registry, for the page that shows the values. Cost: constant.
    #[must_use]
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }
}

/// What the facade's calls have in common.
impl Recorder {
    /// The handle of a key: from the cache, or made of the registry's metric. `None` if that is refused, which is counted.
    fn handle<T: Clone>(
        &self,
        key: &Key,
        cache: &Cache<T>,
        make: impl FnOnce(&str, &[(&str, &str)]) -> Result<T, RegistryError>,
    ) -> Option<T> {
        // Read before the registry is asked: handles from before a later change are forgotten.
        let epoch = self.registry.epoch();
        if let Some(handle) = cache.get(key, epoch) {
            return Some(handle);
        }
        let name = sanitized(key.name());
        let labels: Vec<_> =
            key.labels().map(|label| (sanitized_label(label.key()), label.value())).collect();
        let labels: Vec<_> = labels.iter().map(|(label, value)| (label.as_str(), *value)).collect();
        let handle = make(&name, &labels).inspect_err(|_| self.rejected.inc()).ok()?;
        cache.put(key, &handle, epoch, self.registry.len());
        Some(handle)
    }

    /// Sets the help line of a name, and its unit where the name ends with it, which OpenMetrics asks for.
    fn describe(&self, name: &str, unit: Option<Unit>, text: &SharedString) {
        if let Some(unit) = unit {
            // A name without the unit has no line of it.
            let _ = self.registry.describe_unit(name, unit.as_str());
        }
        if self.registry.describe(name, text).is_err() {
            self.rejected.inc();
        }
    }

    /// The buckets of a name's histograms; chosen for the first of them.
    fn buckets_for(&self, name: &str) -> Result<Buckets, RegistryError> {
        self.registry.buckets_of(name).map_or_else(
            || {
                let refused = |_| RegistryError::Buckets { name: name.to_owned() };
                self.choices.buckets(name, None).map_err(refused)
            },
            Ok,
        )
    }
}

impl metrics::Recorder for Recorder {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.describe(&sanitized(key.as_str()), unit, &description);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.describe(&sanitized(key.as_str()), unit, &description);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        let name = sanitized(key.as_str());
        self.describe(&name, unit, &description);
        let described = self.choices.buckets(&name, unit).map(|buckets| {
            // A description without a unit chooses nothing.
            unit.map_or(Ok(()), |_| self.registry.describe_buckets(&name, &buckets))
        });
        if !matches!(described, Ok(Ok(()))) {
            self.rejected.inc();
        }
    }

    fn register_counter(&self, key: &Key, _metadata: &Metadata<'_>) -> metrics::Counter {
        let make = |name: &str, labels: &[(&str, &str)]| {
            Ok(metrics::Counter::from_arc(Arc::new(PerCpu(self.registry.counter(name, labels)?))))
        };
        self.handle(key, &self.cached.counters, make).unwrap_or_else(metrics::Counter::noop)
    }

    fn register_gauge(&self, key: &Key, _metadata: &Metadata<'_>) -> metrics::Gauge {
        let make = |name: &str, labels: &[(&str, &str)]| {
            Ok(metrics::Gauge::from_arc(Arc::new(Level(self.registry.value(name, labels)?))))
        };
        self.handle(key, &self.cached.gauges, make).unwrap_or_else(metrics::Gauge::noop)
    }

    fn register_histogram(&self, key: &Key, _metadata: &Metadata<'_>) -> metrics::Histogram {
        let make = |name: &str, labels: &[(&str, &str)]| {
            let buckets = self.buckets_for(name)?;
            let histogram = self.registry.histogram_with(name, labels, &buckets)?;
            let rejected = Arc::clone(&self.rejected);
            Ok(metrics::Histogram::from_arc(Arc::new(Sizes { histogram, rejected, unit: buckets.unit() })))
        };
        self.handle(key, &self.cached.histograms, make).unwrap_or_else(metrics::Histogram::noop)
    }
}

/// The README's example must compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
