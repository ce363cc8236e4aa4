//! The same in the second version, which gives the new time as about 16 seconds.

use super::percpu::Subject;
use super::{Figure, Published, Quantity, Unit};

/// The table.
pub const TABLE: Published<Subject> = Published {
    source: "percpu bitmap v2, aligned",
    figures: &[Figure {
        what: "4 B aligned to 8, a million",
        subject: Subject::Aligned,
        before: Some(Quantity::new(52.0, Unit::Minutes)),
        after: Some(Quantity::new(16.0, Unit::Seconds)),
    }],
};
