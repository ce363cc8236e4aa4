//! What is promised: one figure of the run by another, beside the bound. A figure that the run lacks has no row.

use crate::record::{Key, Metric, Record, Results, Stat};

/// A figure of the run.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The workload.
    pub workload: &'static str,
    /// The operation.
    pub op: &'static str,
    /// As users write it.
    pub engine: &'static str,
    /// What was measured.
    pub metric: Metric,
    /// Which figure of it.
    pub stat: Stat,
    /// Parameters by name, as they are shown.
    pub params: Vec<(&'static str, u64)>,
}

impl Figure {
    /// A time.
    pub fn time(workload: &'static str, op: &'static str, engine: &'static str) -> Self {
        Self { workload, op, engine, metric: Metric::Time, stat: Stat::Median, params: Vec::new() }
    }

    /// The same with a parameter.
    pub fn at(mut self, name: &'static str, value: u64) -> Self {
        self.params.push((name, value));
        self
    }

    /// The same of another metric.
    pub fn of(self, metric: Metric, stat: Stat) -> Self {
        Self { metric, stat, ..self }
    }

    fn find<'a>(&self, results: &'a Results) -> Option<&'a Record> {
        results.records.iter().find(|record| {
            let key = &record.key;
            let with = |&(name, value): &(&str, u64)| key.field(name) == Some(value.to_string());
            (key.workload.as_str(), key.op.as_str(), record.metric, record.stat)
                == (self.workload, self.op, self.metric, self.stat)
                && key.label() == self.engine
                && self.params.iter().all(with)
        })
    }
}

/// A promise: what, the figure, those of which the least is compared with it, none if it is for itself, and the bound.
#[derive(Clone, Debug)]
pub struct Promise {
    what: &'static str,
    of: Figure,
    by: Vec<Figure>,
    bound: f64,
    at_least: bool,
}

/// The one is at most so many times the other.
pub fn at_most(what: &'static str, of: Figure, by: Figure, bound: f64) -> Promise {
    at_most_of_least(what, of, vec![by], bound)
}

/// The one is at most so many times the least of the others.
pub fn at_most_of_least(what: &'static str, of: Figure, by: Vec<Figure>, bound: f64) -> Promise {
    Promise { what, of, by, bound, at_least: false }
}

/// The one is at least so many times the other.
pub fn at_least(what: &'static str, of: Figure, by: Figure, bound: f64) -> Promise {
    Promise { what, of, by: vec![by], bound, at_least: true }
}

/// The figure is at most that.
pub fn below(what: &'static str, of: Figure, bound: f64) -> Promise {
    Promise { what, of, by: Vec::new(), bound, at_least: false }
}

/// The figure is at least that.
pub fn above(what: &'static str, of: Figure, bound: f64) -> Promise {
    Promise { what, of, by: Vec::new(), bound, at_least: true }
}

/// Adds the promises that the run has figures for.
pub fn add(suite: &str, promises: &[Promise], results: &mut Results) {
    for promise in promises {
        let by: Option<Vec<f64>> =
            promise.by.iter().map(|by| by.find(results).map(|record| record.value)).collect();
        let Some((of, by)) = promise.of.find(results).zip(by) else { continue };
        let by = by.into_iter().reduce(f64::min).unwrap_or(1.0);
        let (ratio, samples) = (of.value / by, of.samples);
        let kept = if promise.at_least { ratio >= promise.bound } else { ratio <= promise.bound };
        let word = if promise.at_least { "at least" } else { "at most" };
        let mut key = Key::new(suite, "promise")
            .op(promise.what)
            .param("bound", format!("{word} {}", promise.bound))
            .param("kept", if kept { "yes" } else { "no" });
        key.params.extend(promise.of.params.iter().map(|&(name, value)| (name.to_owned(), value.into())));
        results.of(key).put(Metric::Ratio, Stat::Total, ratio, samples);
    }
}
