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

use crate::count::{Counter, Gauge, Histogram, Value};
use freehold_sys::fork;
use freehold_units::error_messages;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::string::String;
use std::sync::{Arc, Mutex, MutexGuard};

/// The error of registering a metric. Nothing was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryError {
    /// The metric's name is invalid: it must consist of letters, digits, `_` and `:`, and not begin with a digit.
    Name {
        /// The name.
        name: String,
    },
    /// A label's name is invalid. It must consist of letters, digits and `_`, not begin with a digit or two `_`, and
    /// occur once. A histogram must not have the label `le`.
    Label {
        /// The metric.
        name: String,
        /// The label.
        label: String,
    },
    /// The name belongs to another kind of metric.
    Kind {
        /// The name.
        name: String,
        /// The kind of the existing metric.
        kind: &'static str,
    },
    /// Another static has the same name and labels.
    Taken {
        /// The name.
        name: String,
    },
}

error_messages! { RegistryError {
    Self::Name { name } => "{name:?} is no name of a metric";
    Self::Label { name, label } => "{label:?} is no label of {name}, or stands twice";
    Self::Kind { name, kind } => "{name} is a {kind} already";
    Self::Taken { name } => "{name} is registered with these labels already";
} }

/// A metric that lives as long as the registry or the program.
#[derive(Debug)]
enum Held<T: 'static> {
    Shared(Arc<T>),
    Static(&'static T),
}

impl<T> Held<T> {
    fn get(&self) -> &T {
        match self {
            Self::Shared(metric) => metric,
            Self::Static(metric) => metric,
        }
    }
}

/// All metrics of one name, by their labels as text.
#[derive(Debug)]
enum Family {
    Counters(BTreeMap<String, Held<Counter>>),
    Gauges(BTreeMap<String, Held<Gauge>>),
    Values(BTreeMap<String, Held<Value>>),
    /// Each with its divisor: a shown value is the recorded one divided by it.
    Histograms(BTreeMap<String, (Held<Histogram>, f64)>),
}

impl Family {
    fn kind(&self) -> &'static str {
        match self {
            Self::Counters(_) => "counter",
            Self::Gauges(_) => "gauge",
            Self::Values(_) => "settable gauge",
            Self::Histograms(_) => "histogram",
        }
    }

    /// The kind's name in Prometheus.
    fn shown_kind(&self) -> &'static str {
        if matches!(self, Self::Values(_)) { "gauge" } else { self.kind() }
    }
}

#[derive(Debug, Default)]
struct Names {
    families: BTreeMap<String, Family>,
    help: BTreeMap<String, String>,
}

/// Metrics by name and labels.
#[derive(Default)]
pub struct Registry {
    names: Mutex<Names>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The formatter is the caller's code, so no lock is held while it runs.
        let families = self.names().families.len();
        f.debug_struct("Registry").field("families", &families).finish_non_exhaustive()
    }
}

/// The methods that the three kinds of metrics share: one family for each name, one metric for each set of labels.
macro_rules! metric {
    ($get:ident, $add:ident, $type:ident, $family:ident, $what:literal) => {
        #[doc = concat!("The ", $what, " of a name and labels, made if there is none.")]
        ///
        /// Cost: logarithmic in the names and in the metrics of the name, under the registry's lock.
        ///
        /// # Errors
        /// [`RegistryError::Name`], [`RegistryError::Label`] or [`RegistryError::Kind`]; and [`RegistryError::Taken`]
        /// if a static has the name.
        pub fn $get(&self, name: &str, labels: &[(&str, &str)]) -> Result<Arc<$type>, RegistryError> {
            let labels = checked(name, labels)?;
            let mut names = self.names();
            let family =
                names.families.entry(name.into()).or_insert_with(|| Family::$family(BTreeMap::new()));
            let Family::$family(metrics) = family else { return Err(other_kind(name, family)) };
            match metrics.entry(labels).or_insert_with(|| Held::Shared(Arc::default())) {
                Held::Shared(metric) => Ok(Arc::clone(metric)),
                Held::Static(_) => Err(RegistryError::Taken { name: name.into() }),
            }
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
            let labels = checked(name, labels)?;
            let mut names = self.names();
            let family =
                names.families.entry(name.into()).or_insert_with(|| Family::$family(BTreeMap::new()));
            let Family::$family(metrics) = family else { return Err(other_kind(name, family)) };
            if metrics.contains_key(&labels) {
                return Err(RegistryError::Taken { name: name.into() });
            }
            metrics.insert(labels, Held::Static(metric));
            Ok(())
        }
    };
}

impl Registry {
    /// A registry without metrics. Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self { names: Mutex::new(Names { families: BTreeMap::new(), help: BTreeMap::new() }) }
    }

    metric!(counter, add_counter, Counter, Counters, "counter");
    metric!(gauge, add_gauge, Gauge, Gauges, "gauge");
    metric!(value, add_value, Value, Values, "settable gauge");

    /// The histogram of a name and labels, made if there is none. Values are shown divided by `unit`: 1e9 for
    /// nanoseconds that are shown as seconds. An existing histogram keeps its unit. Cost: as [`Registry::counter`].
    ///
    /// # Errors
    /// As [`Registry::counter`].
    pub fn histogram(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        unit: f64,
    ) -> Result<Arc<Histogram>, RegistryError> {
        let made = || (Held::Shared(Arc::default()), unit);
        self.with_histogram(name, labels, made, |held, is_new| match held {
            Held::Shared(metric) => Ok(Arc::clone(metric)),
            Held::Static(_) => {
                debug_assert!(!is_new);
                Err(RegistryError::Taken { name: name.into() })
            }
        })
    }

    /// Adds a static histogram under a name and labels. Its values are shown divided by `unit`. Cost: as
    /// [`Registry::counter`].
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
        let made = || (Held::Static(metric), unit);
        self.with_histogram(name, labels, made, |_, is_new| {
            if is_new { Ok(()) } else { Err(RegistryError::Taken { name: name.into() }) }
        })
    }

    /// Sets the help line of the metrics of a name. Cost: logarithmic in the names, under the registry's lock.
    ///
    /// # Errors
    /// [`RegistryError::Name`].
    pub fn describe(&self, name: &str, help: &str) -> Result<(), RegistryError> {
        checked(name, &[])?;
        self.names().help.insert(name.into(), help.into());
        Ok(())
    }

    /// All values, in Prometheus's text format.
    ///
    /// Cost: a step for each metric and CPU, for histograms also for each bucket, under the registry's lock.
    #[must_use]
    pub fn render(&self) -> String {
        let names = self.names();
        let mut text = String::new();
        for (name, family) in &names.families {
            if let Some(help) = names.help.get(name) {
                let help = help.replace('\\', "\\\\").replace('\n', "\\n");
                line(&mut text, format_args!("# HELP {name} {help}"));
            }
            line(&mut text, format_args!("# TYPE {name} {}", family.shown_kind()));
            match family {
                Family::Counters(metrics) => metrics.iter().for_each(|(labels, metric)| {
                    line(&mut text, format_args!("{name}{} {}", braced(labels), metric.get().get()));
                }),
                Family::Gauges(metrics) => metrics.iter().for_each(|(labels, metric)| {
                    line(&mut text, format_args!("{name}{} {}", braced(labels), metric.get().get()));
                }),
                Family::Values(metrics) => metrics.iter().for_each(|(labels, metric)| {
                    line(&mut text, format_args!("{name}{} {}", braced(labels), metric.get().get()));
                }),
                Family::Histograms(metrics) => metrics.iter().for_each(|(labels, (metric, unit))| {
                    render_histogram(&mut text, name, labels, metric.get(), *unit);
                }),
            }
        }
        text
    }

    fn names(&self) -> fork::Held<MutexGuard<'_, Names>> {
        fork::lock(|| self.names.lock())
    }

    /// Calls `act` with the histogram of a name and labels, and whether this call made it.
    fn with_histogram<R>(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        make: impl FnOnce() -> (Held<Histogram>, f64),
        act: impl FnOnce(&Held<Histogram>, bool) -> Result<R, RegistryError>,
    ) -> Result<R, RegistryError> {
        if let Some((label, _)) = labels.iter().find(|(label, _)| *label == "le") {
            return Err(RegistryError::Label { name: name.into(), label: (*label).into() });
        }
        let labels = checked(name, labels)?;
        let mut names = self.names();
        let family = names.families.entry(name.into()).or_insert_with(|| Family::Histograms(BTreeMap::new()));
        let Family::Histograms(metrics) = family else { return Err(other_kind(name, family)) };
        let is_new = !metrics.contains_key(&labels);
        act(&metrics.entry(labels).or_insert_with(make).0, is_new)
    }
}

/// Writes buckets of powers of 4, and the sum and count. A concurrent record may be in the sum alone.
fn render_histogram(text: &mut String, name: &str, labels: &str, metric: &Histogram, unit: f64) {
    let seen = metric.snapshot();
    let comma = if labels.is_empty() { "" } else { "," };
    for bits in (0..u64::BITS).step_by(2) {
        let most = (1_u64 << bits) - 1;
        let (count, most) = (seen.count_up_to(most), most as f64 / unit);
        line(text, format_args!("{name}_bucket{{{labels}{comma}le=\"{most}\"}} {count}"));
    }
    let (count, labels_braced) = (seen.count(), braced(labels));
    line(text, format_args!("{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}"));
    line(text, format_args!("{name}_sum{labels_braced} {}", seen.sum() as f64 / unit));
    line(text, format_args!("{name}_count{labels_braced} {count}"));
}

/// Appends a line. Writing to a string cannot fail.
fn line(text: &mut String, line: fmt::Arguments<'_>) {
    let _ = text.write_fmt(line);
    text.push('\n');
}

/// The labels in braces; empty without labels.
fn braced(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { std::format!("{{{labels}}}") }
}

fn other_kind(name: &str, family: &Family) -> RegistryError {
    RegistryError::Kind { name: name.into(), kind: family.kind() }
}

/// Whether a name consists of letters, digits and `_`, and does not begin with a digit. Colons count as letters if
/// `colon`.
fn is_name(name: &str, colon: bool) -> bool {
    let fits = |at: usize, byte: u8| {
        byte.is_ascii_alphabetic() || byte == b'_' || colon && byte == b':' || at > 0 && byte.is_ascii_digit()
    };
    !name.is_empty() && name.bytes().enumerate().all(|(at, byte)| fits(at, byte))
}

/// The labels as text, sorted by name, if all names are valid.
fn checked(name: &str, labels: &[(&str, &str)]) -> Result<String, RegistryError> {
    if !is_name(name, true) {
        return Err(RegistryError::Name { name: name.into() });
    }
    let mut sorted = BTreeMap::new();
    for &(label, value) in labels {
        let valid = is_name(label, false) && !label.starts_with("__");
        if !valid || sorted.insert(label, value).is_some() {
            return Err(RegistryError::Label { name: name.into(), label: label.into() });
        }
    }
    let mut text = String::new();
    for (label, value) in sorted {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{label}=\"{value}\"");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_name_and_its_labels_give_one_handle() {
        let registry = Registry::new();
        let first = registry.counter("hits", &[("b", "2"), ("a", "1")]).unwrap();
        let again = registry.counter("hits", &[("a", "1"), ("b", "2")]).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let other = registry.counter("hits", &[("a", "1")]).unwrap();
        first.add(1);
        other.add(5);
        registry.gauge("open", &[]).unwrap().add(-2);
        assert_eq!(
            registry.render(),
            "# TYPE hits counter\nhits{a=\"1\"} 5\nhits{a=\"1\",b=\"2\"} 1\n# TYPE open gauge\nopen -2\n"
        );
    }

    #[test]
    fn bad_names_are_refused() {
        static HITS: Counter = Counter::new();
        static SIZES: Histogram = Histogram::new();
        let registry = Registry::new();
        for name in ["", "0a", "a b", "ä", "a-b"] {
            assert_eq!(registry.counter(name, &[]).unwrap_err(), RegistryError::Name { name: name.into() });
        }
        for labels in
            [&[("", "")][..], &[("__a", "")], &[("a:", "")], &[("a", "1"), ("a", "2")], &[("0", "")]]
        {
            assert!(matches!(registry.counter("a", labels), Err(RegistryError::Label { .. })), "{labels:?}");
        }
        assert!(matches!(registry.histogram("h", &[("le", "1")], 1.0), Err(RegistryError::Label { .. })));
        assert_eq!(registry.render(), "");
        registry.gauge("a:b", &[]).unwrap();
        let kind = RegistryError::Kind { name: "a:b".into(), kind: "gauge" };
        assert_eq!(registry.counter("a:b", &[]).unwrap_err(), kind);
        assert_eq!(registry.histogram("a:b", &[], 1.0).unwrap_err(), kind);
        registry.add_counter("hits", &[], &HITS).unwrap();
        let taken = RegistryError::Taken { name: "hits".into() };
        assert_eq!(registry.add_counter("hits", &[], &HITS), Err(taken.clone()));
        assert_eq!(registry.counter("hits", &[]).unwrap_err(), taken);
        registry.add_histogram("sizes", &[], 1.0, &SIZES).unwrap();
        assert!(matches!(registry.histogram("sizes", &[], 1.0), Err(RegistryError::Taken { .. })));
        assert!(matches!(
            registry.add_histogram("sizes", &[], 1.0, &SIZES),
            Err(RegistryError::Taken { .. })
        ));
    }

    #[test]
    fn text_is_escaped() {
        let registry = Registry::new();
        registry.counter("a", &[("path", "C:\\\"x\"\n")]).unwrap();
        registry.describe("a", "one\ntwo\\").unwrap();
        assert_eq!(
            registry.render(),
            "# HELP a one\\ntwo\\\\\n# TYPE a counter\na{path=\"C:\\\\\\\"x\\\"\\n\"} 0\n"
        );
    }

    #[test]
    fn buckets_are_cumulative() {
        let registry = Registry::new();
        let sizes = registry.histogram("seconds", &[("of", "x")], 4.0).unwrap();
        [0, 1, 3, 4, 1000, u64::MAX].iter().for_each(|&value| sizes.record(value));
        let text = registry.render();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "# TYPE seconds histogram");
        assert_eq!(lines[1], "seconds_bucket{of=\"x\",le=\"0\"} 1");
        assert_eq!(lines[2], "seconds_bucket{of=\"x\",le=\"0.75\"} 3");
        assert_eq!(lines[3], "seconds_bucket{of=\"x\",le=\"3.75\"} 4");
        assert_eq!(lines[6], "seconds_bucket{of=\"x\",le=\"255.75\"} 5");
        assert_eq!(lines[33], "seconds_bucket{of=\"x\",le=\"+Inf\"} 6");
        // 0 + 1 + 3 + 4 + 1000 - 1, modulo 2^64.
        assert_eq!(lines[34], "seconds_sum{of=\"x\"} 251.75");
        assert_eq!(lines[35..], ["seconds_count{of=\"x\"} 6"]);
    }
}
