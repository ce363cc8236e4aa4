//! What reading the clock costs, and what a machine does between two readings.

use std::time::{Duration, Instant};

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

/// How often a machine took the CPU away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interruptions {
    /// Times for longer than was asked for.
    pub count: u64,
    /// The longest, in nanoseconds.
    pub worst_ns: u64,
}

/// Reads the clock for `length`, and counts the gaps of more than `over_ns` between two readings: what a measurement
/// of that length finds where nothing is measured.
pub fn interruptions(length: Duration, over_ns: u64) -> Interruptions {
    let mut found = Interruptions::default();
    let started = Instant::now();
    let mut before = started;
    while before - started < length {
        let after = Instant::now();
        let gap_ns = u64::try_from((after - before).as_nanos()).unwrap_or(u64::MAX);
        found.count += u64::from(gap_ns > over_ns);
        found.worst_ns = found.worst_ns.max(gap_ns);
        before = after;
    }
    found
}
