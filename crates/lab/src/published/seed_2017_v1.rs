//! The posting itself, July 2017: a million objects, the worst of freeing in order, alternating and in reverse. The
//! machine and its unit size are not told.

use super::percpu::Subject;
use super::{Figure, Published, Quantity, Unit};

/// The table.
pub const TABLE: Published<Subject> = Published {
    source: "percpu bitmap v1, Jul 2017",
    figures: &[
        Figure {
            what: "4 B, alloc",
            subject: Subject::SeedAlloc(4),
            before: Some(Quantity::new(335.0, Unit::Milliseconds)),
            after: Some(Quantity::new(725.0, Unit::Milliseconds)),
        },
        Figure {
            what: "4 B, free",
            subject: Subject::SeedFree(4),
            before: Some(Quantity::new(4960.0, Unit::Milliseconds)),
            after: Some(Quantity::new(70.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, alloc",
            subject: Subject::SeedAlloc(16),
            before: Some(Quantity::new(485.0, Unit::Milliseconds)),
            after: Some(Quantity::new(760.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, free",
            subject: Subject::SeedFree(16),
            before: Some(Quantity::new(1150.0, Unit::Milliseconds)),
            after: Some(Quantity::new(70.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, alloc",
            subject: Subject::SeedAlloc(64),
            before: Some(Quantity::new(445.0, Unit::Milliseconds)),
            after: Some(Quantity::new(855.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, free",
            subject: Subject::SeedFree(64),
            before: Some(Quantity::new(280.0, Unit::Milliseconds)),
            after: Some(Quantity::new(80.0, Unit::Milliseconds)),
        },
        Figure {
            what: "128 B, alloc",
            subject: Subject::SeedAlloc(128),
            before: Some(Quantity::new(505.0, Unit::Milliseconds)),
            after: Some(Quantity::new(910.0, Unit::Milliseconds)),
        },
        Figure {
            what: "128 B, free",
            subject: Subject::SeedFree(128),
            before: Some(Quantity::new(177.0, Unit::Milliseconds)),
            after: Some(Quantity::new(90.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, alloc",
            subject: Subject::SeedAlloc(1024),
            before: Some(Quantity::new(3385.0, Unit::Milliseconds)),
            after: Some(Quantity::new(3770.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, free",
            subject: Subject::SeedFree(1024),
            before: Some(Quantity::new(140.0, Unit::Milliseconds)),
            after: Some(Quantity::new(260.0, Unit::Milliseconds)),
        },
    ],
};
