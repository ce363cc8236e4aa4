//! The allocator of Linux 6.12.117 at work in User Mode Linux on a machine of 2 cores: one CPU, units of 32 KiB, the least
//! of 5 runs. Not published; measured for this project, whose own runs are set beside it.

use super::percpu::Subject;
use super::{Figure, Published, Quantity, Unit};

/// The table.
pub const TABLE: Published<Subject> = Published {
    source: "Linux 6.12 in User Mode Linux, 32-KiB units",
    figures: &[
        Figure {
            what: "4 B, alloc",
            subject: Subject::SeedAlloc(4),
            before: None,
            after: Some(Quantity::new(81.0, Unit::Milliseconds)),
        },
        Figure {
            what: "4 B, free, worst of three",
            subject: Subject::SeedFree(4),
            before: None,
            after: Some(Quantity::new(36.0, Unit::Milliseconds)),
        },
        Figure {
            what: "4 B, free at random",
            subject: Subject::RandomFree(4),
            before: None,
            after: Some(Quantity::new(35.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, alloc",
            subject: Subject::SeedAlloc(16),
            before: None,
            after: Some(Quantity::new(82.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, free, worst of three",
            subject: Subject::SeedFree(16),
            before: None,
            after: Some(Quantity::new(23.0, Unit::Milliseconds)),
        },
        Figure {
            what: "16 B, free at random",
            subject: Subject::RandomFree(16),
            before: None,
            after: Some(Quantity::new(63.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, alloc",
            subject: Subject::SeedAlloc(64),
            before: None,
            after: Some(Quantity::new(102.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, free, worst of three",
            subject: Subject::SeedFree(64),
            before: None,
            after: Some(Quantity::new(27.0, Unit::Milliseconds)),
        },
        Figure {
            what: "64 B, free at random",
            subject: Subject::RandomFree(64),
            before: None,
            after: Some(Quantity::new(192.0, Unit::Milliseconds)),
        },
        Figure {
            what: "128 B, alloc",
            subject: Subject::SeedAlloc(128),
            before: None,
            after: Some(Quantity::new(101.0, Unit::Milliseconds)),
        },
        Figure {
            what: "128 B, free, worst of three",
            subject: Subject::SeedFree(128),
            before: None,
            after: Some(Quantity::new(37.0, Unit::Milliseconds)),
        },
        Figure {
            what: "128 B, free at random",
            subject: Subject::RandomFree(128),
            before: None,
            after: Some(Quantity::new(309.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, alloc",
            subject: Subject::SeedAlloc(1024),
            before: None,
            after: Some(Quantity::new(156.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, free, worst of three",
            subject: Subject::SeedFree(1024),
            before: None,
            after: Some(Quantity::new(72.0, Unit::Milliseconds)),
        },
        Figure {
            what: "1024 B, free at random",
            subject: Subject::RandomFree(1024),
            before: None,
            after: Some(Quantity::new(743.0, Unit::Milliseconds)),
        },
        Figure {
            what: "4 B aligned to 8, a million allocated",
            subject: Subject::AlignedAlloc,
            before: None,
            after: Some(Quantity::new(2862.0, Unit::Milliseconds)),
        },
        Figure {
            what: "4..=64 B, a free and an alloc",
            subject: Subject::Churn(64),
            before: None,
            after: Some(Quantity::new(649.0, Unit::Nanoseconds)),
        },
        Figure {
            what: "4..=1024 B, a free and an alloc",
            subject: Subject::Churn(1024),
            before: None,
            after: Some(Quantity::new(3767.0, Unit::Nanoseconds)),
        },
        Figure {
            what: "stale hint, before and after",
            subject: Subject::StaleHint,
            before: Some(Quantity::new(984.0, Unit::Pages)),
            after: Some(Quantity::new(1464.0, Unit::Pages)),
        },
    ],
};
