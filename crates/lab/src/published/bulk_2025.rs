//! The count argument of `kmem_cache_alloc_bulk()` for maple nodes while `stress-ng --mmap 4 --timeout 120` runs.
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", v2, February 2025.

use super::histogram::Histogram;

/// The histogram.
pub const HISTOGRAM: Histogram = Histogram {
    source: "the series, v2, Feb 2025",
    what: "bulk_alloc_req",
    before: &[
        (3, 4),
        (4, 54_170),
        (6, 893_057),
        (7, 4),
        (8, 2_230_287),
        (9, 55_811),
        (10, 77_834),
        (12, 1_368_684),
        (15, 367_197),
    ],
    after: &[
        (2, 198),
        (3, 4),
        (4, 43),
        (6, 1_069_503),
        (7, 4),
        (8, 2_597_268),
        (9, 472_191),
        (10, 191_904),
        (12, 247_316),
        (15, 98_769),
    ],
};

/// `@maple_node_total`, before and after.
pub const NODE_TOTALS: [u64; 2] = [46_630_160, 37_813_856];
/// `@total_vmas`, before and after.
pub const AREAS: [u64; 2] = [46_184_591, 43_493_287];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::histogram::total;

    #[test]
    fn the_counts_give_the_totals() {
        assert_eq!([HISTOGRAM.before, HISTOGRAM.after].map(total), NODE_TOTALS);
    }
}
