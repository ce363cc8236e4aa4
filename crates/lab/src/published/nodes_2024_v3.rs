//! The letter with version 3 of the per-node series, January 2024, as merged into Linux 6.9: three cases by 64
//! threads.

use super::{Figure, Published, Quantity, Subject, Unit};

/// The table.
pub const TABLE: Published = Published {
    source: "per-node letter v3, Jan 2024",
    figures: &[
        Figure {
            what: "three cases, 64 threads",
            subject: Subject::Contended,
            before: Some(Quantity::new(651.3, Unit::Seconds)),
            after: Some(Quantity::new(51.3, Unit::Seconds)),
        },
        Figure {
            what: "lock's slow path, 64 threads",
            subject: Subject::LockShare,
            before: Some(Quantity::new(93.07, Unit::Percent)),
            after: Some(Quantity::new(16.51, Unit::Percent)),
        },
    ],
};
