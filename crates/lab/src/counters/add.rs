//! `add` and `histogram`: what an add or a record takes, by threads at once.

use super::engines::{self, Adds, FLOOR, Lacking, RecordMany, Who};
use super::threads::{in_turn, together_ns};
use super::{Bench, key};
use crate::Progress;
use crate::record::{Metric, Results};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is timed: operations of a thread, and a check that nothing was lost since the last.
trait Timed {
    const CASE: &'static str;
    const OP: &'static str;

    /// Does so many operations as this thread.
    fn work(&self, thread: u32, count: u64);

    /// Whether exactly so many operations, and what they brought, are there since the start.
    fn check(&self, operations: u64) -> Result<(), String>;
}

struct Adding(Box<dyn Adds>);

impl Timed for Adding {
    const CASE: &'static str = "add";
    const OP: &'static str = "add";

    fn work(&self, _thread: u32, count: u64) {
        self.0.add_many(count);
    }

    fn check(&self, operations: u64) -> Result<(), String> {
        let total = self.0.total();
        if total == operations { Ok(()) } else { Err(format!("{operations} were added, it has {total}")) }
    }
}

struct Recording {
    histogram: Box<dyn RecordMany>,
    sum: AtomicU64,
}

impl Timed for Recording {
    const CASE: &'static str = "histogram";
    const OP: &'static str = "record";

    fn work(&self, thread: u32, count: u64) {
        self.sum.fetch_add(self.histogram.record_many(thread.into(), count), Relaxed);
    }

    fn check(&self, operations: u64) -> Result<(), String> {
        self.histogram.collect();
        let (wanted, seen) = ((operations, self.sum.load(Relaxed)), self.histogram.seen());
        if wanted == seen { Ok(()) } else { Err(format!("count and sum are {wanted:?}, it has {seen:?}")) }
    }
}

/// The case `add`.
pub(super) fn adds(bench: &Bench, results: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
    let (engines, lacking) = engines::counters()?;
    let engines = engines.into_iter().map(|(who, engine)| (who, Adding(engine)));
    time(bench, engines.collect(), &lacking, results, progress)
}

/// The case `histogram`.
pub(super) fn records(bench: &Bench, results: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
    let (engines, lacking) = engines::histograms()?;
    let recording = |histogram| Recording { histogram, sum: AtomicU64::new(0) };
    let engines = engines.into_iter().map(|(who, engine)| (who, recording(engine)));
    time(bench, engines.collect(), &lacking, results, progress)
}

/// An engine with the operations that it has done, and its times.
struct Run<T> {
    who: Who,
    engine: T,
    done: u64,
    rounds_ns: Vec<f64>,
}

fn time<T: Timed + Sync>(
    bench: &Bench,
    engines: Vec<(Who, T)>,
    lacking: &[Lacking],
    results: &mut Results,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    for (who, reason) in lacking.iter().filter(|(who, _)| bench.wants(who)) {
        results.note(format!("{}: not here: {reason}", who.label()));
    }
    let wanted = engines.into_iter().filter(|(who, _)| who.engine == FLOOR || bench.wants(who));
    let run = |(who, engine)| Run { who, engine, done: 0, rounds_ns: Vec::new() };
    let mut runs: Vec<Run<T>> = wanted.map(run).collect();
    for threads in bench.threads() {
        for run in &mut runs {
            progress.tick(&format!("{}: checking {} on {threads} threads", T::CASE, run.who.label()));
            run.round(threads, bench.amount.operations)?;
            run.rounds_ns.clear();
        }
        for round in 0..bench.amount.rounds {
            progress.tick(&format!("{}: {threads} threads, round {}", T::CASE, round + 1));
            for at in in_turn(round, runs.len()) {
                runs[at].round(threads, bench.amount.operations)?;
            }
        }
        for run in &mut runs {
            let key = key(T::CASE, T::OP, &run.who).param("threads", threads);
            let samples = bench.amount.operations * u64::from(threads) * bench.amount.rounds as u64;
            results.of(key).rounds(Metric::Time, &run.rounds_ns, samples);
            run.rounds_ns.clear();
        }
    }
    Ok(())
}

impl<T: Timed + Sync> Run<T> {
    /// One round: all threads at once, then the sum is checked.
    fn round(&mut self, threads: u32, operations: u64) -> anyhow::Result<()> {
        let ns = together_ns(threads, &|thread| self.engine.work(thread, operations))?;
        let all = operations * u64::from(threads);
        self.rounds_ns.push(ns / all as f64);
        self.done += all;
        if self.who.engine != FLOOR {
            let checked = self.engine.check(self.done);
            checked.map_err(|wrong| anyhow::anyhow!("{}: {}: {wrong}", T::CASE, self.who.label()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loses an add of each thread.
    struct Forgetful(AtomicU64);

    impl Adds for Forgetful {
        fn add_many(&self, count: u64) {
            self.0.fetch_add(count - 1, Relaxed);
        }

        fn total(&self) -> u64 {
            self.0.load(Relaxed)
        }
    }

    #[test]
    fn a_lost_add_is_found() {
        let engine = Adding(Box::new(Forgetful(AtomicU64::new(0))));
        let mut run = Run { who: Who::of("forgetful"), engine, done: 0, rounds_ns: Vec::new() };
        let wrong = run.round(2, 100).unwrap_err().to_string();
        assert_eq!(wrong, "add: forgetful: 200 were added, it has 198");
    }
}
