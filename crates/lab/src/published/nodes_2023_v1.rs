//! The letter with version 1 of the per-node series, May 2023: one page allocated and freed, on a Threadripper 3970X.

use super::{Figure, Published, Quantity, Subject, Unit};

const fn jobs(what: &'static str, jobs: u32, before: f64, after: f64) -> Figure {
    Figure {
        what,
        subject: Subject::PagePair(jobs),
        before: Some(Quantity::new(before, Unit::Microseconds)),
        after: Some(Quantity::new(after, Unit::Microseconds)),
    }
}

/// The table.
pub const TABLE: Published = Published {
    source: "per-node letter v1, May 2023",
    figures: &[
        jobs("1-page pair, 1 job", 1, 0.576, 0.556),
        jobs("1-page pair, 2 jobs", 2, 2.68, 1.08),
        jobs("1-page pair, 4 jobs", 4, 6.04, 1.29),
        jobs("1-page pair, 8 jobs", 8, 10.46, 2.16),
        jobs("1-page pair, 16 jobs", 16, 14.37, 3.03),
        jobs("1-page pair, 32 jobs", 32, 21.09, 3.83),
    ],
};
