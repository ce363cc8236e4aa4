//! The letter with version 3 of the rework, April 2019: the same test before and after, as merged into Linux 5.2. On the
//! HiKey960 the default run was not done in a day before the rework.

use super::{Figure, Published, Quantity, Subject, Unit};

/// The table.
pub const TABLE: Published = Published {
    source: "rework letter v3, Apr 2019",
    figures: &[
        Figure {
            what: "performance mode, i5-3320M",
            subject: Subject::SuiteInTurn,
            before: Some(Quantity::new(646.9, Unit::GigaCycles)),
            after: Some(Quantity::new(193.3, Unit::GigaCycles)),
        },
        Figure {
            what: "performance mode, HiKey960",
            subject: Subject::SuiteInTurn,
            before: Some(Quantity::new(3.4787, Unit::GigaCycles)),
            after: Some(Quantity::new(0.4638, Unit::GigaCycles)),
        },
        Figure {
            what: "all CPUs, once, i5-3320M",
            subject: Subject::SuiteTogether,
            before: Some(Quantity::new(6082.0, Unit::Seconds)),
            after: Some(Quantity::new(56.8, Unit::Seconds)),
        },
        Figure {
            what: "default, HiKey960",
            subject: Subject::SuiteTogether,
            before: Some(Quantity::at_least(24.0, Unit::Hours)),
            after: Some(Quantity::new(265.0, Unit::Seconds)),
        },
    ],
};
