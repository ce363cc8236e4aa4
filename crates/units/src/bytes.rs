//! Sizes in bytes, as people write and read them.

use core::fmt;
use core::str::FromStr;

/// A number of bytes up to 2^64 and beyond, for reading and printing; binary units.
///
/// ```
/// use freehold_units::Bytes;
/// assert_eq!("64K".parse(), Ok(Bytes(65536)));
/// assert_eq!("0x1000".parse(), Ok(Bytes(4096)));
/// assert_eq!(u64::try_from("64K".parse::<Bytes>().unwrap()), Ok(65536));
/// assert_eq!(Bytes(3 << 20).to_string(), "3 MiB");
/// assert_eq!(Bytes(1536).to_string(), "1.5 KiB");
/// ```
///
/// [`beside`](Self::beside) prints sizes that a sentence compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u128);

const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

impl From<u64> for Bytes {
    fn from(bytes: u64) -> Self {
        Self(u128::from(bytes))
    }
}

impl From<Bytes> for u128 {
    fn from(bytes: Bytes) -> Self {
        bytes.0
    }
}

/// The error for a number of bytes that a `u64` cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyBytes {
    /// The number of bytes, 2^64 or more.
    pub bytes: Bytes,
}

impl fmt::Display for TooManyBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is more than 2^64 - 1 bytes", self.bytes)
    }
}

impl core::error::Error for TooManyBytes {}

impl TryFrom<Bytes> for u64 {
    type Error = TooManyBytes;

    /// Fails for 2^64 bytes, which can be read (`16E`), and more.
    fn try_from(bytes: Bytes) -> Result<Self, TooManyBytes> {
        Self::try_from(bytes.0).map_err(|_| TooManyBytes { bytes })
    }
}

impl Bytes {
    /// This size as text in a sentence that compares it with `other`: exact to the byte if one decimal does not
    /// distinguish them.
    ///
    /// ```
    /// # use freehold_units::Bytes;
    /// let too_large = |size: Bytes, most: Bytes| format!("{} is more than {}", size.beside(most), most.beside(size));
    /// assert_eq!(too_large(Bytes(33 << 10), Bytes(32 << 10)), "33 KiB is more than 32 KiB");
    /// assert_eq!(too_large(Bytes(32_792), Bytes(32 << 10)), "32792 B is more than 32768 B");
    /// ```
    #[must_use]
    pub fn beside(self, other: impl Into<Self>) -> impl fmt::Display {
        let other = other.into();
        Beside { size: self, is_exact: self != other && self.in_unit() == other.in_unit() }
    }

    /// The largest unit of which the size has at least 1, the number of whole units, and the tenths.
    fn in_unit(self) -> (usize, u128, u128) {
        let unit = (self.0.checked_ilog2().unwrap_or(0) as usize / 10).min(UNITS.len() - 1);
        let scale = 1u128 << (10 * unit);
        (unit, self.0 / scale, self.0 % scale * 10 / scale)
    }
}

struct Beside {
    size: Bytes,
    is_exact: bool,
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact { write!(f, "{} B", self.size.0) } else { self.size.fmt(f) }
    }
}

impl fmt::Display for Bytes {
    /// Shows the largest unit of which the size has at least 1, with one decimal if it is not whole.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, whole, tenths) = self.in_unit();
        let name = UNITS[unit];
        if whole << (10 * unit) == self.0 {
            write!(f, "{whole} {name}")
        } else {
            write!(f, "{whole}.{tenths} {name}")
        }
    }
}

/// The error of parsing a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseBytesError {
    /// There are no digits where a number must be.
    NoNumber,
    /// The text after the number is none of B, K, M, G, T, P, E (with or without `iB`).
    UnknownUnit,
    /// More than 2^64 bytes.
    TooLarge,
}

impl fmt::Display for ParseBytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoNumber => "not a number (write 4096, 0x1000 or 64K)",
            Self::UnknownUnit => "unknown unit (use K, M, G, T, P or E)",
            Self::TooLarge => "more than 2^64 bytes",
        })
    }
}

impl core::error::Error for ParseBytesError {}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    /// Parses a decimal number with an optional unit, or a hexadecimal one after `0x` without a unit.
    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        let text = text.trim();
        let (number, shift) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => (parse_digits(hex, 16)?, 0),
            None => {
                let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
                let (digits, unit) = text.split_at(unit_at);
                (parse_digits(digits, 10)?, unit_shift(unit.trim_start())?)
            }
        };
        let bytes = number.checked_mul(1 << shift).ok_or(ParseBytesError::TooLarge)?;
        if bytes > 1 << 64 { Err(ParseBytesError::TooLarge) } else { Ok(Self(bytes)) }
    }
}

fn parse_digits(digits: &str, radix: u32) -> Result<u128, ParseBytesError> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(ParseBytesError::NoNumber);
    }
    u128::from_str_radix(digits, radix).map_err(|_| ParseBytesError::TooLarge)
}

fn unit_shift(unit: &str) -> Result<u32, ParseBytesError> {
    let mut letters = unit.chars();
    let Some(first) = letters.next() else { return Ok(0) };
    let shift = match first.to_ascii_uppercase() {
        'B' => 0,
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        'P' => 50,
        'E' => 60,
        _ => return Err(ParseBytesError::UnknownUnit),
    };
    match (shift, letters.as_str()) {
        (_, "") | (1.., "iB" | "B" | "ib" | "b") => Ok(shift),
        _ => Err(ParseBytesError::UnknownUnit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn parses_what_people_write() {
        for (text, bytes) in
            [("0", 0), ("4096", 4096), ("64K", 65536), ("2 MiB", 2 << 20), ("1tb", 1 << 40), ("16E", 1 << 64)]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        assert_eq!("0xffffffffffffffff".parse(), Ok(Bytes(u128::from(u64::MAX))));
    }

    #[test]
    fn a_number_of_bytes_is_a_u64_unless_it_is_too_large() {
        for bytes in [0, 4096, u64::MAX] {
            assert_eq!(u64::try_from(Bytes::from(bytes)), Ok(bytes));
            assert_eq!(u128::from(Bytes::from(bytes)), bytes.into());
        }
        let all = Bytes(1 << 64);
        assert_eq!("16E".parse(), Ok(all));
        assert_eq!(u64::try_from(all), Err(TooManyBytes { bytes: all }));
        assert_eq!(TooManyBytes { bytes: all }.to_string(), "16 EiB is more than 2^64 - 1 bytes");
    }

    #[test]
    fn refuses_the_rest_by_name() {
        for text in ["", "K", "-1", "0x", "+4", "0xzz", " "] {
            assert_eq!(text.parse::<Bytes>(), Err(ParseBytesError::NoNumber), "{text:?}");
        }
        for text in ["1Q", "1KK", "1Bi", "1.5K"] {
            assert_eq!(text.parse::<Bytes>(), Err(ParseBytesError::UnknownUnit), "{text:?}");
        }
        for text in
            ["17E", "340282366920938463463374607431768211456", "340282366920938463463374607431768211455K"]
        {
            assert_eq!(text.parse::<Bytes>(), Err(ParseBytesError::TooLarge), "{text:?}");
        }
    }

    #[test]
    fn sizes_that_are_compared_are_told_apart() {
        for (one, other, texts) in [
            (32_792, 32_768, ["32792 B", "32768 B"]),
            (1600, 1601, ["1600 B", "1601 B"]),
            (1600, 1600, ["1.5 KiB", "1.5 KiB"]),
            (1023, 1024, ["1023 B", "1 KiB"]),
            (4096, 8192, ["4 KiB", "8 KiB"]),
            (
                u128::from(u64::MAX),
                u128::from(u64::MAX) - 1,
                ["18446744073709551615 B", "18446744073709551614 B"],
            ),
        ] {
            let (one, other) = (Bytes(one), Bytes(other));
            assert_eq!([one.beside(other).to_string(), other.beside(one).to_string()], texts);
        }
    }

    #[test]
    fn prints_the_largest_unit() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1 << 64, "16 EiB"),
            (u128::from(u64::MAX), "15.9 EiB"),
            (1 << 80, "1048576 EiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
