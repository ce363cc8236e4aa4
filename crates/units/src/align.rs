//! An alignment: a power of two, from 1 to 2^63 bytes.

use crate::{Bytes, ParseBytesError};
use core::fmt;
use core::str::FromStr;

/// A power of two in bytes. Cost: every method is a few instructions.
///
/// ```
/// use freehold_units::Align;
/// let page = Align::try_from(4096)?;
/// assert_eq!((page, page.to_string()), ("4K".parse()?, "4 KiB".to_owned()));
/// assert_eq!(page.up(1), Some(4096));
/// assert_eq!(page.up(u64::MAX), None);
///
/// const HUGE: Align = Align::new(2 << 20).unwrap();
/// assert_eq!(Align::try_from(12).unwrap_err().to_string(), "12 is not a power of two up to 2^63");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With the feature `serde`, an alignment is serialized as its number of bytes.
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

    /// The lowest multiple at or above `address`; `None` if that is 2^64.
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

/// Writes `4 KiB`, which [`FromStr`] reads.
impl fmt::Display for Align {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bytes::from(self.bytes).fmt(f)
    }
}

/// A number that is not an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPowerOfTwo {
    /// The number, in bytes.
    pub bytes: u128,
}

impl fmt::Display for NotPowerOfTwo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a power of two up to 2^63", self.bytes)
    }
}

impl core::error::Error for NotPowerOfTwo {}

impl TryFrom<u64> for Align {
    type Error = NotPowerOfTwo;

    fn try_from(bytes: u64) -> Result<Self, NotPowerOfTwo> {
        Self::new(bytes).ok_or(NotPowerOfTwo { bytes: bytes.into() })
    }
}

impl From<Align> for u64 {
    fn from(align: Align) -> Self {
        align.bytes
    }
}

/// The error of parsing an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseAlignError {
    /// The text is not a number of bytes.
    Number(ParseBytesError),
    /// The number of bytes is not an alignment.
    NotPowerOfTwo(NotPowerOfTwo),
}

impl fmt::Display for ParseAlignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(error) => error.fmt(f),
            Self::NotPowerOfTwo(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ParseAlignError {}

impl FromStr for Align {
    type Err = ParseAlignError;

    /// Parses a number of bytes as [`Bytes`] does.
    fn from_str(text: &str) -> Result<Self, ParseAlignError> {
        let Bytes(bytes) = text.parse().map_err(ParseAlignError::Number)?;
        let align = u64::try_from(bytes).ok().and_then(Self::new);
        align.ok_or(ParseAlignError::NotPowerOfTwo(NotPowerOfTwo { bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    proptest! {
        #[test]
        fn up_and_down_agree_with_division(shift in 0u32..64, address: u64) {
            let align = Align::new(1 << shift).unwrap();
            let bytes = u128::from(align.bytes());
            let up = u128::from(address).div_ceil(bytes) * bytes;
            prop_assert_eq!(align.up(address).map(u128::from), (up < 1 << 64).then_some(up));
            prop_assert_eq!(u128::from(align.down(address)), u128::from(address) / bytes * bytes);
            prop_assert_eq!(align.divides(address), u128::from(address) % bytes == 0);
            prop_assert_eq!(align.to_string().parse(), Ok(align));
            prop_assert_eq!(Align::try_from(u64::from(align)), Ok(align));
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

    #[test]
    fn a_text_is_an_alignment_or_says_why_not() {
        assert_eq!("2M".parse(), Ok(Align { bytes: 2 << 20 }));
        let wrong = |bytes| Err(ParseAlignError::NotPowerOfTwo(NotPowerOfTwo { bytes }));
        assert_eq!("0".parse::<Align>(), wrong(0));
        assert_eq!("12".parse::<Align>(), wrong(12));
        assert_eq!("16E".parse::<Align>(), wrong(1 << 64));
        assert_eq!("x".parse::<Align>(), Err(ParseAlignError::Number(ParseBytesError::NoNumber)));
        assert_eq!(Align::try_from(6), Err(NotPowerOfTwo { bytes: 6 }));
    }
}
