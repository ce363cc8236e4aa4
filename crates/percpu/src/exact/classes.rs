//! Which list a longest run belongs on.

/// Lengths up to this, in bits, have a list each.
const LINEAR: u32 = 256;
/// Runs of up to this, in bits, are on another list than any that are shorter.
pub(super) const LONGEST_APART: u32 = LINEAR + 1;
/// Lists for each doubling beyond.
const PER_DOUBLING: u32 = 4;

const LINEAR_SHIFT: u32 = LINEAR.ilog2();
const STEP_SHIFT: u32 = PER_DOUBLING.ilog2();

const _: () =
    assert!(LINEAR.is_power_of_two() && PER_DOUBLING.is_power_of_two() && STEP_SHIFT < LINEAR_SHIFT);

/// The list for runs of so many bits.
#[inline]
pub(super) const fn class(bits: u32) -> u32 {
    if bits <= LINEAR {
        return bits;
    }
    let shift = bits.ilog2();
    let step = bits >> (shift - STEP_SHIFT) & (PER_DOUBLING - 1);
    LINEAR + 1 + (shift - LINEAR_SHIFT) * PER_DOUBLING + step
}

/// The first list of which every run has at least so many bits.
#[inline]
pub(super) const fn class_of_at_least(bits: u32) -> u32 {
    if bits <= LINEAR { bits } else { class(bits - 1) + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_without_gaps_and_at_least_is_at_least() {
        let mut shortest = std::vec![0];
        for bits in 1..=1u32 << 14 {
            let class = class(bits) as usize;
            assert!(class + 1 == shortest.len() || class == shortest.len(), "a gap at {bits}");
            if class == shortest.len() {
                shortest.push(bits);
            }
        }
        for bits in 1..1u32 << 13 {
            let sure = class_of_at_least(bits) as usize;
            assert!(shortest[sure] >= bits && shortest[sure - 1] < bits, "{bits}");
        }
    }
}
