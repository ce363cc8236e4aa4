//! `bench FAMILY --cold`: operations whose memory lies in no cache, as those of a program that does other things between two.
//!
//! ```text
//!   48 MiB read, then the operation and where its answer goes    not timed
//!   the operation                                                timed alone; engines take turns, operation by operation
//!   the answer checked                                           not timed
//! ```
//!
//! The lines that an operation touches are counted under callgrind, which simulates a data cache of 256 KiB that 512 KiB are
//! read through before each operation: a line misses that cache once in an operation, when it is first read or written. What an
//! empty operation misses is taken off. So lines of code do not count, those of the stack and of the lab's driver do, which
//! `floor` shows alone.

mod subjects;

pub use subjects::{kva, maps, percpu};

use super::clock;
use super::instructions::{CACHE_BYTES, lines, measured};
use super::plan::in_turn;
use crate::Progress;
use crate::record::{Counts, Key, Metric, Results, Stat, under};
use std::hint::black_box;
use std::time::Instant;

/// Bytes that are read between two operations: more than the caches of most machines hold.
const SWEPT_BYTES: usize = 48 << 20;
/// What records call it.
pub const WORKLOAD: &str = "cold";
/// Empty operations that are counted; the last one is what the others are less.
const EMPTY: usize = 4;

/// An engine and operations that it does one by one.
pub trait Cold {
    /// How many operations there are.
    fn count(&self) -> usize;

    /// What operation `at` is.
    fn op(&self, at: usize) -> &'static str;

    /// Reads what operation `at` is, and where its answer goes.
    fn warm(&self, at: usize);

    /// Does it.
    fn run(&mut self, at: usize);

    /// Holds its answer against what is right.
    ///
    /// # Errors
    /// What is wrong.
    fn check(&mut self, at: usize) -> Result<(), String>;
}

/// An engine under its name.
pub struct Subject {
    /// As users write it.
    pub label: String,
    /// The key of its figures, without an operation.
    pub key: Key,
    /// The engine.
    pub cold: Box<dyn Cold>,
}

/// Memory that is read to put other memory out of caches.
struct Sweep(Vec<u64>);

impl Sweep {
    fn new(bytes: usize) -> Self {
        Self(vec![1; bytes / size_of::<u64>()])
    }

    /// Reads each line of it: the halves are equal, so a comparison ends at the end of both. It is as fast as memory in a build
    /// that is not optimized, too.
    fn read(&self) {
        let (half, other) = self.0.split_at(self.0.len() / 2);
        black_box(half == other);
    }
}

/// Times all operations of the engines, which take turns.
///
/// # Errors
/// An engine answers wrong.
pub fn time(subjects: &mut [Subject], results: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
    let sweep = Sweep::new(SWEPT_BYTES);
    let cost_ns = clock::cost_ns();
    let mut times: Vec<Vec<(&'static str, Counts)>> = vec![Vec::new(); subjects.len()];
    let operations = subjects.iter().map(|subject| subject.cold.count()).min().unwrap_or(0);
    in_turn(0..operations, subjects.len(), |at, turn| {
        if at % 16 == 0 {
            progress.tick(&format!("{WORKLOAD}: operation {at} of {operations}"));
        }
        let Subject { label, cold, .. } = &mut subjects[turn];
        sweep.read();
        cold.warm(at);
        let before = Instant::now();
        cold.run(at);
        let took = before.elapsed();
        cold.check(at).map_err(|reason| anyhow::anyhow!("{WORKLOAD}: {label}: operation {at}: {reason}"))?;
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).saturating_sub(cost_ns);
        under(&mut times[turn], cold.op(at)).add(ns);
        anyhow::Ok(())
    })?;
    for (subject, times) in subjects.iter().zip(times) {
        for (op, mut times) in times {
            results.of(subject.key.clone().op(op)).singles(&mut times, &[]);
        }
    }
    Ok(())
}

/// Adds the lines that operations touch, of the program that is run under callgrind with these arguments.
///
/// # Errors
/// Valgrind fails.
pub fn count(subject: &Subject, arguments: &[String], results: &mut Results) -> anyhow::Result<()> {
    let missed = lines(arguments, EMPTY + subject.cold.count())?;
    let (empty, missed) = missed.split_at_checked(EMPTY).unwrap_or_default();
    let empty = empty.last().copied().unwrap_or(0);
    let mut touched: Vec<(&'static str, Counts)> = Vec::new();
    for (at, &missed) in missed.iter().enumerate() {
        under(&mut touched, subject.cold.op(at)).add(missed.saturating_sub(empty));
    }
    for (op, mut touched) in touched {
        let samples = touched.len() as u64;
        let mut figures = results.of(subject.key.clone().op(op));
        figures.put(Metric::Lines, Stat::Mean, touched.mean(), samples);
        figures.put(Metric::Lines, Stat::Max, touched.percentile(1000) as f64, samples);
    }
    Ok(())
}

/// What is run under callgrind: every operation, each behind a sweep of the simulated cache.
pub fn run_counted(cold: &mut dyn Cold) {
    let sweep = Sweep::new(2 * CACHE_BYTES);
    for _ in 0..EMPTY {
        sweep.read();
        measured(&mut || {}, true);
    }
    for at in 0..cold.count() {
        sweep.read();
        cold.warm(at);
        measured(&mut || cold.run(at), true);
    }
}
