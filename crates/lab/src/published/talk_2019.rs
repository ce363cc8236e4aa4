//! The talk: "Reworking of KVA allocator in Linux kernel", Linux Plumbers Conference, September 2019.
//!
//! The whole test on an i5-3320M (00:27:25), and the time of an allocation while all four CPUs run the test, one
//! sample a second for 120 seconds (00:27:50 to 00:30:21; read off plots by the speaker, who rounds). They are of whole
//! vmalloc calls: pages, page tables and locks included.

use super::{Figure, Published, Quantity, Statistic, Subject, Unit};

/// Samples of each of the talk's plots, one a second.
pub const SAMPLES: usize = 120;
/// Workers: the machine's CPUs.
pub const WORKERS: usize = 4;

/// The table.
pub const TABLE: Published = Published {
    source: "talk, LPC 2019",
    figures: &[
        Figure {
            what: "whole test, i5-3320M, 4 CPUs",
            subject: Subject::SuiteTogether,
            before: Some(Quantity::new(160.0, Unit::Minutes)),
            after: Some(Quantity::new(3.0, Unit::Minutes)),
        },
        Figure {
            what: "least time of an allocation",
            subject: Subject::AllocationTime(Statistic::Least),
            before: Some(Quantity::new(25.0, Unit::Microseconds)),
            after: Some(Quantity::new(7.0, Unit::Microseconds)),
        },
        Figure {
            what: "mean time of an allocation",
            subject: Subject::AllocationTime(Statistic::Mean),
            before: Some(Quantity::new(400.0, Unit::Microseconds)),
            after: Some(Quantity::new(10.0, Unit::Microseconds)),
        },
        Figure {
            what: "greatest time of an allocation",
            subject: Subject::AllocationTime(Statistic::Greatest),
            before: Some(Quantity::new(4000.0, Unit::Microseconds)),
            after: None,
        },
        Figure {
            what: "waiting for the lock, Xeon, 12 CPUs",
            subject: Subject::LockShare,
            before: None,
            after: Some(Quantity::new(72.0, Unit::Percent)),
        },
    ],
};
