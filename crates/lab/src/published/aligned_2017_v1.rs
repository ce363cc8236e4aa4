//! The posting's worst case: a million objects of 4 bytes at multiples of 8. The times are of the whole workload.

use super::percpu::Subject;
use super::{Figure, Published, Quantity, Unit};

/// The table.
pub const TABLE: Published<Subject> = Published {
    source: "percpu bitmap v1, aligned",
    figures: &[Figure {
        what: "4 B aligned to 8, a million",
        subject: Subject::Aligned,
        before: Some(Quantity::new(52.0, Unit::Minutes)),
        after: Some(Quantity::new(14.0, Unit::Seconds)),
    }],
};
