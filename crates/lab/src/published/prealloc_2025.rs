//! The return values of `mas_prealloc_calc()` while the kernel's tests of maple trees run; 0 was left out.
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", v2, February 2025.

use super::histogram::Histogram;

/// The histogram.
pub const HISTOGRAM: Histogram = Histogram {
    source: "the series, v2, Feb 2025",
    what: "mas_prealloc_calc() return value",
    before: &[
        (1, 12_068),
        (3, 11_836),
        (5, 271_192),
        (7, 2_329_329),
        (9, 534_186),
        (10, 435),
        (11, 704_306),
        (13, 409_781),
    ],
    after: &[
        (1, 12_070),
        (3, 3_548_777),
        (5, 633_458),
        (7, 65_081),
        (9, 11_224),
        (10, 341),
        (11, 2_973),
        (13, 68),
    ],
};
