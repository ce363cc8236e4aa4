//! An alignment: a power of two, from 1 to 2^63 bytes.

use core::fmt;

/// A power of two in bytes. Cost: every method is a few instructions.
///
/// ```
/// use freehold_units::Align;
/// let page = Align::new(4096).unwrap();
/// assert_eq!(page.up(1), Some(4096));
/// assert_eq!(page.up(u64::MAX), None);
/// assert_eq!(Align::new(12), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Align {
    bytes: u64,
}

impl Align {
    /// One byte: every address is aligned.
    pub const ONE: Self = Self { bytes: 1 };
    /// The page of x86-64, 4096 bytes.
    pub const PAGE: Self = Self { bytes: 4096 };

    /// `None` unless `bytes` is a power of two.
    #[must_use]
    pub const fn new(bytes: u64) -> Option<Self> {
        if bytes.is_power_of_two() { Some(Self { bytes }) } else { None }
    }

    /// The alignment in bytes, at least 1.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// The bits of an address that must be 0: `bytes - 1`.
    #[must_use]
    pub const fn mask(self) -> u64 {
        self.bytes - 1
    }

    /// The lowest multiple at or above `address`, or `None` where that is 2^64.
    #[must_use]
    pub const fn up(self, address: u64) -> Option<u64> {
        match address.checked_add(self.mask()) {
            Some(sum) => Some(sum & !self.mask()),
            None => None,
        }
    }

    /// The highest multiple at or below `address`.
    #[must_use]
    pub const fn down(self, address: u64) -> u64 {
        address & !self.mask()
    }

    /// Whether `address` is a multiple.
    #[must_use]
    pub const fn divides(self, address: u64) -> bool {
        address & self.mask() == 0
    }
}

impl Default for Align {
    fn default() -> Self {
        Self::ONE
    }
}

impl fmt::Debug for Align {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Align({:#x})", self.bytes)
    }
}

impl fmt::Display for Align {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::Bytes::from(self.bytes).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Align;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn up_and_down_agree_with_division(shift in 0u32..64, address: u64) {
            let align = Align::new(1 << shift).unwrap();
            let bytes = u128::from(align.bytes());
            let up = u128::from(address).div_ceil(bytes) * bytes;
            prop_assert_eq!(align.up(address).map(u128::from), (up < 1 << 64).then_some(up));
            prop_assert_eq!(u128::from(align.down(address)), u128::from(address) / bytes * bytes);
            prop_assert_eq!(align.divides(address), u128::from(address) % bytes == 0);
        }
    }

    #[test]
    fn only_powers_of_two() {
        for bytes in [0, 3, 12, u64::MAX] {
            assert_eq!(Align::new(bytes), None);
        }
        assert_eq!(Align::new(1 << 63).unwrap().up(1), Some(1 << 63));
        assert_eq!(Align::new(1 << 63).unwrap().up((1 << 63) + 1), None);
    }
}
