//! Families of metrics: all series of one name, and the names of samples that they take up on a page.

use super::buckets::Buckets;
use super::error::RegistryError;
use super::group::Observed;
use crate::count::{Counter, Gauge, Histogram, Value};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::string::String;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use std::vec::Vec;

/// A metric that lives as long as the registry or the program.
#[derive(Debug)]
pub(super) enum Held<T: 'static> {
    Shared(Arc<T>),
    Static(&'static T),
}

impl<T> Held<T> {
    pub(super) fn get(&self) -> &T {
        match self {
            Self::Shared(metric) => metric,
            Self::Static(metric) => metric,
        }
    }
}

/// The metric of a series.
#[derive(Debug)]
pub(super) enum Metric {
    Counter(Held<Counter>),
    Gauge(Held<Gauge>),
    Value(Held<Value>),
    Histogram(Held<Histogram>),
    Observed(Observed),
}

/// The kind of a family.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Value,
    Histogram(Buckets),
    Observed,
}

impl Kind {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Value => "settable gauge",
            Self::Histogram(_) => "histogram",
            Self::Observed => "observed gauge",
        }
    }

    /// The kind's name in Prometheus.
    pub(super) fn shown(&self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Histogram(_) => "histogram",
            Self::Gauge | Self::Value | Self::Observed => "gauge",
        }
    }

    /// Whether a metric of the other kind may be added to a family of this kind.
    fn takes(&self, other: &Self, name: &str) -> Result<(), RegistryError> {
        match (self, other) {
            (Self::Histogram(ours), Self::Histogram(theirs)) if !ours.is_same(theirs) => {
                Err(RegistryError::Buckets { name: name.into() })
            }
            _ if std::mem::discriminant(self) == std::mem::discriminant(other) => Ok(()),
            _ => Err(RegistryError::Kind { name: name.into(), kind: self.name() }),
        }
    }

    /// All names that a family has on a page, in either format.
    fn names(&self, name: &str) -> Vec<String> {
        let (base, suffixes): (_, &[&str]) = match self {
            Self::Counter => (base_of_counter(name), &["_total", "_created"]),
            Self::Histogram(_) => (name, &["_bucket", "_sum", "_count", "_created"]),
            Self::Gauge | Self::Value | Self::Observed => (name, &[]),
        };
        let suffixed = suffixes.iter().map(|suffix| std::format!("{base}{suffix}"));
        suffixed.chain([base.into()]).collect()
    }
}

/// The name of a counter's family in OpenMetrics. It is not empty.
pub(super) fn base_of_counter(name: &str) -> &str {
    name.strip_suffix("_total").filter(|base| !base.is_empty()).unwrap_or(name)
}

/// Whether a name ends with a unit.
pub(super) fn has_unit(name: &str, unit: &str) -> bool {
    name.strip_suffix(unit).is_some_and(|rest| rest.ends_with('_'))
}

/// A metric with its labels.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) metric: Metric,
    /// When it was registered, in seconds since 1970.
    pub(super) created: f64,
}

impl Series {
    pub(super) fn new(metric: Metric) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock before 1970 is shown as 1970.
        Self { metric, created: since.map_or(0.0, |since| since.as_secs_f64()) }
    }
}

/// All series of a name, by their labels as text.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) kind: Kind,
    pub(super) series: BTreeMap<String, Series>,
}

/// What is said of a name.
#[derive(Debug, Default)]
pub(super) struct Description {
    pub(super) help: Option<String>,
    pub(super) unit: Option<String>,
    /// Of histograms whose user chooses none.
    pub(super) buckets: Option<Buckets>,
}

/// Limits of the number of series that a name has.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) of_each: Option<usize>,
    pub(super) of_names: BTreeMap<String, usize>,
}

/// Everything that is registered.
#[derive(Debug)]
pub(super) struct Families {
    pub(super) by_name: BTreeMap<String, Family>,
    pub(super) described: BTreeMap<String, Description>,
    pub(super) limits: Limits,
    /// The number of series.
    pub(super) count: usize,
    /// The family of each name on a page.
    taken: BTreeMap<String, String>,
}

impl Families {
    pub(super) const fn new() -> Self {
        Self {
            by_name: BTreeMap::new(),
            described: BTreeMap::new(),
            limits: Limits { of_each: None, of_names: BTreeMap::new() },
            count: 0,
            taken: BTreeMap::new(),
        }
    }

    /// The family of a name and kind; made if there is none and no name of it is taken.
    pub(super) fn of(&mut self, name: &str, kind: &Kind) -> Result<&mut Family, RegistryError> {
        match self.by_name.entry(name.into()) {
            Entry::Occupied(family) => {
                family.get().kind.takes(kind, name)?;
                Ok(family.into_mut())
            }
            Entry::Vacant(place) => {
                let names = kind.names(name);
                for series in &names {
                    if let Some(with) = self.taken.get(series) {
                        return Err(RegistryError::Clash {
                            name: name.into(),
                            with: with.clone(),
                            series: series.clone(),
                        });
                    }
                }
                self.taken.extend(names.into_iter().map(|series| (series, name.into())));
                Ok(place.insert(Family { kind: kind.clone(), series: BTreeMap::new() }))
            }
        }
    }

    /// Adds a series that there must not be yet, to a family that is made if there is none.
    pub(super) fn add(
        &mut self,
        name: &str,
        kind: &Kind,
        labels: String,
        metric: Metric,
    ) -> Result<(), RegistryError> {
        match self.of(name, kind)?.series.entry(labels) {
            Entry::Occupied(_) => Err(RegistryError::Taken { name: name.into() }),
            Entry::Vacant(place) => {
                place.insert(Series::new(metric));
                self.count += 1;
                Ok(())
            }
        }
    }

    /// The most series that a name may have.
    pub(super) fn limit(&self, name: &str) -> usize {
        let limit = self.limits.of_names.get(name).copied().or(self.limits.of_each);
        limit.unwrap_or(usize::MAX)
    }

    /// Removes a series; the last of its family takes the family with it.
    pub(super) fn remove(&mut self, name: &str, labels: &str) -> Option<Series> {
        let family = self.by_name.get_mut(name)?;
        let series = family.series.remove(labels)?;
        self.count -= 1;
        if family.series.is_empty() {
            self.remove_family(name);
        }
        Some(series)
    }

    /// Removes a family with all its series.
    pub(super) fn remove_family(&mut self, name: &str) -> Option<Family> {
        let family = self.by_name.remove(name)?;
        self.count -= family.series.len();
        for series in family.kind.names(name) {
            self.taken.remove(&series);
        }
        Some(family)
    }
}
