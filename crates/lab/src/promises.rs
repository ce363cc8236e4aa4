//! What is promised, in `bench/promises.toml`: one figure of the run by another, beside the bound. A figure that the run lacks has
//! no row.

use crate::record::{Key, Metric, Record, Results, Select, Stat};
use serde::Deserialize;
use std::sync::LazyLock;

/// A promise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    suite: String,
    what: String,
    /// The figure.
    of: Select,
    /// Those of which the least is compared with it; none if it is for itself.
    #[serde(default)]
    by: Vec<Select>,
    /// How many times the other it may be.
    bound: Bound,
}

/// The most or the least that a ratio may be.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn is_kept(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::AtLeast(least) => write!(f, "at least {least}"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promises {
    promise: Vec<Promise>,
}

/// All promises of a text.
pub fn parse(text: &str) -> Result<Vec<Promise>, toml::de::Error> {
    Ok(toml::from_str::<Promises>(text)?.promise)
}

#[allow(clippy::expect_used, reason = "a test reads it")]
static ALL: LazyLock<Vec<Promise>> =
    LazyLock::new(|| parse(include_str!("../bench/promises.toml")).expect("promises"));

/// What is promised of a suite.
pub fn of(suite: &str) -> impl Iterator<Item = &'static Promise> {
    ALL.iter().filter(move |promise| promise.suite == suite)
}

/// The figure, a median time unless other metrics are asked for.
fn find<'a>(fields: &Select, results: &'a Results) -> Option<&'a Record> {
    let usual = Select::default().and("metric", Metric::Time.name()).and("stat", Stat::Median.name());
    let select = usual.with(fields);
    results.records.iter().find(|record| select.takes(record))
}

/// Adds the promises that the run has figures for.
pub fn add<'a>(promises: impl Iterator<Item = &'a Promise>, results: &mut Results) {
    for promise in promises {
        let by: Option<Vec<f64>> =
            promise.by.iter().map(|by| find(by, results).map(|record| record.value)).collect();
        let Some((of, by)) = find(&promise.of, results).zip(by) else { continue };
        let by = by.into_iter().reduce(f64::min).unwrap_or(1.0);
        let (ratio, samples) = (of.value / by, of.samples);
        let mut key = Key::new(&promise.suite, "promise")
            .op(promise.what.as_str())
            .param("bound", promise.bound.to_string())
            .param("kept", if promise.bound.is_kept(ratio) { "yes" } else { "no" });
        key.params.extend(promise.of.numbers().map(|(name, value)| (name.to_owned(), value.into())));
        results.of(key).put(Metric::Ratio, Stat::Total, ratio, samples);
    }
}
