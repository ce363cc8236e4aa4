//! Names and labels of counters, and their values as Prometheus text.
//!
//! A caller looks up a name and labels once and keeps the handle, so counting never looks a name up.
//!
//! ```
//! use freehold_percpu::registry::Registry;
//! let registry = Registry::new();
//! let hits = registry.counter("http_requests_total", &[("path", "/")])?;
//! hits.add(2);
//! registry.describe("http_requests_total", "Requests answered.")?;
//! let text = registry.render();
//! assert!(text.starts_with("# HELP http_requests_total Requests answered."));
//! assert!(text.ends_with("http_requests_total{path=\"/\"} 2\n"));
//! # Ok::<(), freehold_percpu::registry::RegistryError>(())
//! ```
//!
//! | What | How |
//! |---|---|
//! | the buckets of a page | [`Buckets`], [`Registry::histogram_with`] |
//! | a page in text or OpenMetrics, into a string, a file or a socket | [`Registry::render_as`], [`Registry::try_render`], [`Registry::write`], [`Registry::write_io`] |
//! | labels whose values users choose | [`Registry::limit_series`] |
//! | a label that goes away | [`Registry::remove`] |
//! | figures that something else counts | [`Registry::observe`], [`Registry::observe_all`] |

mod buckets;
mod error;
mod family;
mod group;
mod labels;
mod observe;
mod page;
mod render;
#[cfg(test)]
mod tests;
mod text;

pub use buckets::Buckets;
pub use error::{BucketsError, RegistryError};
pub use page::Format;
pub use render::{Reading, Sample};

use crate::count::{Counter, Gauge, Histogram, Value};
use family::{Families, Held, Kind, Metric, Series};
use freehold_sys::fork;
use labels::{OVERFLOW, checked, checked_of_histogram};
use std::collections::btree_map::Entry;
use std::fmt;
use std::string::String;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Metrics by name and labels.
pub struct Registry {
    families: Mutex<Families>,
    /// Changed under the lock.
    epoch: AtomicU64,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The formatter is the caller's code, so no lock is held while it runs.
        let families = self.families().by_name.len();
        f.debug_struct("Registry").field("families", &families).finish_non_exhaustive()
    }
}

/// A type that may be a metric.
trait Registered: Default + 'static {
    fn metric(held: Held<Self>) -> Metric;
    /// The metric, if it is of this type.
    fn held(metric: &Metric) -> Option<&Held<Self>>;
}

macro_rules! registered {
    ($($type:ident),*) => {$(
        impl Registered for $type {
            fn metric(held: Held<Self>) -> Metric {
                Metric::$type(held)
            }

            fn held(metric: &Metric) -> Option<&Held<Self>> {
                if let Metric::$type(held) = metric { Some(held) } else { None }
            }
        }
    )*};
}
registered!(Counter, Gauge, Value, Histogram);

/// The methods that three kinds of metrics share.
macro_rules! metric {
    ($get:ident, $add:ident, $type:ident, $what:literal) => {
        #[doc = concat!("The ", $what, " of a name and labels, made if there is none.")]
        ///
        /// Cost: logarithmic in the names and in the metrics of the name, under the registry's lock.
        ///
        /// # Errors
        /// See [`RegistryError`]; [`RegistryError::Taken`] if a static has the name.
        pub fn $get(&self, name: &str, labels: &[(&str, &str)]) -> Result<Arc<$type>, RegistryError> {
            self.get(name, checked(name, labels)?, &Kind::$type)
        }

        #[doc = concat!("Shows a static ", $what, " under a name and labels.")]
        ///
        /// Cost: as [`Registry::counter`].
        ///
        /// # Errors
        /// See [`RegistryError`].
        pub fn $add(
            &self,
            name: &str,
            labels: &[(&str, &str)],
            metric: &'static $type,
        ) -> Result<(), RegistryError> {
            self.add(name, checked(name, labels)?, &Kind::$type, metric)
        }
    };
}

impl Registry {
    /// A registry without metrics. Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self { families: Mutex::new(Families::new()), epoch: AtomicU64::new(0) }
    }

    metric!(counter, add_counter, Counter, "counter");
    metric!(gauge, add_gauge, Gauge, "gauge");
    metric!(value, add_value, Value, "settable gauge");

    /// The histogram of a name and labels, made if there is none. Values are shown divided by `unit`: 1e9 for nanoseconds
    /// that are shown as seconds. All histograms of a name have one unit and the same buckets: those of the first one, those that are
    /// [described](Self::describe_buckets), or [`Buckets::powers_of_two`]. Cost: as [`Registry::counter`].
    ///
    /// # Errors
    /// As [`Registry::counter`]; [`RegistryError::Buckets`] if the name has another unit, and [`RegistryError::Divisor`].
    pub fn histogram(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        unit: f64,
    ) -> Result<Arc<Histogram>, RegistryError> {
        self.histogram_with(name, labels, &self.buckets_for(name, unit)?)
    }

    /// The histogram of a name and labels, made if there is none, which is shown in chosen buckets. All histograms of a
    /// name have the same. Cost: as [`Registry::counter`].
    ///
    /// # Errors
    /// As [`Registry::counter`]; [`RegistryError::Buckets`] if the name has other buckets.
    pub fn histogram_with(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        buckets: &Buckets,
    ) -> Result<Arc<Histogram>, RegistryError> {
        self.get(name, checked_of_histogram(name, labels)?, &Kind::Histogram(buckets.clone()))
    }

    /// Shows a static histogram under a name and labels, as [`Registry::histogram`] does. Cost: as [`Registry::counter`].
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn add_histogram(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        unit: f64,
        metric: &'static Histogram,
    ) -> Result<(), RegistryError> {
        self.add_histogram_with(name, labels, &self.buckets_for(name, unit)?, metric)
    }

    /// Shows a static histogram under a name and labels, in chosen buckets. Cost: as [`Registry::counter`].
    ///
    /// # Errors
    /// See [`RegistryError`].
    pub fn add_histogram_with(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        buckets: &Buckets,
        metric: &'static Histogram,
    ) -> Result<(), RegistryError> {
        self.add(name, checked_of_histogram(name, labels)?, &Kind::Histogram(buckets.clone()), metric)
    }

    /// The buckets of the histograms of a name, or those that are [described](Self::describe_buckets); `None` if there are
    /// neither. Cost: logarithmic in the names.
    #[must_use]
    pub fn buckets_of(&self, name: &str) -> Option<Buckets> {
        let families = self.families();
        match families.by_name.get(name).map(|family| &family.kind) {
            Some(Kind::Histogram(buckets)) => Some(buckets.clone()),
            Some(_) => None,
            None => families.described.get(name)?.buckets.clone(),
        }
    }

    /// Chooses the buckets of histograms of a name that are registered without any. Cost: logarithmic in the names.
    ///
    /// # Errors
    /// [`RegistryError::Name`], and [`RegistryError::Buckets`] if there are histograms of the name in other buckets.
    pub fn describe_buckets(&self, name: &str, buckets: &Buckets) -> Result<(), RegistryError> {
        checked(name, &[])?;
        let mut families = self.families();
        if let Some(Kind::Histogram(others)) = families.by_name.get(name).map(|family| &family.kind)
            && !others.is_same(buckets)
        {
            return Err(RegistryError::Buckets { name: name.into() });
        }
        families.described.entry(name.into()).or_default().buckets = Some(buckets.clone());
        Ok(())
    }

    /// Sets the help line of the metrics of a name. Cost: logarithmic in the names, under the registry's lock.
    ///
    /// # Errors
    /// [`RegistryError::Name`].
    pub fn describe(&self, name: &str, help: &str) -> Result<(), RegistryError> {
        checked(name, &[])?;
        self.families().described.entry(name.into()).or_default().help = Some(help.into());
        Ok(())
    }

    /// Sets the unit of the metrics of a name, which OpenMetrics shows: `seconds` of `request_seconds` or
    /// `busy_seconds_total`. Cost: logarithmic in the names, under the registry's lock.
    ///
    /// # Errors
    /// [`RegistryError::Name`], and [`RegistryError::Unit`] if the name does not end with the unit.
    pub fn describe_unit(&self, name: &str, unit: &str) -> Result<(), RegistryError> {
        checked(name, &[])?;
        if unit.is_empty() || !family::has_unit(family::base_of_counter(name), unit) {
            return Err(RegistryError::Unit { name: name.into(), unit: unit.into() });
        }
        self.families().described.entry(name.into()).or_default().unit = Some(unit.into());
        Ok(())
    }

    /// Limits the series of each name that [`limit_series_of`](Self::limit_series_of) does not name. Once a name has `most`
    /// series, new labels share one more, `{overflow="true"}`. So labels whose values users choose take bounded memory, and
    /// totals stay right. A series without labels, statics and observed gauges are not limited, and series that exist stay.
    /// After the limit is raised, the next look-up of labels that shared a series gives them their own; handles that were
    /// kept stay with the shared one. Where a static has the labels `{overflow="true"}`, which nothing can share, labels
    /// beyond the limit are refused: [`RegistryError::Taken`].
    ///
    /// ```
    /// use freehold_percpu::registry::Registry;
    /// let registry = Registry::new();
    /// registry.limit_series(1);
    /// for user in ["ann", "bob", "eve"] {
    ///     registry.counter("logins_total", &[("user", user)])?.inc();
    /// }
    /// let text = registry.render();
    /// assert!(text.ends_with("logins_total{overflow=\"true\"} 2\nlogins_total{user=\"ann\"} 1\n"));
    /// # Ok::<(), freehold_percpu::registry::RegistryError>(())
    /// ```
    ///
    /// Cost: constant.
    pub fn limit_series(&self, most: usize) {
        let mut families = self.families();
        families.limits.of_each = Some(most);
        self.raise_epoch();
    }

    /// Limits the series of a name, as [`limit_series`](Self::limit_series) does. Cost: logarithmic in the names.
    ///
    /// # Errors
    /// [`RegistryError::Name`].
    pub fn limit_series_of(&self, name: &str, most: usize) -> Result<(), RegistryError> {
        checked(name, &[])?;
        let mut families = self.families();
        families.limits.of_names.insert(name.into(), most);
        self.raise_epoch();
        Ok(())
    }

    /// Removes a series. Pages no longer have it, and its memory is freed with its last handle. A handle that still exists
    /// counts, but no page shows it: the next look-up of the name and labels makes a new series, which begins at 0. Returns whether
    /// there was one.
    ///
    /// The last series of a name takes the name's kind and buckets with it; its help, unit and limit stay.
    ///
    /// Cost: as [`Registry::counter`]; frees the metric's memory ([`PerCpuHeap::free`](crate::heap::PerCpuHeap::free)).
    pub fn remove(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        let Ok(labels) = checked(name, labels) else { return false };
        let mut families = self.families();
        let removed = families.remove(name, &labels);
        self.finish_removal(families, removed)
    }

    /// Removes all series of a name, as [`Registry::remove`] does. Returns whether there was one. Cost: as
    /// [`Registry::remove`] for each series.
    pub fn remove_all(&self, name: &str) -> bool {
        let mut families = self.families();
        let removed = families.remove_family(name);
        self.finish_removal(families, removed)
    }

    /// The number of series. Cost: constant.
    #[must_use]
    pub fn len(&self) -> usize {
        self.families().count
    }

    /// Whether there is no series. Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.families().by_name.is_empty()
    }

    /// A number that rises with each removal and each choice of a limit, after which a look-up may find another series than
    /// before. A cache of handles compares it. Cost: constant: one load.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        // Acquire: pairs with `raise_epoch`. A look-up after this load finds what was changed before it.
        self.epoch.load(Ordering::Acquire)
    }

    /// Ends the epoch. The caller has the lock, and has made the change.
    fn raise_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::Release);
    }

    /// Drops what was removed after the lock is released: it may be a closure of the user's.
    fn finish_removal<T>(&self, families: FamiliesGuard<'_>, removed: Option<T>) -> bool {
        if removed.is_some() {
            self.raise_epoch();
        }
        drop(families);
        removed.is_some()
    }

    fn families(&self) -> FamiliesGuard<'_> {
        fork::lock(|| self.families.lock())
    }

    /// The buckets of a name whose user chose none.
    fn buckets_for(&self, name: &str, unit: f64) -> Result<Buckets, RegistryError> {
        match self.buckets_of(name) {
            Some(buckets) if buckets.unit() == unit => Ok(buckets),
            Some(_) => Err(RegistryError::Buckets { name: name.into() }),
            None => Buckets::powers_of_two(unit).map_err(|_| RegistryError::Divisor { name: name.into() }),
        }
    }

    fn get<T: Registered>(&self, name: &str, labels: String, kind: &Kind) -> Result<Arc<T>, RegistryError> {
        let mut families = self.families();
        let limit = families.limit(name);
        let series = &mut families.of(name, kind)?.series;
        let others = series.len() - usize::from(series.contains_key(OVERFLOW));
        let is_over = !labels.is_empty() && others >= limit && !series.contains_key(&labels);
        match series.entry(if is_over { OVERFLOW.into() } else { labels }) {
            Entry::Occupied(series) => match T::held(&series.get().metric) {
                Some(Held::Shared(metric)) => Ok(Arc::clone(metric)),
                _ => Err(RegistryError::Taken { name: name.into() }),
            },
            Entry::Vacant(place) => {
                let metric = Arc::<T>::default();
                place.insert(Series::new(T::metric(Held::Shared(Arc::clone(&metric)))));
                families.count += 1;
                Ok(metric)
            }
        }
    }

    fn add<T: Registered>(
        &self,
        name: &str,
        labels: String,
        kind: &Kind,
        metric: &'static T,
    ) -> Result<(), RegistryError> {
        self.families().add(name, kind, labels, T::metric(Held::Static(metric)))
    }
}

type FamiliesGuard<'a> = fork::Held<MutexGuard<'a, Families>>;
