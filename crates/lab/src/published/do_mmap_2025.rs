//! The time of `do_mmap` while `stress-ng --mmap 4 --timeout 120` runs, before and after.
//!
//! Source: S. Kumar, "Track node vacancy to reduce worst case allocation counts", v2, February 2025.

/// Times of a function.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    /// Mean, in nanoseconds.
    pub average_ns: u64,
    /// Sum, in nanoseconds.
    pub total_ns: u64,
    /// Calls.
    pub count: u64,
}

/// Before and after.
pub const DO_MMAP: [Latency; 2] = [
    Latency { average_ns: 7_162, total_ns: 16_101_821_292, count: 2_248_034 },
    Latency { average_ns: 6_689, total_ns: 15_135_391_764, count: 2_262_726 },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_means_agree() {
        assert!(DO_MMAP.iter().all(|latency| latency.total_ns / latency.count == latency.average_ns));
    }
}
