//! The second version on what its first left out: the second half of each chunk is full of objects before the run, and
//! objects are freed in order.

use super::percpu::Subject;
use super::{Figure, Published, Quantity, Unit};

/// The table.
pub const TABLE: Published<Subject> = Published {
    source: "percpu bitmap v2, second half filled",
    figures: &[
        Figure {
            what: "4 B, alloc",
            subject: Subject::SecondHalfAlloc(4),
            before: Some(Quantity::new(4118.0, Unit::Milliseconds)),
            after: Some(Quantity::new(481.0, Unit::Milliseconds)),
        },
        Figure {
            what: "4 B, free",
            subject: Subject::SecondHalfFree(4),
            before: Some(Quantity::new(4892.0, Unit::Milliseconds)),
            after: Some(Quantity::new(67.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, alloc",
            subject: Subject::SecondHalfAlloc(16),
            before: Some(Quantity::new(1651.0, Unit::Milliseconds)),
            after: Some(Quantity::new(506.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, free",
            subject: Subject::SecondHalfFree(16),
            before: Some(Quantity::new(1163.0, Unit::Milliseconds)),
            after: Some(Quantity::new(69.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, alloc",
            subject: Subject::SecondHalfAlloc(64),
            before: Some(Quantity::new(598.0, Unit::Milliseconds)),
            after: Some(Quantity::new(636.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, free",
            subject: Subject::SecondHalfFree(64),
            before: Some(Quantity::new(285.0, Unit::Milliseconds)),
            after: Some(Quantity::new(75.0, Unit::Milliseconds)),
        },
        Figure {
            what: "256 B, alloc",
            subject: Subject::SecondHalfAlloc(256),
            before: Some(Quantity::new(771.0, Unit::Milliseconds)),
            after: Some(Quantity::new(892.0, Unit::Milliseconds)),
        },
        Figure {
            what: "256 B, free",
            subject: Subject::SecondHalfFree(256),
            before: Some(Quantity::new(158.0, Unit::Milliseconds)),
            after: Some(Quantity::new(90.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, alloc",
            subject: Subject::SecondHalfAlloc(1024),
            before: Some(Quantity::new(3034.0, Unit::Milliseconds)),
            after: Some(Quantity::new(3262.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, free",
            subject: Subject::SecondHalfFree(1024),
            before: Some(Quantity::new(160.0, Unit::Milliseconds)),
            after: Some(Quantity::new(147.0, Unit::Milliseconds)),
        },
    ],
};
