//! Results as one JSON document, and back: what `--json` prints, and what `show` and `compare` read.

use super::{Environment, Key, Metric, Origin, Record, Results, Stat, Unit};
use anyhow::Context;
use freehold_trace::read_text;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the document.
pub const SCHEMA: &str = "freehold/2";
/// Bytes of a document at most.
const MOST_BYTES: u64 = 64 << 20;
/// Where the last results are kept, under the build folder of the repository.
const LAST: &str = "target/freehold/last.json";

/// The document.
#[derive(Serialize)]
pub struct Document<'a, F: Serialize> {
    schema: &'a str,
    command: &'a str,
    environment: &'a Environment,
    records: &'a [Record],
    findings: &'a [F],
    notes: &'a [String],
    facts: &'a BTreeMap<String, String>,
}

impl<'a, F: Serialize> Document<'a, F> {
    /// Of a command's results.
    pub fn of(
        command: &'a str,
        environment: &'a Environment,
        results: &'a Results,
        findings: &'a [F],
    ) -> Self {
        let Results { records, notes, facts, .. } = results;
        Self { schema: SCHEMA, command, environment, records, findings, notes, facts }
    }

    /// As text.
    ///
    /// # Errors
    /// A value cannot be written as JSON.
    pub fn text(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Keeps it for `show`, where the build folder is.
    ///
    /// # Errors
    /// The file cannot be written.
    #[cfg(feature = "program")]
    pub fn keep(&self) -> anyhow::Result<()> {
        let file = Path::new(LAST);
        let builds = file.parent().and_then(Path::parent).is_some_and(Path::is_dir);
        if builds { crate::output::write(file, self.text()?.as_bytes()) } else { Ok(()) }
    }
}

/// Reads a document, the last one unless a file is named: the command, its results, and where they were measured.
///
/// # Errors
/// There is none, or it is of another schema.
pub fn read(file: Option<&Path>) -> anyhow::Result<(String, Results, Environment)> {
    let hint = if file.is_none() {
        ", where a run without a command, replay, bench and others keep results if the folder `target` is there"
    } else {
        ""
    };
    let file = file.unwrap_or(Path::new(LAST));
    let text = read_text(file, MOST_BYTES).with_context(|| format!("reading {}{hint}", file.display()))?;
    let document: Json = serde_json::from_str(&text)
        .with_context(|| format!("{}: not a document of --json", file.display()))?;
    let schema = document["schema"].as_str().unwrap_or("none");
    anyhow::ensure!(schema == SCHEMA, "{}: the schema is {schema}, not {SCHEMA}", file.display());
    let of = || file.display().to_string();
    let Read { command, environment, records, notes, facts } =
        serde_json::from_value(document).with_context(of)?;
    let record =
        |json: &Json| Record::deserialize(json).with_context(|| format!("{}: {json}", file.display()));
    let records = records.iter().map(record).collect::<anyhow::Result<Vec<Record>>>()?;
    let mut engines: Vec<(String, &str, bool)> = Vec::new();
    for key in records.iter().map(|record| &record.key).filter(|key| !key.engine.is_empty()) {
        let engine = (key.label(), "", key.default);
        if !engines.contains(&engine) {
            engines.push(engine);
        }
    }
    Ok((command, Results { records, engines, notes, facts, ..Results::default() }, environment))
}

/// What is read of a document; the findings are found again.
#[derive(Deserialize)]
struct Read {
    command: String,
    environment: Environment,
    records: Vec<Json>,
    notes: Vec<String>,
    facts: BTreeMap<String, String>,
}

/// A record as its object has it: every field that the schema has, and no other without a value.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    #[serde(flatten)]
    key: Key,
    metric: Metric,
    stat: Stat,
    value: f64,
    unit: Unit,
    #[serde(skip_serializing_if = "Option::is_none")]
    lo: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hi: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sd: Option<f64>,
    samples: u64,
    origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
}

impl From<Record> for Stored {
    fn from(Record { key, metric, stat, value, spread, stddev: sd, samples, origin }: Record) -> Self {
        let (lo, hi) = spread.map(|[lo, hi]| (lo, hi)).unzip();
        let name = origin.name().to_owned();
        let (source, from) = match origin {
            Origin::Published(source) => (Some(source), None),
            Origin::Extrapolated(from) => (None, Some(from)),
            Origin::Measured | Origin::Estimated => (None, None),
        };
        Self {
            key,
            metric,
            stat,
            value,
            unit: metric.unit(),
            lo,
            hi,
            sd,
            samples,
            origin: name,
            source,
            from,
        }
    }
}

impl TryFrom<Stored> for Record {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { key, metric, stat, value, unit, lo, hi, sd, samples, origin, source, from } = stored;
        if unit != metric.unit() {
            return Err(format!("{} is not in {}", metric.name(), unit.name()));
        }
        let origin = match (origin.as_str(), source, from) {
            ("measured", None, None) => Origin::Measured,
            ("estimated", None, None) => Origin::Estimated,
            ("extrapolated", None, Some(from)) => Origin::Extrapolated(from),
            ("published", Some(source), None) => Origin::Published(source),
            _ => return Err(format!("no origin {origin:?} that it could have")),
        };
        let spread = match (lo, hi) {
            (None, None) => None,
            (Some(lo), Some(hi)) if lo <= hi => Some([lo, hi]),
            _ => return Err("lo and hi are no range".to_owned()),
        };
        if let Some(figure) = [Some(value), lo, sd].into_iter().flatten().find(|figure| *figure < 0.0) {
            return Err(format!("{} is not {figure}: nothing here is below 0", metric.name()));
        }
        Ok(Self { key, metric, stat, value, spread, stddev: sd, samples, origin })
    }
}
