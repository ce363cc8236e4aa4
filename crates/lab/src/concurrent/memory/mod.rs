//! `freehold bench memory`: memory of `vmalloc` beside mappings, three allocators, and stacks of coroutines.
//!
//! ```text
//!   held      what a block is      engines   who hands out blocks      judge    whether they are what they should be      rounds   who is timed when
//!   blocks, slots, stacks, replay       the workloads      resident   what processes have, each by itself
//! ```
//!
//! Before anything is timed, blocks that are held at once are written to from end to end, on as many threads as are timed, and looked at.

mod blocks;
pub mod engines;
pub mod held;
pub mod judge;
pub mod replay;
mod resident;
pub mod rounds;
pub mod slots;
pub mod stacks;

pub use resident::measure as measure_resident;

use super::{Amount, Bench, Case, Suite, Who};
use crate::record::count;
use engines::{ENTRIES, Loops, MEMSET};
use freehold::vmalloc::RetainPolicy;

/// The family in records.
const SUITE: &str = "memory";

impl Bench<'_> {
    /// Who hands out blocks, made anew.
    fn memories(&self, keep: RetainPolicy) -> anyhow::Result<Vec<(Who, Box<dyn Loops>)>> {
        self.wanted(ENTRIES).into_iter().map(|(who, make)| Ok((who, make(keep)?))).collect()
    }
}

/// Memory that is handed out, beside mappings and mallocs.
pub const MEMORY: Suite = Suite {
    name: SUITE,
    cases: &[
        Case { name: "block", run: blocks::run },
        Case { name: "reset", run: slots::run },
        Case { name: "stack", run: stacks::pairs },
        Case { name: "guards", run: stacks::guards },
        Case { name: "replay", run: replay::run },
        Case { name: "resident", run: resident::run },
    ],
    amounts: [Amount::QUICK, Amount::USUAL],
    whos: || {
        let blocks = ENTRIES.map(|(who, _)| who).into_iter().chain([MEMSET]);
        blocks.chain(slots::ENTRIES.map(|(who, _)| who)).chain(stacks::ENTRIES.map(|(who, _)| who)).collect()
    },
    sizes: None,
    beside: |bench| {
        let alive = bench.amount.operations.min(stacks::ALIVE);
        bench.results.fact("stacks", count(alive as u64));
        Ok(())
    },
};
