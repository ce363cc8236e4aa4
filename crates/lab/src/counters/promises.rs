//! What is promised of counters: one figure of the run by another, beside the bound. A figure that the run lacks has no row.

use super::SUITE;
use super::engines::{OURS, Who};
use crate::record::{Key, Metric, Record, Results, Stat};

/// Which figure.
struct Figure {
    case: &'static str,
    op: &'static str,
    who: Who,
    /// The number of threads, or the last of them if it is 0.
    threads: Option<u64>,
}

impl Figure {
    const fn of(case: &'static str, op: &'static str, who: Who) -> Self {
        Self { case, op, who, threads: None }
    }

    const fn add(who: Who, threads: u64) -> Self {
        Self { case: "add", op: "add", who, threads: Some(threads) }
    }

    fn find<'a>(&self, results: &'a Results) -> Option<&'a Record> {
        results.records.iter().find(|record| {
            let key = &record.key;
            let threads =
                self.threads.is_none_or(|threads| key.field("threads") == Some(threads.to_string()));
            let stat = if record.metric == Metric::Time { Stat::Median } else { Stat::Mean };
            key.workload == self.case
                && key.op == self.op
                && key.label() == self.who.label()
                && threads
                && record.stat == stat
        })
    }
}

/// A promise: what, the figure, the figure that it is compared with if it is not for itself, and the bound.
struct Promise {
    what: &'static str,
    of: Figure,
    by: Option<Figure>,
    /// At most so much; at least, if `at_least`.
    bound: f64,
    at_least: bool,
}

const fn at_most(what: &'static str, of: Figure, by: Figure, bound: f64) -> Promise {
    Promise { what, of, by: Some(by), bound, at_least: false }
}

const OUR: Who = Who::of(OURS);

/// How many promises there are.
#[cfg(test)]
pub(super) const COUNT: usize = PROMISES.len();

const PROMISES: [Promise; 13] = [
    at_most(
        "an add, by one of rung 2, 1 thread",
        Figure::add(OUR, 1),
        Figure::add(Who::ours("rung-2"), 1),
        0.75,
    ),
    at_most(
        "an add, by one of rung 2, 2 threads",
        Figure::add(OUR, 2),
        Figure::add(Who::ours("rung-2"), 2),
        0.75,
    ),
    at_most(
        "an add by mm_cid, by one of rung 2, 1 thread",
        Figure::add(Who::ours("mm-cid"), 1),
        Figure::add(Who::ours("rung-2"), 1),
        0.75,
    ),
    at_most(
        "an add by mm_cid, by one of rung 2, 2 threads",
        Figure::add(Who::ours("mm-cid"), 2),
        Figure::add(Who::ours("rung-2"), 2),
        0.75,
    ),
    Promise {
        what: "an add to one atomic that 2 threads share, by ours",
        of: Figure::add(Who::of("shared-atomic"), 2),
        by: Some(Figure::add(OUR, 2)),
        bound: 5.0,
        at_least: true,
    },
    at_most(
        "a record of a histogram, by an add, 1 thread",
        Figure { threads: Some(1), ..Figure::of("histogram", "record", OUR) },
        Figure::add(OUR, 1),
        2.5,
    ),
    at_most(
        "a record of a histogram, by an add, 2 threads",
        Figure { threads: Some(2), ..Figure::of("histogram", "record", OUR) },
        Figure::add(OUR, 2),
        2.5,
    ),
    Promise {
        what: "bytes of a counter for a further CPU that ran",
        of: Figure::of("counter-memory", "by the second CPU", OUR),
        by: None,
        bound: 10.0,
        at_least: false,
    },
    at_most(
        "a snapshot, by a copy of the same bytes",
        Figure::of("snapshot", "read", OUR),
        Figure::of("snapshot", "read", Who::of("copy")),
        2.5,
    ),
    at_most(
        "64 counters at once, by 64 one by one, from magazines",
        Figure::of("heap-batch", "make", Who::ours("bulk")),
        Figure::of("heap-batch", "make", OUR),
        0.25,
    ),
    at_most(
        "64 counters at once, by 64 one by one, first fill",
        Figure::of("heap-batch", "first fill", Who::ours("bulk")),
        Figure::of("heap-batch", "first fill", OUR),
        0.25,
    ),
    Promise {
        what: "locks taken for a counter that is made",
        of: Figure::of("heap-locks", "make", OUR),
        by: None,
        bound: 1.0 / 16.0,
        at_least: false,
    },
    Promise {
        what: "locks taken for a counter that is dropped",
        of: Figure::of("heap-locks", "drop", OUR),
        by: None,
        bound: 1.0 / 16.0,
        at_least: false,
    },
];

/// Adds the promises that the run has figures for.
pub(super) fn add(results: &mut Results) {
    for promise in &PROMISES {
        let by = match &promise.by {
            Some(by) => by.find(results).map(|record| record.value),
            None => Some(1.0),
        };
        let Some((of, by)) = promise.of.find(results).zip(by) else { continue };
        let (ratio, samples) = (of.value / by, of.samples);
        let kept = if promise.at_least { ratio >= promise.bound } else { ratio <= promise.bound };
        let key = Key::new(SUITE, "promise")
            .op(promise.what)
            .param(
                "bound",
                format!("{} {}", if promise.at_least { "at least" } else { "at most" }, promise.bound),
            )
            .param("kept", if kept { "yes" } else { "no" });
        results.of(key).put(Metric::Ratio, Stat::Total, ratio, samples);
    }
}
