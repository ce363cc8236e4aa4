//! Results as one JSON document, and back: what `--json` prints, and what `show` and `compare` read.

use super::{Environment, Key, Metric, Origin, Record, Results, Stat, Value};
use anyhow::Context;
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version of the document.
pub const SCHEMA: &str = "freehold/2";
/// Where the last results are kept, under the build folder of the repository.
const LAST: &str = "target/freehold/last.json";

/// A finding, as the document has it.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// `ahead` or `behind`.
    pub verdict: &'static str,
    /// What was run.
    pub what: String,
    /// The best of the others.
    pub rival: String,
    /// What is compared.
    pub metric: &'static str,
    /// The default engine's figure.
    pub ours: f64,
    /// The rival's.
    pub theirs: f64,
}

/// The document.
#[derive(Serialize)]
pub struct Document<'a> {
    schema: &'a str,
    command: &'a str,
    environment: &'a Environment,
    records: &'a [Record],
    findings: &'a [Found],
    notes: &'a [String],
    facts: &'a BTreeMap<String, String>,
}

impl<'a> Document<'a> {
    /// Of a command's results.
    pub fn of(
        command: &'a str,
        environment: &'a Environment,
        results: &'a Results,
        findings: &'a [Found],
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
    pub fn keep(&self) -> anyhow::Result<()> {
        let file = PathBuf::from(LAST);
        match file.parent().filter(|folder| folder.parent().is_some_and(Path::is_dir)) {
            Some(folder) => {
                std::fs::create_dir_all(folder)?;
                std::fs::write(&file, self.text()?).with_context(|| format!("writing {LAST}"))
            }
            None => Ok(()),
        }
    }
}

/// Reads a document, the last one unless a file is named: the command, its results, and where they were measured.
///
/// # Errors
/// There is none, or it is of another schema.
pub fn read(file: Option<&Path>) -> anyhow::Result<(String, Results, Environment)> {
    let file = file.unwrap_or(Path::new(LAST));
    let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let document: Json =
        serde_json::from_str(&text).with_context(|| format!("reading {}", file.display()))?;
    let schema = document["schema"].as_str().unwrap_or("none");
    anyhow::ensure!(schema == SCHEMA, "{}: the schema is {schema}, not {SCHEMA}", file.display());
    let mut results = Results::default();
    for record in document["records"].as_array().into_iter().flatten() {
        let parsed = parse(record).with_context(|| format!("{}: {record}", file.display()))?;
        let engine = (parsed.key.label(), "", parsed.key.default);
        if !engine.0.is_empty() && !results.engines.contains(&engine) {
            results.engines.push(engine);
        }
        results.records.push(parsed);
    }
    let part = |name: &str| document[name].clone();
    let of = || file.display().to_string();
    results.notes = serde_json::from_value(part("notes")).with_context(of)?;
    results.facts = serde_json::from_value(part("facts")).with_context(of)?;
    let environment = serde_json::from_value(part("environment")).with_context(of)?;
    Ok((document["command"].as_str().unwrap_or_default().to_owned(), results, environment))
}

/// A record out of its object: every field that the schema has, and no other without a value.
///
/// # Errors
/// Which field is not as it should be.
pub fn parse(json: &Json) -> anyhow::Result<Record> {
    let fields = json.as_object().context("a record is an object")?;
    let text = |name: &str| fields.get(name).and_then(Json::as_str);
    let number = |name: &str| fields.get(name).and_then(Json::as_f64);
    let metric = text("metric").and_then(|name| Metric::ALL.iter().find(|metric| metric.name() == name));
    let metric = *metric.context("metric")?;
    let stat = text("stat").and_then(|name| Stat::ALL.into_iter().find(|stat| stat.name() == name));
    anyhow::ensure!(text("unit") == Some(metric.unit().name()), "unit");
    let origin = match text("origin").context("origin")? {
        "measured" => Origin::Measured,
        "extrapolated" => Origin::Extrapolated(fields.get("from").and_then(Json::as_u64).context("from")?),
        "estimated" => Origin::Estimated,
        "published" => Origin::Published(text("source").context("source")?.to_owned()),
        _ => anyhow::bail!("origin"),
    };
    let mut key = Key::new(text("suite").unwrap_or_default(), text("workload").unwrap_or_default());
    key = key.engine(text("engine").unwrap_or_default()).op(text("op").unwrap_or_default());
    key.default = fields.contains_key("default");
    key.ours = fields.contains_key("ours");
    const OWN: [&str; 15] = [
        "suite", "workload", "engine", "op", "default", "ours", "metric", "stat", "value", "unit", "lo",
        "hi", "samples", "origin", "source",
    ];
    for (name, value) in fields.iter().filter(|(name, _)| !OWN.contains(&name.as_str()) && *name != "from") {
        let value = match value {
            Json::String(text) => Value::Text(text.clone()),
            other => Value::Number(other.as_u64().with_context(|| name.clone())?),
        };
        key.params.insert(name.clone(), value);
    }
    Ok(Record {
        key,
        metric,
        stat: stat.context("stat")?,
        value: number("value").context("value")?,
        spread: number("lo").zip(number("hi")).map(|(lo, hi)| [lo, hi]),
        samples: fields.get("samples").and_then(Json::as_u64).context("samples")?,
        origin,
    })
}
