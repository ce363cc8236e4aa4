//! `add` and `histogram`: what an add or a record takes, by threads at once.

use super::engines::{self, Engines, Loops};
use super::{Bench, SUITE, threads};
use crate::concurrent::place::together_ns;
use crate::concurrent::{FLOOR, Who};
use crate::record::Field;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The case `add`.
pub(super) fn adds(bench: &mut Bench) -> anyhow::Result<()> {
    time(bench, "add", "add", engines::counters()?)
}

/// The case `histogram`.
pub(super) fn records(bench: &mut Bench) -> anyhow::Result<()> {
    time(bench, "histogram", "record", engines::histograms()?)
}

fn time(bench: &mut Bench, case: &str, op: &str, (engines, lacking): Engines) -> anyhow::Result<()> {
    for (who, reason) in bench.wanted(lacking) {
        bench.results.note(format!("{}: not here: {reason}", who.label()));
    }
    let mut runs: Vec<Run> =
        bench.wanted(engines).into_iter().map(|(who, engine)| Run::new(who, engine)).collect();
    let operations = bench.amount.operations;
    for threads in threads() {
        let keys =
            runs.iter().map(|run| [run.who.key(SUITE, case, op).param(Field::Threads, threads)]).collect();
        let each = [operations * threads as usize];
        bench.time(&format!("{case}: {threads} threads"), keys, each, |round, at| {
            let ns = runs[at].round(round, threads, operations as u64);
            Ok([ns.map_err(|wrong| wrong.context(case.to_owned()))?])
        })?;
    }
    Ok(())
}

/// An engine, the operations that it has done, and the sum of what they brought.
pub struct Run {
    who: Who,
    engine: Box<dyn Loops>,
    done: u64,
    sum: AtomicU64,
}

impl Run {
    /// Of a fresh engine.
    pub fn new(who: Who, engine: Box<dyn Loops>) -> Self {
        Self { who, engine, done: 0, sum: AtomicU64::new(0) }
    }

    /// One round: all threads at once, then the sum is checked. Nanoseconds of an operation.
    pub fn round(&mut self, round: usize, threads: u32, operations: u64) -> anyhow::Result<f64> {
        let (ns, tries) = together_ns(threads, &|thread| {
            self.sum.fetch_add(self.engine.many(round, thread, operations), Relaxed);
        })?;
        let all = operations * u64::from(threads);
        self.done += all * u64::from(tries);
        if self.who.engine != FLOOR {
            let (wanted, seen) = ((self.done, self.sum.load(Relaxed)), self.engine.seen());
            let label = self.who.label();
            anyhow::ensure!(wanted == seen, "{label}: count and sum are {wanted:?}, it has {seen:?}");
        }
        Ok(ns / all as f64)
    }
}
