//! `freehold bench memory`: memory of `vmalloc` beside mappings, three allocators, and stacks of coroutines.
//!
//! ```text
//!   engines   who hands out blocks      judge    whether they are what they should be      rounds   who is timed when
//!   blocks, slots, stacks, replay       the workloads      resident   what processes have, each by itself
//! ```
//!
//! Before anything is timed, blocks that are held at once are written to from end to end, on as many threads as are timed, and looked at.

mod blocks;
pub mod engines;
pub mod judge;
pub mod replay;
mod resident;
pub mod rounds;
pub mod slots;
pub mod stacks;

pub use resident::measure as measure_resident;

use super::{Amount, Bench, Case, Suite, Who};
use crate::promises::{Figure, Promise, above, at_least, at_most, at_most_of_least, below};
use crate::record::{Metric, Stat, count};
use engines::{Content, ENTRIES, Loops, MALLOCS, MEMSET, MMAP, VMALLOC};
use freehold::vmalloc::Keep;

/// The family in records.
const SUITE: &str = "memory";

const CASES: [Case; 6] = [
    Case { name: "block", run: blocks::run },
    Case { name: "reset", run: slots::run },
    Case { name: "stack", run: stacks::pairs },
    Case { name: "guards", run: stacks::guards },
    Case { name: "replay", run: replay::run },
    Case { name: "resident", run: resident::run },
];

/// Engines with their names.
type Made = Vec<(Who, Box<dyn Loops>)>;

impl Bench<'_> {
    /// Those that are asked for.
    fn wanted(&self, whos: &[Who]) -> Vec<Who> {
        whos.iter().filter(|who| self.wants(who)).copied().collect()
    }

    /// Who hands out blocks, made anew.
    fn memories(&self, keep: Keep) -> anyhow::Result<Made> {
        let wanted = ENTRIES.iter().filter(|entry| self.wants(&entry.who));
        wanted.map(|entry| Ok((entry.who, (entry.make)(keep)?))).collect()
    }
}

/// Memory that is handed out, beside mappings and mallocs.
pub const MEMORY: Suite = Suite {
    name: SUITE,
    cases: &CASES,
    amounts: [Amount::QUICK, Amount::USUAL],
    whos: || {
        let blocks = ENTRIES.iter().map(|entry| entry.who).chain([MEMSET]);
        blocks.chain(slots::WHOS).chain(stacks::WHOS).collect()
    },
    sizes: None,
    beside: |bench| {
        let alive = bench.amount.operations.min(stacks::ALIVE);
        bench.results.fact("stacks", count(alive as u64));
        Ok(())
    },
    promises,
};

/// What is promised of memory.
fn promises() -> Vec<Promise> {
    let mut all = Vec::new();
    for threads in [1, 2] {
        let of = |content: Content, engine| {
            Figure::time("block", content.name(), engine).at("size", 64 << 10).at("threads", threads)
        };
        let [ours, mmap] = [VMALLOC, MMAP].map(|engine| of(Content::Zeroed, engine));
        let best = MALLOCS.map(|engine| of(Content::Untouched, engine)).to_vec();
        let warm = of(Content::Untouched, VMALLOC);
        all.push(at_most_of_least("64 KiB warm, by the best malloc", warm, best, 1.5));
        let memset = of(Content::Zeroed, MEMSET.engine);
        all.push(at_most("64 KiB, zeroed, by memset's", ours.clone(), memset, 1.2));
        all.push(at_least("mmap's 64 KiB, zeroed, by ours", mmap, ours, 20.0));
    }
    let reset = |op, engine| Figure::time("reset", op, engine);
    let [row, between] = [slots::OPS[0].0, slots::OPS[1].0];
    for (what, engine, op, bound) in [
        ("DONTNEED by ours, in a row", slots::DISCARD, row, 8.0),
        ("a scan by ours, in a row", slots::CLEAR, row, 1.3),
        ("DONTNEED by ours, between others", slots::DISCARD, between, 8.0),
        ("a scan by ours, between others", slots::CLEAR, between, 1.3),
    ] {
        all.push(at_least(what, reset(op, engine), reset(op, VMALLOC), bound));
    }
    let stack = |engine| Figure::time("stack", "take and give back", engine);
    all.push(at_most("warm stack, by corosensei's", stack(VMALLOC), stack(stacks::COROSENSEI), 0.02));
    let guards = |metric| Figure::time("guards", "alive", VMALLOC).of(metric, Stat::Total);
    all.push(above("guarded stacks alive at once", guards(Metric::Live), stacks::ALIVE as f64));
    all.push(below("mappings that they add", guards(Metric::Mappings), 40.0));
    let idle = |op| Figure::time(resident::IDLE, op, VMALLOC).of(Metric::Resident, Stat::Max);
    let [peak, _, late] = resident::OF_IDLE.map(idle);
    all.push(at_most("after twice the decay, by peak", late, peak, 0.05));
    all
}
