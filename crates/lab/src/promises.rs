//! What is promised, in `bench/promises.tsv`: one figure of the run by another, beside the bound. A figure that the run lacks has
//! no row. A broken promise on what is counted fails the run; one on time is shown with its spread.

use crate::record::{Field, Key, Metric, Record, Results, Select, Stat, fixed};
use std::str::FromStr;
use std::sync::LazyLock;

/// A promise.
#[derive(Clone, Debug)]
pub struct Promise {
    /// The family, or what else is benched.
    pub suite: String,
    what: String,
    /// The figure.
    pub of: Select,
    /// Those of which the least is compared with it; none if it is for itself.
    pub by: Vec<Select>,
    /// How many times the other it may be.
    bound: Bound,
}

/// The most or the least that a ratio may be.
#[derive(Clone, Copy, Debug)]
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

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |number: &str| number.parse().map_err(|_| format!("no number {number:?}"));
        match (text.strip_prefix("at most "), text.strip_prefix("at least ")) {
            (Some(most), _) => number(most).map(Self::AtMost),
            (_, Some(least)) => number(least).map(Self::AtLeast),
            (None, None) => Err(format!("no bound {text:?}")),
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

impl FromStr for Promise {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[suite, what, of, by, bound] = fields.as_slice() else {
            return Err(format!("{} fields instead of 5", fields.len()));
        };
        let by = by.split(" or ").filter(|by| !by.is_empty()).map(figure).collect::<Result<_, _>>()?;
        let (suite, what) = (suite.to_owned(), what.to_owned());
        Ok(Self { suite, what, of: figure(of)?, by, bound: bound.parse()? })
    }
}

/// A figure, a median time unless other metrics are asked for.
fn figure(fields: &str) -> Result<Select, String> {
    let usual =
        Select::default().and(Field::Metric, Metric::Time.name()).and(Field::Stat, Stat::Median.name());
    Ok(usual.with(&fields.parse()?))
}

/// All promises of a text.
///
/// # Errors
/// The line that is none, and why.
pub fn parse(text: &str) -> Result<Vec<Promise>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.parse().map_err(|error| format!("{line}: {error}"))).collect()
}

#[allow(clippy::expect_used, reason = "a test reads it")]
static ALL: LazyLock<Vec<Promise>> =
    LazyLock::new(|| parse(include_str!("../bench/promises.tsv")).expect("promises"));

/// What is promised of a suite.
pub fn of(suite: &str) -> impl Iterator<Item = &'static Promise> {
    ALL.iter().filter(move |promise| promise.suite == suite)
}

/// Adds the promises that the run has figures for.
pub fn add<'a>(promises: impl Iterator<Item = &'a Promise>, results: &mut Results) {
    for promise in promises {
        let find = |select: &Select| results.records.iter().find(|record| select.takes(record));
        let by: Option<Vec<&Record>> = promise.by.iter().map(find).collect();
        let Some((of, by)) = find(&promise.of).zip(by) else { continue };
        let least = by.into_iter().min_by(|a, b| a.value.total_cmp(&b.value));
        let (by, [by_least, by_most]) = least.map_or((1.0, [1.0; 2]), |by| (by.value, by.range()));
        let (ratio, [least, most]) = (of.value / by, of.range());
        let spread = (least < most || by_least < by_most).then_some([least / by_most, most / by_least]);
        let is_timed = matches!(of.metric, Metric::Time | Metric::Rate);
        let (is_kept, samples) = (promise.bound.is_kept(ratio), of.samples);
        let mut key = Key::new(&promise.suite, "promise")
            .op(promise.what.as_str())
            .param(Field::Bound, promise.bound.to_string())
            .param(Field::Kept, if is_kept { "yes" } else { "no" });
        key.params.extend(promise.of.numbers().map(|(name, value)| (name, value.into())));
        results.of(key).spread(Metric::Ratio, Stat::Total, ratio, spread, samples);
        if !is_kept && !is_timed {
            let (what, bound) = (&promise.what, promise.bound);
            results.note(format!("FAILED: {what}: {}, and promised is {bound}", fixed(ratio)));
            results.failed = true;
        }
    }
}
