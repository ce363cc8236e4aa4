//! What becomes of the figures of several rounds, and who is next in a round.

/// The middle of some figures; 0 of none.
#[must_use]
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Round by round, who is next: A B C, then C B A.
pub(super) fn turns(engines: usize, round: usize) -> Vec<usize> {
    if round.is_multiple_of(2) { (0..engines).collect() } else { (0..engines).rev().collect() }
}
