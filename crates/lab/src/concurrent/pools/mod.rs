//! `freehold bench pools`: address spaces that threads share, under one lock, under several, and in pools.
//!
//! ```text
//!   pool      what a space is       engines   one lock, pools        split   busy, free and lazy under locks of their own
//!   cases     by threads at once    rates     what recorded workloads ask for
//! ```
//!
//! After each timed round everything that threads hold is checked to be apart, and found where it is; what is given back
//! leaves one free block.

pub mod cases;
pub mod engines;
pub mod lock;
pub mod pool;
mod rates;
mod split;

use super::{Amount, Bench, Case, Suite};
use crate::record::count;
use engines::{ENTRIES, FINDS, REFERENCE};

/// The family in records.
const SUITE: &str = "pools";

/// Address spaces that threads share.
pub const POOLS: Suite = Suite {
    name: SUITE,
    cases: &[
        Case { name: "pair", run: cases::pairs },
        Case { name: "replace", run: cases::replacements },
        Case { name: "locate", run: cases::locates },
    ],
    amounts: [Amount::QUICK, Amount::USUAL],
    whos: || ENTRIES.map(|(who, _)| who).into_iter().chain([FINDS.0, REFERENCE]).collect(),
    sizes: None,
    beside: |bench| {
        let regions = cases::LOCATED.min(bench.amount.operations);
        bench.results.fact("held", count(cases::HELD as u64));
        bench.results.fact("regions", count(regions as u64));
        rates::run(bench)
    },
};
