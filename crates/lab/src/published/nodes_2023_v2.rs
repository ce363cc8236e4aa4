//! The letter with version 2 of the per-node series, August 2023: time in the lock's slow path, 64 threads on all
//! cases; and the contention on a HiKey960 with 8 CPUs.

use super::{Figure, Published, Quantity, Subject, Unit};

/// The table.
pub const TABLE: Published = Published {
    source: "per-node letter v2, Aug 2023",
    figures: &[
        Figure {
            what: "lock's slow path, 64 threads",
            subject: Subject::LockShare,
            before: Some(Quantity::new(93.05, Unit::Percent)),
            after: Some(Quantity::new(6.11, Unit::Percent)),
        },
        Figure {
            what: "contention, HiKey960, 8 CPUs",
            subject: Subject::LockShare,
            before: Some(Quantity::new(16.0, Unit::Percent)),
            after: None,
        },
    ],
};
