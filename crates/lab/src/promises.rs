//! What is promised: one figure of the run by another, beside the bound. A figure that the run lacks has no row.

use crate::record::{Key, Metric, Record, Results, Stat};

/// A figure of the run.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) workload: &'static str,
    pub(crate) op: &'static str,
    /// As users write it.
    pub(crate) engine: &'static str,
    pub(crate) metric: Metric,
    pub(crate) stat: Stat,
    /// Parameters by name, as they are shown.
    pub(crate) params: Vec<(&'static str, u64)>,
}

impl Figure {
    /// A time.
    pub(crate) fn time(workload: &'static str, op: &'static str, engine: &'static str) -> Self {
        Self { workload, op, engine, metric: Metric::Time, stat: Stat::Median, params: Vec::new() }
    }

    /// The same with a parameter.
    pub(crate) fn at(mut self, name: &'static str, value: u64) -> Self {
        self.params.push((name, value));
        self
    }

    /// The same of another metric.
    pub(crate) fn of(self, metric: Metric, stat: Stat) -> Self {
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
pub(crate) struct Promise {
    what: &'static str,
    of: Figure,
    by: Vec<Figure>,
    bound: f64,
    at_least: bool,
}

/// The one is at most so many times the other.
pub(crate) fn at_most(what: &'static str, of: Figure, by: Figure, bound: f64) -> Promise {
    at_most_of_least(what, of, vec![by], bound)
}

/// The one is at most so many times the least of the others.
pub(crate) fn at_most_of_least(what: &'static str, of: Figure, by: Vec<Figure>, bound: f64) -> Promise {
    Promise { what, of, by, bound, at_least: false }
}

/// The one is at least so many times the other.
pub(crate) fn at_least(what: &'static str, of: Figure, by: Figure, bound: f64) -> Promise {
    Promise { what, of, by: vec![by], bound, at_least: true }
}

/// The figure is at most that.
pub(crate) fn below(what: &'static str, of: Figure, bound: f64) -> Promise {
    Promise { what, of, by: Vec::new(), bound, at_least: false }
}

/// The figure is at least that.
pub(crate) fn above(what: &'static str, of: Figure, bound: f64) -> Promise {
    Promise { what, of, by: Vec::new(), bound, at_least: true }
}

/// Adds the promises that the run has figures for.
pub(crate) fn add(suite: &str, promises: &[Promise], results: &mut Results) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_kept_or_not_by_the_figures_of_the_run() {
        let mut results = Results::default();
        for (engine, ns) in [("one", 10.0), ("other", 30.0)] {
            let key = Key::new("readers", "read").op("look-up").engine(engine).param("n", 100u64);
            results.of(key).put(Metric::Time, Stat::Median, ns, 7);
        }
        let figure = |engine, n| Figure::time("read", "look-up", engine).at("n", n);
        let promises = [
            at_most("kept", figure("one", 100), figure("other", 100), 0.4),
            at_least("broken", figure("other", 100), figure("one", 100), 3.5),
            below("alone", figure("one", 100), 9.0),
            above("alone, at least", figure("one", 100), 9.0),
            at_most_of_least(
                "least",
                figure("other", 100),
                vec![figure("other", 100), figure("one", 100)],
                2.5,
            ),
            at_most_of_least(
                "one is lacking",
                figure("one", 100),
                vec![figure("one", 100), figure("none", 100)],
                2.0,
            ),
            at_most("of another size", figure("one", 10_000), figure("other", 100), 0.5),
        ];
        add("readers", &promises, &mut results);
        let of = |what: &str| {
            let found = results.records.iter().find(|record| record.key.op == what);
            found.map(|record| (record.value, record.field("kept").unwrap(), record.samples))
        };
        assert_eq!(of("kept"), Some((10.0 / 30.0, "yes".to_owned(), 7)));
        assert_eq!(of("broken"), Some((3.0, "no".to_owned(), 7)));
        assert_eq!(of("alone"), Some((10.0, "no".to_owned(), 7)));
        assert_eq!(of("alone, at least"), Some((10.0, "yes".to_owned(), 7)));
        assert_eq!(of("least"), Some((3.0, "no".to_owned(), 7)));
        assert_eq!([of("of another size"), of("one is lacking")], [None, None]);
    }
}
