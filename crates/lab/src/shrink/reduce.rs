//! Delta debugging: the least of a history for which a condition still holds.
//!
//! ```text
//!   groups   a a b c c c d     first half of the groups left out, second half, quarters ... each group
//!            - - -             whatever still holds without them goes on without them
//! ```
//!
//! A history ends up 1-minimal: no group can be left out alone. Cost: of n groups, at most n² + 3n trials; if the condition needs
//! few of them, far fewer than n.
//!
//! Source: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial<O> {
    /// The condition holds, for this much of what was tried.
    Holds(Vec<O>),
    /// It does not.
    Fails,
    /// There are to be no more trials.
    Stop,
}

/// Which group each operation is of.
pub type Groups<O> = fn(&[O]) -> Vec<u64>;

/// Each operation is a group of its own.
pub fn alone<O>(ops: &[O]) -> Vec<u64> {
    (0..ops.len() as u64).collect()
}

/// Leaves out groups of operations as long as the condition holds, which it does of `ops`. Whether trials ended before there was
/// nothing left to try.
pub fn reduce<O: Clone>(
    ops: &mut Vec<O>,
    groups: Groups<O>,
    trial: &mut dyn FnMut(Vec<O>) -> Trial<O>,
) -> bool {
    let (mut places, mut count) = places(&groups(ops));
    let mut size = count.div_ceil(2);
    while count > 0 {
        let mut at = count;
        let before = count;
        while at > 0 {
            let from = at.saturating_sub(size);
            let stays = |(_, place): &(&O, &usize)| !(from..at).contains(*place);
            let rest = ops.iter().zip(&places).filter(stays).map(|(op, _)| op.clone()).collect();
            at = match trial(rest) {
                Trial::Holds(less) => {
                    *ops = less;
                    (places, count) = self::places(&groups(ops));
                    from.min(count)
                }
                Trial::Fails => from,
                Trial::Stop => return true,
            };
        }
        if size == 1 && count == before {
            return false;
        }
        size = (size / 2).min(count.div_ceil(2)).max(1);
    }
    false
}

/// Groups by number, in the order of their first operations; how many.
fn places(groups: &[u64]) -> (Vec<usize>, usize) {
    let mut known = std::collections::HashMap::new();
    let places = groups.iter().map(|group| {
        let next = known.len();
        *known.entry(*group).or_insert(next)
    });
    let places: Vec<usize> = places.collect();
    (places, known.len())
}
