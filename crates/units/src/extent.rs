//! The length of a gap in 31 bits, in which a parent keeps the longest gap below each child.

/// The code of the length of a gap.
///
/// ```text
///   0                  no gap
///   1 + (last - first) exact, for gaps of up to 2^26 indexes
///   beyond             26 leading bits and an exponent, rounded up
/// ```
///
/// Order is kept: a longer gap never has the smaller code. So a subtree with a smaller code than the request has no room
/// for it. A subtree whose code is not smaller may have none either, as long lengths are rounded up, by less than one part
/// in 2^25.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent(u32);

/// The leading bits of a length that its code keeps.
const KEPT: u32 = 26;

impl Extent {
    /// The code for no gap.
    pub const NONE: Self = Self(0);

    /// The code of a gap whose last index is `reach` above its first.
    #[inline]
    pub const fn of_reach(reach: u64) -> Self {
        if reach >> KEPT == 0 {
            return Self(reach as u32 + 1);
        }
        let shift = u64::BITS - reach.leading_zeros() - KEPT;
        let rounded_up = (reach & ((1 << shift) - 1) != 0) as u32;
        // The leading bit of the mantissa adds 1 to the exponent, so codes continue where those of the lower exponent end.
        Self((shift << (KEPT - 1)) + (reach >> shift) as u32 + rounded_up + 1)
    }
}

const _: () = assert!((64 - KEPT) as u64 * (1 << (KEPT - 1)) + (1 << KEPT) + 2 < i32::MAX as u64);

impl Extent {
    /// The code itself, below 2^31: codes compare as lengths do.
    #[inline]
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Extent;
    use proptest::prelude::*;

    fn reaches() -> impl Strategy<Value = u64> {
        (0u32..64, any::<u64>(), 0u64..4).prop_map(|(shift, bits, near)| (bits >> shift).wrapping_sub(near))
    }

    proptest! {
        #[test]
        fn order_is_kept(a in reaches(), b in reaches()) {
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(Extent::of_reach(low) <= Extent::of_reach(high));
            prop_assert!(Extent::NONE < Extent::of_reach(low));
            if high < 1 << 26 && low < high {
                prop_assert!(Extent::of_reach(low) < Extent::of_reach(high));
            }
        }
    }

    #[test]
    fn the_ends_of_each_exponent_follow_each_other() {
        for bits in 26..64 {
            let power = 1u64 << bits;
            assert!(Extent::of_reach(power - 1) <= Extent::of_reach(power));
            assert!(Extent::of_reach(power - 1) < Extent::of_reach(power + (power >> 20)));
        }
    }
}
