//! The letters on chunks that are not quite empty, 2021, merged into Linux 5.14: 11000 memory controllers made, 10 of 11
//! removed again, and what `Percpu` in `/proc/meminfo` said before and after. It began at 7488 KiB.

use super::percpu::Subject;
use super::{Figure, Published, Quantity, Unit};

/// The table.
pub const TABLE: Published<Subject> = Published {
    source: "depopulation, 2021",
    figures: &[
        Figure {
            what: "10 of 11 removed, before the patches",
            subject: Subject::Deletion,
            before: Some(Quantity::new(481152.0, Unit::Kibibytes)),
            after: Some(Quantity::new(481152.0, Unit::Kibibytes)),
        },
        Figure {
            what: "10 of 11 removed, with them",
            subject: Subject::DeletionBalanced,
            before: Some(Quantity::new(481408.0, Unit::Kibibytes)),
            after: Some(Quantity::new(135552.0, Unit::Kibibytes)),
        },
    ],
};
