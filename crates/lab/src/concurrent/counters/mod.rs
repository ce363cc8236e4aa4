//! `freehold bench counters` and `freehold stress counters`: counters and histograms of many threads, ours beside what a
//! program might use instead.
//!
//! ```text
//!   engines    who counts: our rungs, atomics, other crates          add, memory, snapshot, heap   the cases of the bench
//!   storm      exact sums under signals and moves
//! ```
//!
//! Sums are held against what was added after each round. Times are CPU time of the threads that work, for one operation: what
//! else runs on the machine takes turns with them, and is not in it.

pub mod add;
pub mod engines;
mod heap;
mod memory;
mod snapshot;
mod storm;

pub use storm::{Storm, stress};

use super::place::cpus;
use super::{Amount, Bench, Case, Suite};
use crate::promises::{Figure, Promise, at_least, at_most, below};
use crate::record::{Metric, Stat, count};

/// The family in records.
const SUITE: &str = "counters";

const CASES: [Case; 5] = [
    // First, while the process has freed nothing that would be used again.
    Case { name: "counter-memory", run: memory::run },
    Case { name: "add", run: add::adds },
    Case { name: "histogram", run: add::records },
    Case { name: "snapshot", run: snapshot::run },
    Case { name: "heap", run: heap::run },
];

/// Counters and histograms of many threads.
pub const COUNTERS: Suite = Suite {
    name: SUITE,
    cases: &CASES,
    amounts: [
        Amount { rounds: 7, operations: 1_000_000, ..Amount::QUICK },
        Amount { rounds: 31, operations: 1_000_000, ..Amount::USUAL },
    ],
    whos: engines::whos,
    sizes: None,
    beside: |bench| {
        bench.results.fact("counters", count(counters(bench) as u64));
        bench.results.fact("live", count(heap::LIVE as u64));
        bench.results.fact("cpus", cpus().to_string());
        Ok(())
    },
    promises,
};

/// Counters of which memory is measured.
fn counters(bench: &Bench) -> usize {
    bench.amount.operations / 10
}

/// Threads at once: one, two, as many as CPUs, and more.
fn threads() -> Vec<u32> {
    let mut all = vec![1, 2, cpus(), 4 * cpus()];
    all.sort_unstable();
    all.dedup();
    all
}

/// The one of ours that a program gets.
const OUR: &str = engines::OURS;
const BULK: &str = "percpu:bulk";

/// What is promised of counters.
fn promises() -> Vec<Promise> {
    let mut all = Vec::new();
    let add = |engine, threads| Figure::time("add", "add", engine).at("threads", threads);
    for threads in [1, 2] {
        let rung_2 = || add("percpu:rung-2", threads);
        let record = Figure::time("histogram", "record", OUR).at("threads", threads);
        all.push(at_most("an add, by one of rung 2", add(OUR, threads), rung_2(), 0.75));
        all.push(at_most(
            "an add by mm_cid, by one of rung 2",
            add("percpu:mm-cid", threads),
            rung_2(),
            0.75,
        ));
        all.push(at_most("a record of a histogram, by an add", record, add(OUR, threads), 2.5));
    }
    let shared = add("shared-atomic", 2);
    all.push(at_least("an add to one atomic that threads share, by ours", shared, add(OUR, 2), 5.0));
    let bytes = Figure::time("counter-memory", "by the second CPU", OUR).of(Metric::Resident, Stat::Mean);
    all.push(below("bytes of a counter for a further CPU that ran", bytes, 10.0));
    let read = |engine| Figure::time("snapshot", "read", engine);
    all.push(at_most("a snapshot, by a copy of the same bytes", read(OUR), read("copy"), 2.5));
    for (op, what) in [
        ("make", "64 counters at once, by 64 one by one, from magazines"),
        ("first fill", "64 counters at once, by 64 one by one, first fill"),
    ] {
        let batch = |engine| Figure::time("heap-batch", op, engine);
        all.push(at_most(what, batch(BULK), batch(OUR), 0.25));
    }
    for (op, what) in [
        ("make", "locks taken for a counter that is made"),
        ("drop", "locks taken for a counter that is dropped"),
    ] {
        let locks = Figure::time("heap-locks", op, OUR).of(Metric::Locks, Stat::Mean);
        all.push(below(what, locks, 1.0 / 16.0));
    }
    all
}
