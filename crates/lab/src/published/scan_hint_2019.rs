//! The letter that added the scan hint, 2019, merged into Linux 5.2. A reporter's insertion of traffic filters had become
//! slow as network counters were aligned to 8 bytes; reverting that, or the scan hint, made it fast again.

use super::percpu::Subject;
use super::{Figure, Published, Quantity, Unit};

/// The table.
pub const TABLE: Published<Subject> = Published {
    source: "scan hint, 2019",
    figures: &[
        Figure {
            what: "filters inserted, alignment reverted",
            subject: Subject::FilterInsertion,
            before: Some(Quantity::new(69.0, Unit::Seconds)),
            after: Some(Quantity::new(44.0, Unit::Seconds)),
        },
        Figure {
            what: "filters inserted, scan hint",
            subject: Subject::FilterInsertion,
            before: Some(Quantity::new(69.0, Unit::Seconds)),
            after: Some(Quantity::new(39.0, Unit::Seconds)),
        },
    ],
};
