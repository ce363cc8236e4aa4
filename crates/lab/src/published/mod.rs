//! Figures that others have published, to be shown beside ours: `bench/published.tsv`, a figure to a line.
//!
//! Nothing there was measured by this program, and nothing that it shows as its own comes from there. A figure says which of our
//! records stand beside it, each of which a run must have exactly once, or why there is none.

mod beside;

pub use beside::{Beside, Reproduced, conclude};

use crate::record::{Field, Metric, Origin, Record, Select, Stat};
use std::str::FromStr;
use std::sync::LazyLock;

/// A table of figures from one source, in its order.
#[derive(Clone, Debug)]
pub struct Source {
    /// The family that it is about.
    pub suite: String,
    /// Where and when.
    pub source: String,
    /// What its figures before and after the change are called where they stand beside ours; nothing where they do not.
    names: [String; 2],
    /// The figures.
    pub figure: Vec<Figure>,
    /// How often each value came.
    pub histogram: Vec<Histogram>,
}

/// One figure, before and after a change; either may be lacking.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What was measured, where.
    pub what: String,
    /// Records like it, whoever's; nothing if there are none.
    pub of: Select,
    metric: Metric,
    stat: Stat,
    /// Operations that it is of, where a record is of one.
    per: f64,
    /// Before the change.
    pub before: Option<Quantity>,
    /// After it.
    pub after: Option<Quantity>,
    /// What of ours stands beside it: the ratio of two, one's figure, or nothing.
    pub ours: Vec<Select>,
    /// How far ours is alike, or why there is none.
    pub note: String,
}

/// How often each value came.
#[derive(Clone, Debug)]
pub struct Histogram {
    engine: String,
    of: Select,
    /// Values, and how often they came.
    pub counts: Vec<[u64; 2]>,
}

/// A value as it was published, in its own unit.
#[derive(Clone, Debug, PartialEq)]
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

impl FromStr for Quantity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bound = text.strip_prefix("> ");
        let (value, unit) = bound.unwrap_or(text).split_once(' ').ok_or("a number and its unit")?;
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

/// Reads what is there; nothing of an empty text.
fn some<T: FromStr<Err = String>>(text: &str) -> Result<Option<T>, String> {
    if text.is_empty() { Ok(None) } else { text.parse().map(Some) }
}

impl FromStr for Figure {
    type Err = String;

    /// `what`, the records, `metric:stat/per`, before, after, ours, note: between tabs.
    fn from_str(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[what, of, figure, before, after, ours, note] = fields.as_slice() else {
            return Err(format!("{} fields instead of 7", fields.len()));
        };
        let (figure, per) = figure.split_once('/').unwrap_or((figure, "1"));
        let (metric, stat) =
            if figure.is_empty() { ("time", "median") } else { figure.split_once(':').ok_or("no stat")? };
        let ours = ours.split(" over ").filter(|side| !side.is_empty()).map(str::parse);
        Ok(Self {
            what: what.to_owned(),
            of: of.parse()?,
            metric: Metric::named(metric).ok_or_else(|| format!("no metric {metric:?}"))?,
            stat: Stat::named(stat).ok_or_else(|| format!("no stat {stat:?}"))?,
            per: per.parse().map_err(|_| format!("no number {per:?}"))?,
            before: some(before)?,
            after: some(after)?,
            ours: ours.collect::<Result<_, String>>()?,
            note: note.to_owned(),
        })
    }
}

impl Figure {
    /// How many times as much it was before; `None` unless both are there and of one kind.
    pub fn ratio(&self) -> Option<f64> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let alike = before.unit.1 == after.unit.1 && after.value > 0.0;
        alike.then(|| before.value * before.unit.2 / (after.value * after.unit.2))
    }
}

impl FromStr for Histogram {
    type Err = String;

    /// `engine`, the records, values with their counts: between tabs.
    fn from_str(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[engine, of, counts] = fields.as_slice() else { return Err("no 3 fields".to_owned()) };
        let counts = counts.split(' ').map(|count| {
            let (value, times) = count.split_once(':')?;
            Some([value.parse().ok()?, times.parse().ok()?])
        });
        let counts = counts.collect::<Option<_>>().ok_or_else(|| format!("no counts: {line}"))?;
        Ok(Self { engine: engine.to_owned(), of: of.parse()?, counts })
    }
}

impl Source {
    /// Its figures as records beside ours: those of a time for an operation, and the histograms.
    fn records(&self) -> Vec<Record> {
        let record = |key, metric, stat, value| {
            let origin = Origin::Published(self.source.clone());
            Record { key, metric, stat, value, spread: None, stddev: None, samples: 1, origin }
        };
        let mut records = Vec::new();
        for figure in self.figure.iter().filter(|figure| !figure.of.is_empty()) {
            for (name, quantity) in self.names.iter().zip([&figure.before, &figure.after]) {
                let Some(quantity) = quantity.as_ref().filter(|of| of.unit.1 == "time" && !name.is_empty())
                else {
                    continue;
                };
                let value = quantity.value * quantity.unit.2 / figure.per;
                records.push(record(figure.of.key(&self.suite, name), Metric::Time, figure.stat, value));
            }
        }
        for histogram in &self.histogram {
            let of = histogram.of.key(&self.suite, &histogram.engine);
            records.extend(histogram.counts.iter().map(|&[value, count]| {
                record(of.clone().param(Field::N, value), Metric::Requests, Stat::Total, count as f64)
            }));
        }
        records
    }
}

/// Reads the sources of a text, each line of which is a source, a figure or a histogram of the one before, or a comment.
///
/// # Errors
/// The line that is none, and why.
pub fn parse(text: &str) -> Result<Vec<Source>, String> {
    let mut sources: Vec<Source> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let (kind, rest) = line.split_once('\t').unwrap_or((line, ""));
        let read = match (kind, sources.last_mut()) {
            ("source", _) => source(rest).map(|source| sources.push(source)),
            ("figure", Some(source)) => rest.parse().map(|figure| source.figure.push(figure)),
            ("histogram", Some(source)) => rest.parse().map(|histogram| source.histogram.push(histogram)),
            _ => Err(format!("no {kind:?} can stand here")),
        };
        read.map_err(|error| format!("line {}: {error}", at + 1))?;
    }
    Ok(sources)
}

fn source(line: &str) -> Result<Source, String> {
    let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
    let [suite, source, before, after] = <[String; 4]>::try_from(fields).map_err(|_| "no 4 fields")?;
    Ok(Source { suite, source, names: [before, after], figure: Vec::new(), histogram: Vec::new() })
}

/// Every source, a family's own publication before the others about it.
#[allow(clippy::expect_used, reason = "a test reads it")]
pub static SOURCES: LazyLock<Vec<Source>> =
    LazyLock::new(|| parse(include_str!("../../bench/published.tsv")).expect("published figures"));

/// The sources about a family.
pub fn of_suite(suite: &str) -> impl Iterator<Item = &'static Source> {
    SOURCES.iter().filter(move |source| source.suite == suite)
}

/// The published figures about a family that can stand beside ours.
pub fn records(suite: &str) -> Vec<Record> {
    of_suite(suite).flat_map(Source::records).collect()
}
