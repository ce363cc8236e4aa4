//! OpenZFS issue 2705, 2014: hundreds of thousands of busy areas in one list under one lock, and more than half of
//! the CPU time spent in the kernel.

use super::{Figure, Published, Quantity, Subject, Unit};

/// The table.
pub const TABLE: Published = Published {
    source: "OpenZFS issue 2705, 2014",
    figures: &[Figure {
        what: "time in the kernel, > 10^5 areas",
        subject: Subject::ListShare,
        before: Some(Quantity::at_least(50.0, Unit::Percent)),
        after: None,
    }],
};
