//! Rounds: whose turn it is, and the middle of what they took.

/// The middle of some figures; 0 of none.
#[must_use]
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// A round: each one's turn, A B C, and in the next round C B A.
///
/// # Errors
/// What one of them says went wrong.
pub(super) fn in_turn<T, E>(
    round: usize,
    items: impl IntoIterator<Item = T>,
    mut turn: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut items: Vec<T> = items.into_iter().collect();
    if round % 2 == 1 {
        items.reverse();
    }
    items.into_iter().try_for_each(&mut turn)
}
