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

pub use storm::stress;

use super::place::cpus;
use super::{Amount, Bench, Case, Suite};
use crate::record::count;

/// The family in records.
const SUITE: &str = "counters";

/// Counters and histograms of many threads.
pub const COUNTERS: Suite = Suite {
    name: SUITE,
    cases: &[
        // First, while the process has freed nothing that would be used again.
        Case { name: "counter-memory", run: memory::run },
        Case { name: "add", run: add::adds },
        Case { name: "histogram", run: add::records },
        Case { name: "snapshot", run: snapshot::run },
        Case { name: "heap", run: heap::run },
    ],
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
