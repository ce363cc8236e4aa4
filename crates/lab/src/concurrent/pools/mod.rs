//! `freehold bench pools`: address spaces that threads share, under one lock, under several, and in pools.
//!
//! ```text
//!   engines   one lock, pools           split   busy, free and lazy under locks of their own      nodes   one for each CPU
//!   cases     by threads at once        model   more threads than CPUs      rates   what recorded workloads ask for
//! ```
//!
//! After each timed round everything that threads hold is checked to be apart, and found where it is; what is given back
//! leaves one free block.

pub mod cases;
pub mod engines;
pub mod lock;
pub mod model;
mod nodes;
mod rates;
mod split;

use engines::ENTRIES;

use super::{Amount, Bench, Case, Suite};
use crate::promises::{Figure, Promise, at_least, at_most, below};
use crate::record::{Metric, Stat, count};
use engines::{ONE_LOCK, POOLED, REFERENCE, RWLOCK, TWO_LOCKS};

/// The family in records.
const SUITE: &str = "pools";

const CASES: [Case; 3] = [
    Case { name: "pair", run: cases::pairs },
    Case { name: "replace", run: cases::replacements },
    Case { name: "locate", run: cases::locates },
];

/// Address spaces that threads share, and the model of what was measured.
pub const POOLS: Suite = Suite {
    name: SUITE,
    cases: &CASES,
    amounts: [Amount::QUICK, Amount::USUAL],
    whos: || ENTRIES.iter().map(|entry| entry.who).chain([REFERENCE]).collect(),
    sizes: None,
    beside: |bench| {
        let regions = cases::LOCATED.min(bench.amount.operations);
        bench.results.fact("held", count(cases::HELD as u64));
        bench.results.fact("regions", count(regions as u64));
        model::run(bench)?;
        rates::run(bench)
    },
    promises,
};

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
