//! `freehold bench pools`: address spaces that threads share, under one lock, under several, and in pools.
//!
//! ```text
//!   engines   one lock, pools           split   busy, free and lazy under locks of their own      nodes   one for each CPU
//!   cases     by threads at once        model   more threads than CPUs      rates   what recorded workloads ask for
//! ```
//!
//! After each timed round everything that threads hold is checked to be apart, and found where it is; what is given back
//! leaves one free block.

mod cases;
mod engines;
mod lock;
mod model;
mod nodes;
mod rates;
mod split;

pub(super) use engines::{ENTRIES, Entry, Loops, whole};
#[cfg(test)]
pub(super) use {engines::Pool, lock::Used};

use super::{Amount, Bench, Case, Options, Who, check_names};
use crate::Progress;
use crate::failure::Failure;
use crate::promises::{self, Figure, Promise, at_least, at_most, below};
use crate::record::{Metric, Results, Stat, count};
use engines::{ONE_LOCK, POOLED, REFERENCE, RWLOCK, TWO_LOCKS};

/// The family in records.
const SUITE: &str = "pools";

const CASES: [Case; 3] = [
    Case { name: "pair", run: cases::pairs },
    Case { name: "replace", run: cases::replacements },
    Case { name: "locate", run: cases::locates },
];

/// Runs the workloads, then the model of what was measured.
///
/// # Errors
/// No workload or engine has such a name, or an engine answers wrong.
pub fn bench(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let amount = if options.quick { Amount::QUICK } else { Amount::USUAL };
    bench_of(amount, options, progress)
}

fn bench_of(amount: Amount, options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let known: Vec<Who> = ENTRIES.iter().map(|entry| entry.who).chain([REFERENCE]).collect();
    check_names(options, &CASES, &known)?;
    if !options.sizes.is_empty() {
        return Err(Failure::Usage("--n: pools have no sizes".to_owned()).into());
    }
    let mut bench = Bench { amount, options, results: Results::default(), progress };
    bench.results.fact("held", count(cases::HELD as u64));
    bench.results.fact("regions", count(cases::LOCATED.min(amount.operations) as u64));
    bench.run(&CASES)?;
    model::run(&mut bench)?;
    rates::run(&mut bench)?;
    let mut results = bench.results;
    promises::add(SUITE, &promises(), &mut results);
    Ok(results)
}

/// What is promised of pools.
fn promises() -> Vec<Promise> {
    let time = |workload, op, engine, threads| Figure::time(workload, op, engine).at("threads", threads);
    let pair = |engine, threads| time("pair", "take and give back", engine, threads);
    let replace = |engine| time("replace", "one for another", engine, 2);
    let locate = |engine, threads| time("locate", "any address", engine, threads);
    let mut all = Vec::new();
    for threads in [1, 2] {
        all.push(at_most("pair, by two locks", pair(POOLED, threads), pair(TWO_LOCKS, threads), 2.0));
    }
    let rate = |engine| pair(engine, 2).of(Metric::Rate, Stat::Median);
    all.push(at_least("pairs in a second, by one lock's", rate(POOLED), rate(ONE_LOCK), 8.0));
    let locks = replace(POOLED).of(Metric::Locks, Stat::Mean);
    all.push(below("core locks of a replacement", locks, 1.0 / 16.0));
    for threads in [1, 2] {
        let [ours, theirs] = [POOLED, RWLOCK].map(|engine| locate(engine, threads));
        all.push(at_most("locate, by RwLock<BTreeMap>'s", ours, theirs, 0.25));
    }
    all
}

#[cfg(test)]
mod tests;
