//! Figures that others have published, to be shown beside ours: `bench/published/*.toml`, a table to a file.
//!
//! Nothing there was measured by this program, and nothing that it shows as its own comes from there. A figure says which
//! of our records it is like, and how far, or why there is none.

use crate::record::{Metric, Origin, Record, Select, Stat};
use serde::Deserialize;
use std::sync::LazyLock;

include!(concat!(env!("OUT_DIR"), "/published.rs"));

/// A table of figures from one source, in its order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Where and when.
    pub source: String,
    /// The family that it is about.
    pub suite: String,
    /// Its place among the family's sources.
    order: u32,
    /// What its figures before the change are called where they stand beside ours.
    #[serde(default)]
    before: String,
    /// The same after the change.
    #[serde(default)]
    after: String,
    /// Operations that a figure is of.
    #[serde(default = "one")]
    pub per: f64,
    /// What of ours stands beside its figures: the ratio of two, one's figure, or nothing; no more than two.
    pub ours: Option<Vec<Select>>,
    /// The figures.
    #[serde(default)]
    pub figure: Vec<Figure>,
    /// How often each value came.
    #[serde(default)]
    pub histogram: Vec<Histogram>,
}

fn one() -> f64 {
    1.0
}

/// One figure, before and after a change; either may be lacking.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What was measured, where.
    pub what: String,
    /// Records like it, whoever's.
    #[serde(default)]
    pub of: Select,
    /// The metric of these records, a time if it does not say.
    metric: Option<Metric>,
    /// Which figure of it, the median if it does not say.
    stat: Option<Stat>,
    per: Option<f64>,
    /// What of ours stands beside it, if not what does beside its source's.
    pub ours: Option<Vec<Select>>,
    /// Before the change.
    pub before: Option<Quantity>,
    /// After it.
    pub after: Option<Quantity>,
    /// How far ours is alike, or why there is none.
    pub note: String,
}

/// How often each value came.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    engine: String,
    of: Select,
    /// Values, and how often they came.
    pub counts: Vec<[u64; 2]>,
}

/// A value as it was published, in its own unit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Quantity {
    /// The number.
    pub value: f64,
    unit: &'static (&'static str, &'static str, f64),
    /// The value is a bound, and it was more.
    pub at_least: bool,
}

/// Units: the name, what it is a multiple of, and how often. Times are in nanoseconds.
const UNITS: [(&str, &str, f64); 12] = [
    ("h", "time", 3600e9),
    ("min", "time", 60e9),
    ("s", "time", 1e9),
    ("ms", "time", 1e6),
    ("us", "time", 1e3),
    ("ns", "time", 1.0),
    ("Gcycles", "cycles", 1e9),
    ("%", "share", 0.01),
    ("KiB", "bytes", 1024.0),
    ("pages", "bytes", 4096.0),
    ("nodes", "nodes", 1.0),
    ("areas", "areas", 1.0),
];

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let bound = text.strip_prefix("> ");
        let (value, unit) = bound.unwrap_or(&text).split_once(' ').ok_or("a number and its unit")?;
        let unit = UNITS.iter().find(|known| known.0 == unit).ok_or_else(|| format!("no unit {unit:?}"))?;
        let value: f64 = value.parse().map_err(|_| format!("no number {value:?}"))?;
        Ok(Self { value, unit, at_least: bound.is_some() })
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{} {}", if self.at_least { "> " } else { "" }, self.value, self.unit.0)
    }
}

impl Figure {
    /// Whether the record is the same figure of its samples, measured here.
    pub fn is_of(&self, record: &Record) -> bool {
        record.metric == self.metric.unwrap_or(Metric::Time)
            && record.stat == self.stat.unwrap_or(Stat::Median)
            && !matches!(record.origin, Origin::Published(_))
    }

    /// How many times as much it was before; `None` unless both are there and of one kind.
    pub fn ratio(&self) -> Option<f64> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let alike = before.unit.1 == after.unit.1 && after.value > 0.0;
        alike.then(|| before.value * before.unit.2 / (after.value * after.unit.2))
    }
}

impl Source {
    /// Its figures as records beside ours: those of a time for an operation, and the histograms.
    fn records(&self) -> Vec<Record> {
        let record = |key, metric, stat, value| {
            let origin = Origin::Published(self.source.clone());
            Record { key, metric, stat, value, spread: None, samples: 1, origin }
        };
        let mut records = Vec::new();
        for figure in self.figure.iter().filter(|figure| !figure.of.is_empty()) {
            for (name, quantity) in [(&self.before, &figure.before), (&self.after, &figure.after)] {
                let Some(quantity) = quantity.as_ref().filter(|of| of.unit.1 == "time" && !name.is_empty())
                else {
                    continue;
                };
                let stat = figure.stat.unwrap_or(Stat::Median);
                let value = quantity.value * quantity.unit.2 / figure.per.unwrap_or(self.per);
                records.push(record(figure.of.key(&self.suite, name), Metric::Time, stat, value));
            }
        }
        for histogram in &self.histogram {
            let of = histogram.of.key(&self.suite, &histogram.engine);
            records.extend(histogram.counts.iter().map(|&[value, count]| {
                record(of.clone().param("n", value), Metric::Requests, Stat::Total, count as f64)
            }));
        }
        records
    }
}

#[allow(clippy::expect_used, reason = "a test reads every table that the program has")]
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let mut sources: Vec<Source> =
        TABLES.iter().map(|text| toml::from_str(text).expect("a published table is read")).collect();
    sources.sort_by_key(|source| source.order);
    sources
});

/// Every source, a family's own publication before the others about it.
pub fn sources() -> &'static [Source] {
    &SOURCES
}

/// The sources about a family.
pub fn of_suite(suite: &str) -> impl Iterator<Item = &'static Source> {
    SOURCES.iter().filter(move |source| source.suite == suite)
}

/// The published figures about a family that can stand beside ours.
pub fn records(suite: &str) -> Vec<Record> {
    of_suite(suite).flat_map(Source::records).collect()
}
