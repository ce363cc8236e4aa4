//! A reviewer's run of the case of allocations that may not wait, July 2025, 256 CPUs: serialised by a lock of the
//! test itself, and without it.

use super::{Figure, Published, Quantity, Subject, Unit};

/// The table.
pub const TABLE: Published = Published {
    source: "review of no_block, Jul 2025",
    figures: &[Figure {
        what: "no_block, 256 CPUs",
        subject: Subject::Contended,
        before: Some(Quantity::new(1086.0, Unit::Seconds)),
        after: Some(Quantity::new(41.0, Unit::Seconds)),
    }],
};
