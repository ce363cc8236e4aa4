//! What reading the clock costs.

use std::time::Instant;

/// Nanoseconds between two readings with nothing between them, the median of many.
pub(crate) fn cost_ns() -> u64 {
    let mut readings: Vec<u64> = Vec::with_capacity(1001);
    let mut before = Instant::now();
    for _ in 0..1001 {
        let after = Instant::now();
        readings.push(u64::try_from((after - before).as_nanos()).unwrap_or(u64::MAX));
        before = after;
    }
    readings.sort_unstable();
    readings.get(500).copied().unwrap_or(0)
}
