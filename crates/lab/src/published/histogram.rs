//! Histograms as others have published them, before and after a change.

/// How often each value came.
pub type Counts = &'static [(u64, u64)];

/// A histogram before and after a change.
#[derive(Clone, Copy, Debug)]
pub struct Histogram {
    /// Where and when.
    pub source: &'static str,
    /// What was counted.
    pub what: &'static str,
    /// Before the change; values that did not come are left out.
    pub before: Counts,
    /// After it.
    pub after: Counts,
}

/// The sum of all values.
#[must_use]
pub fn total(counts: Counts) -> u64 {
    counts.iter().map(|(value, count)| value * count).sum()
}

/// How often a value came.
#[must_use]
pub fn of(counts: Counts, value: u64) -> u64 {
    counts.iter().find(|(other, _)| *other == value).map_or(0, |(_, count)| *count)
}
