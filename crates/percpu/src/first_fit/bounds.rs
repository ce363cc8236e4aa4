//! Searches a row of bounds 16 at a time, which compilers vectorize.

/// Number of bounds compared together.
const LANES: usize = 16;

/// The position of the first bound from `from` on that is at least `least`.
#[inline]
pub(super) fn first_at_least(bounds: &[i16], from: usize, least: i16) -> Option<usize> {
    let mut at = from;
    for lanes in bounds.get(from..)?.chunks(LANES) {
        if highest(lanes) >= least {
            return lanes.iter().position(|&bound| bound >= least).map(|lane| at + lane);
        }
        at += LANES;
    }
    None
}

/// The highest bound, at least 0.
#[inline]
pub(super) fn highest(bounds: &[i16]) -> i16 {
    bounds.iter().fold(0, |highest, &bound| highest.max(bound))
}
