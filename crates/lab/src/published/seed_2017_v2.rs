//! Its second version, ten days later: the same test, with 256 bytes instead of 128.

use super::percpu::Subject;
use super::{Figure, Published, Quantity, Unit};

/// The table.
pub const TABLE: Published<Subject> = Published {
    source: "percpu bitmap v2, Jul 2017",
    figures: &[
        Figure {
            what: "4 B, alloc",
            subject: Subject::SeedAlloc(4),
            before: Some(Quantity::new(310.0, Unit::Milliseconds)),
            after: Some(Quantity::new(490.0, Unit::Milliseconds)),
        },
        Figure {
            what: "4 B, free",
            subject: Subject::SeedFree(4),
            before: Some(Quantity::new(4770.0, Unit::Milliseconds)),
            after: Some(Quantity::new(70.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, alloc",
            subject: Subject::SeedAlloc(16),
            before: Some(Quantity::new(557.0, Unit::Milliseconds)),
            after: Some(Quantity::new(515.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, free",
            subject: Subject::SeedFree(16),
            before: Some(Quantity::new(1325.0, Unit::Milliseconds)),
            after: Some(Quantity::new(75.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, alloc",
            subject: Subject::SeedAlloc(64),
            before: Some(Quantity::new(436.0, Unit::Milliseconds)),
            after: Some(Quantity::new(610.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, free",
            subject: Subject::SeedFree(64),
            before: Some(Quantity::new(273.0, Unit::Milliseconds)),
            after: Some(Quantity::new(80.0, Unit::Milliseconds)),
        },
        Figure {
            what: "256 B, alloc",
            subject: Subject::SeedAlloc(256),
            before: Some(Quantity::new(776.0, Unit::Milliseconds)),
            after: Some(Quantity::new(950.0, Unit::Milliseconds)),
        },
        Figure {
            what: "256 B, free",
            subject: Subject::SeedFree(256),
            before: Some(Quantity::new(131.0, Unit::Milliseconds)),
            after: Some(Quantity::new(100.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, alloc",
            subject: Subject::SeedAlloc(1024),
            before: Some(Quantity::new(3280.0, Unit::Milliseconds)),
            after: Some(Quantity::new(3520.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, free",
            subject: Subject::SeedFree(1024),
            before: Some(Quantity::new(122.0, Unit::Milliseconds)),
            after: Some(Quantity::new(200.0, Unit::Milliseconds)),
        },
    ],
};
