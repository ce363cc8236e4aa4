//! What was measured: flat records, and what is drawn of a run beside them. Everything that is shown is a view of these.
//!
//! ```text
//!   a command ---> Results: records, series, pictures, notes ---> view: text, page, JSON
//!   published figures -----^                                  ^--- a stored document, by `show` and `compare`
//! ```

mod counts;
mod environment;
mod field;
mod grid;
mod load;
mod metric;
mod number;
mod picture;
mod select;
mod store;
mod time;

pub use counts::Counts;
pub use environment::{Environment, told_bytes};
pub use field::Field;
pub use grid::{Grid, ROWS};
pub use load::Load;
pub use metric::{Metric, Stat, Unit};
pub use number::{count, counted, figure, figure_like, fixed, nanoseconds, of_number};
pub use picture::{Strip, Strips};
pub use select::{Select, largest, parts, under, values};
pub use store::{Document, SCHEMA, read};
pub use time::{Tick, Time, byte_ticks, round_step};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Not;
use store::Stored;

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A word.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

macro_rules! values {
    ($($of:ty => $variant:ident),*) => {
        $(impl From<$of> for Value {
            fn from(value: $of) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

values! { u64 => Number, u32 => Number, &str => Text, String => Text }

/// What a figure is of. A text that does not apply is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Key {
    /// The family of engines.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub suite: String,
    /// What was run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workload: String,
    /// Who ran it, or who published it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// The operation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub op: String,
    /// Everything else, by its name in JSON.
    #[serde(flatten)]
    pub params: BTreeMap<Field, Value>,
    /// Whether the engine is the one that users get.
    #[serde(skip_serializing_if = "Not::not")]
    pub default: bool,
    /// Whether the engine is one of ours, which is no rival.
    #[serde(skip_serializing_if = "Not::not")]
    pub ours: bool,
    /// Whether the engine does what today's Linux does, which is what is compared first.
    #[serde(skip_serializing_if = "Not::not")]
    pub linux: bool,
}

impl Key {
    /// Of a workload.
    pub fn new(suite: &str, workload: impl Into<String>) -> Self {
        Self { suite: suite.to_owned(), workload: workload.into(), ..Self::default() }
    }

    /// The same of an operation.
    pub fn op(mut self, op: impl Into<String>) -> Self {
        self.op = op.into();
        self
    }

    /// The same by someone else.
    pub fn engine(mut self, engine: impl Into<String>) -> Self {
        self.engine = engine.into();
        self
    }

    /// The same with one more parameter.
    pub fn param(mut self, field: Field, value: impl Into<Value>) -> Self {
        self.params.insert(field, value.into());
        self
    }

    /// The same with a parameter, if there is one.
    pub fn param_if(self, field: Field, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.param(field, value),
            None => self,
        }
    }

    /// A field; `None` where it does not apply. The engine has its placement with it.
    pub fn field(&self, field: Field) -> Option<String> {
        let text = match field {
            Field::Suite => self.suite.clone(),
            Field::Workload => self.workload.clone(),
            Field::Op => self.op.clone(),
            Field::Engine => self.label(),
            other => return self.params.get(&other).map(Value::to_string),
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// The engine with its placement, as users write it.
    pub fn label(&self) -> String {
        match self.params.get(&Field::Placement) {
            Some(placement) => format!("{}:{placement}", self.engine),
            None => self.engine.clone(),
        }
    }

    /// Whether two are of the same but for the engine.
    pub fn compares(&self, other: &Self) -> bool {
        let others = |key: &Self| {
            let mut params = key.params.clone();
            params.remove(&Field::Placement);
            params
        };
        (&self.suite, &self.workload, &self.op) == (&other.suite, &other.workload, &other.op)
            && others(self) == others(other)
    }
}

/// Where a value is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Measured in this run.
    #[default]
    Measured,
    /// Computed from what was measured of so many.
    Extrapolated(u64),
    /// The engine cannot tell; someone reckoned.
    Estimated,
    /// Published by others, in this source.
    Published(String),
}

impl Origin {
    /// Its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Extrapolated(_) => "extrapolated",
            Self::Estimated => "estimated",
            Self::Published(_) => "published",
        }
    }

    /// What stands behind a figure that was not measured.
    pub fn mark(&self) -> &'static str {
        match self {
            Self::Measured | Self::Published(_) => "",
            Self::Extrapolated(_) => " *",
            Self::Estimated => " ~",
        }
    }
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct Record {
    /// What it is of.
    pub key: Key,
    /// What was measured.
    pub metric: Metric,
    /// Which figure of all samples.
    pub stat: Stat,
    /// The figure, in the metric's unit.
    pub value: f64,
    /// The least and the largest of the rounds.
    pub spread: Option<[f64; 2]>,
    /// The standard deviation of the rounds.
    pub stddev: Option<f64>,
    /// What it is a figure of: operations, or what else was counted.
    pub samples: u64,
    /// Where it is from.
    pub origin: Origin,
}

impl Record {
    /// A field, those of the key among them.
    pub fn field(&self, field: Field) -> Option<String> {
        match field {
            Field::Metric => Some(self.metric.name().to_owned()),
            Field::Stat => Some(self.stat.name().to_owned()),
            Field::Origin => Some(self.origin.name().to_owned()),
            Field::Source => match &self.origin {
                Origin::Published(source) => Some(source.clone()),
                _ => None,
            },
            other => self.key.field(other),
        }
    }

    /// The least and the largest that it may be.
    pub fn range(&self) -> [f64; 2] {
        self.spread.unwrap_or([self.value; 2])
    }
}

/// Lines over one axis: a value of each measure at each point. Drawn, and not in JSON.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// What views call it.
    pub id: &'static str,
    /// The workload.
    pub workload: String,
    /// The line's name: an engine, mostly.
    pub line: String,
    /// The points along x.
    pub at: Vec<f64>,
    /// When each point was, in seconds, where there is a clock.
    pub clock_s: Vec<f64>,
    /// For each measure a value at each point.
    pub values: Vec<Vec<Option<f64>>>,
}

/// How notes begin of what a recording has lost. They come before any figure.
pub const LOST: &str = "LOST: ";

/// Whether a note comes before any figure.
pub fn comes_first(note: &str) -> bool {
    [LOST, load::BUSY].iter().any(|start| note.starts_with(start))
}

/// What a command found.
#[derive(Debug, Default)]
pub struct Results {
    /// Every figure.
    pub records: Vec<Record>,
    /// What is drawn over time.
    pub series: Vec<Series>,
    /// What is looked at: what views call it, the workload, the picture.
    pub pictures: Vec<(&'static str, String, Strips)>,
    /// What texts of views may name in braces.
    pub facts: BTreeMap<String, String>,
    /// Engines that were shown, with what they are.
    pub engines: Vec<(String, &'static str, bool)>,
    /// What the reader should know beside the figures.
    pub notes: Vec<String>,
    /// Something was wrong.
    pub failed: bool,
}

impl Results {
    /// Adds figures of a key.
    pub fn of(&mut self, key: Key) -> Figures<'_> {
        Figures { results: self, key, origin: Origin::Measured }
    }

    /// Adds a line over points that have no clock.
    pub fn line(
        &mut self,
        id: &'static str,
        workload: &str,
        line: &str,
        at: &[f64],
        values: Vec<Vec<Option<f64>>>,
    ) {
        let (workload, line, at) = (workload.to_owned(), line.to_owned(), at.to_vec());
        self.series.push(Series { id, workload, line, at, clock_s: Vec::new(), values });
    }

    /// Adds what another command found.
    pub fn absorb(&mut self, other: Self) {
        self.records.extend(other.records);
        self.series.extend(other.series);
        self.pictures.extend(other.pictures);
        self.facts.extend(other.facts);
        let new =
            other.engines.into_iter().filter(|engine| self.engines.iter().all(|known| known.0 != engine.0));
        self.engines.extend(new.collect::<Vec<_>>());
        other.notes.into_iter().for_each(|note| self.note(note));
        self.failed |= other.failed;
    }

    /// Names a fact for texts.
    pub fn fact(&mut self, name: &str, text: impl Into<String>) {
        self.facts.insert(name.to_owned(), text.into());
    }

    /// Adds a note, once.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// What is told of single operations, in thousandths.
const SINGLES: [(Stat, u64); 3] = [(Stat::Median, 500), (Stat::P99, 990), (Stat::P999, 999)];

/// The percentiles of single operations of a round, as [`Figures::singles`] has them.
pub fn singles(times_ns: &mut Counts) -> [u64; 3] {
    SINGLES.map(|(_, per_mille)| times_ns.percentile(per_mille))
}

/// Figures of one key on their way into the results.
pub struct Figures<'a> {
    results: &'a mut Results,
    key: Key,
    origin: Origin,
}

impl Figures<'_> {
    /// The next figures are from there.
    pub fn origin(&mut self, origin: Origin) -> &mut Self {
        self.origin = origin;
        self
    }

    /// One figure.
    pub fn put(&mut self, metric: Metric, stat: Stat, value: f64, samples: u64) -> &mut Self {
        self.spread(metric, stat, value, None, samples)
    }

    /// A number of something, which is exact.
    pub fn total(&mut self, metric: Metric, value: u64) -> &mut Self {
        self.put(metric, Stat::Total, value as f64, value)
    }

    /// A figure, if there is one.
    pub fn some(&mut self, metric: Metric, stat: Stat, value: Option<f64>) -> &mut Self {
        if let Some(value) = value {
            self.put(metric, stat, value, 1);
        }
        self
    }

    /// The median of rounds with their least and largest, if there are several; nothing of none. `samples` are the operations of all.
    pub fn rounds(&mut self, metric: Metric, rounds: &[f64], samples: u64) -> &mut Self {
        let mut sorted = rounds.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        if let (Some(&least), Some(&largest)) = (sorted.first(), sorted.last()) {
            let median = sorted.get(sorted.len() / 2).copied().unwrap_or(least);
            let spread = (sorted.len() > 1).then_some([least, largest]);
            self.spread(metric, Stat::Median, median, spread, samples).deviating(rounds);
        }
        self
    }

    /// Mean and percentiles of counts; nothing of none.
    pub fn counts(&mut self, metric: Metric, counts: &mut Counts) -> &mut Self {
        let samples = counts.len() as u64;
        if samples > 0 {
            self.put(metric, Stat::Mean, counts.mean(), samples);
            for (stat, per_mille) in [(Stat::P99, 990), (Stat::P999, 999), (Stat::Max, 1000)] {
                self.put(metric, stat, counts.percentile(per_mille) as f64, samples);
            }
        }
        self
    }

    /// Median and percentiles of single operations' times, of all rounds together; with the spread of those of each round, if there
    /// are several. Nothing of none.
    pub fn singles(&mut self, times_ns: &mut Counts, rounds: &[[u64; 3]]) -> &mut Self {
        let samples = times_ns.len() as u64;
        for (at, (stat, per_mille)) in SINGLES.into_iter().enumerate().filter(|_| samples > 0) {
            let of = |round: &[u64; 3]| round[at] as f64;
            let ends = [f64::min, f64::max].map(|end| rounds.iter().map(of).reduce(end).unwrap_or(0.0));
            let spread = (rounds.len() > 1).then_some(ends);
            self.spread(Metric::Time, stat, times_ns.percentile(per_mille) as f64, spread, samples);
            self.deviating(&rounds.iter().map(of).collect::<Vec<_>>());
        }
        self
    }

    /// A figure with the least and the largest of its rounds, if it has several.
    pub fn spread(
        &mut self,
        metric: Metric,
        stat: Stat,
        value: f64,
        spread: Option<[f64; 2]>,
        samples: u64,
    ) -> &mut Self {
        let (key, origin) = (self.key.clone(), self.origin.clone());
        let stddev = None;
        self.results.records.push(Record { key, metric, stat, value, spread, stddev, samples, origin });
        self
    }

    /// The last figure is of these rounds.
    fn deviating(&mut self, rounds: &[f64]) -> &mut Self {
        let mean = rounds.iter().sum::<f64>() / rounds.len() as f64;
        let squares: f64 = rounds.iter().map(|round| (round - mean).powi(2)).sum();
        if let Some(last) = self.results.records.last_mut().filter(|_| rounds.len() > 1) {
            last.stddev = Some((squares / (rounds.len() - 1) as f64).sqrt());
        }
        self
    }
}
