//! Spans as text: `FromStr` reads what `Display` writes.

use super::Span;
use crate::{Bytes, ParseBytesError};
use core::fmt::{self, Write};
use core::str::FromStr;

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes `0xc0000000..=0xffffffff`, which [`FromStr`] reads. Width, fill and alignment apply to the whole text.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text { bytes: [0; Text::MOST], len: 0 };
        write!(text, "{:#x}..={:#x}", self.first, self.last)?;
        f.pad(text.as_str())
    }
}

/// Writes `c0000000..=ffffffff`. Width, `#` and `0` apply to each number: `{:08x}` writes columns.
impl fmt::LowerHex for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.first, f)?;
        f.write_str("..=")?;
        fmt::LowerHex::fmt(&self.last, f)
    }
}

/// A buffer for the text of a span, without an allocation.
struct Text {
    bytes: [u8; Self::MOST],
    len: usize,
}

impl Text {
    /// The most bytes: two 64-bit numbers and the separator.
    const MOST: usize = 2 * "0xffffffffffffffff".len() + "..=".len();

    #[allow(clippy::expect_used, reason = "only text was written")]
    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).expect("what was written is text")
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// The error of parsing a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseSpanError {
    /// None of `FIRST..=LAST`, `FIRST..END` and `FIRST+SIZE`.
    NoSeparator,
    /// A number is invalid.
    Number(ParseBytesError),
    /// The span would be empty or pass the last address.
    Empty,
}

impl fmt::Display for ParseSpanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSeparator => f.write_str("not a span (write FIRST..=LAST, FIRST..END or FIRST+SIZE)"),
            Self::Number(error) => error.fmt(f),
            Self::Empty => f.write_str("the span is empty or passes the last address"),
        }
    }
}

impl core::error::Error for ParseSpanError {}

impl FromStr for Span {
    type Err = ParseSpanError;

    /// Parses `FIRST..=LAST`, `FIRST..END` or `FIRST+SIZE`, each number as [`Bytes`] does. An end may be 2^64, as in
    /// `0..16E`.
    fn from_str(text: &str) -> Result<Self, ParseSpanError> {
        let number = |text: &str| match text.parse::<Bytes>() {
            Ok(Bytes(value)) => Ok(value),
            Err(error) => Err(ParseSpanError::Number(error)),
        };
        let (first, last) = if let Some((first, last)) = text.split_once("..=") {
            (number(first)?, number(last)?)
        } else if let Some((first, end)) = text.split_once("..") {
            (number(first)?, number(end)?.checked_sub(1).ok_or(ParseSpanError::Empty)?)
        } else if let Some((first, size)) = text.split_once('+') {
            let (first, size) = (number(first)?, number(size)?);
            (first, (first + size).checked_sub(1).ok_or(ParseSpanError::Empty)?)
        } else {
            return Err(ParseSpanError::NoSeparator);
        };
        match (u64::try_from(first), u64::try_from(last)) {
            (Ok(first), Ok(last)) => Self::new(first, last).ok_or(ParseSpanError::Empty),
            _ => Err(ParseSpanError::Empty),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::ToString;

    #[test]
    fn parses_all_forms() {
        assert_eq!("0x1000..=0x1fff".parse(), Ok(Span { first: 0x1000, last: 0x1fff }));
        assert_eq!("4K+4K".parse(), Ok(Span { first: 0x1000, last: 0x1fff }));
        assert_eq!("0x1000..0x2000".parse(), Ok(Span { first: 0x1000, last: 0x1fff }));
        assert_eq!("4K .. 8K".parse(), Ok(Span { first: 0x1000, last: 0x1fff }));
        assert_eq!(["0..16E".parse(), "0..=0xffffffffffffffff".parse()], [Ok(Span::ALL); 2]);
        assert_eq!("0x10..0x10".parse::<Span>(), Err(ParseSpanError::Empty));
        assert_eq!("0x20..0x10".parse::<Span>(), Err(ParseSpanError::Empty));
        assert_eq!("0..0".parse::<Span>(), Err(ParseSpanError::Empty));
        assert_eq!("1..17E".parse::<Span>(), Err(ParseSpanError::Number(ParseBytesError::TooLarge)));
        assert_eq!("1..".parse::<Span>(), Err(ParseSpanError::Number(ParseBytesError::NoNumber)));
        assert_eq!("..=1".parse::<Span>(), Err(ParseSpanError::Number(ParseBytesError::NoNumber)));
        assert_eq!("0+16E".parse(), Ok(Span::ALL));
        assert_eq!("5".parse::<Span>(), Err(ParseSpanError::NoSeparator));
        assert_eq!("5+0".parse::<Span>(), Err(ParseSpanError::Empty));
        assert_eq!("0+0".parse::<Span>(), Err(ParseSpanError::Empty));
        assert_eq!("1+16E".parse::<Span>(), Err(ParseSpanError::Empty));
        assert_eq!("x+1".parse::<Span>(), Err(ParseSpanError::Number(ParseBytesError::NoNumber)));
    }

    #[test]
    fn width_is_of_the_whole_and_hexadecimal_flags_of_each_number() {
        let span = Span::new(0x1000, 0x1fff).unwrap();
        assert_eq!(format!("{span}, {span:?}"), "0x1000..=0x1fff, 0x1000..=0x1fff");
        assert_eq!(
            format!("{span:20}|{span:>20}|{span:*^17}"),
            "0x1000..=0x1fff     |     0x1000..=0x1fff|*0x1000..=0x1fff*"
        );
        assert_eq!(
            format!("{span:x} {span:#x} {span:08x}"),
            "1000..=1fff 0x1000..=0x1fff 00001000..=00001fff"
        );
        assert_eq!(
            Span::new(u64::MAX, u64::MAX).unwrap().to_string(),
            "0xffffffffffffffff..=0xffffffffffffffff"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(first: u64, last: u64) {
            let span = Span::new(first.min(last), first.max(last)).unwrap();
            prop_assert_eq!(span.to_string().parse(), Ok(span));
            prop_assert_eq!(format!("{span:#x}").parse(), Ok(span));
            prop_assert_eq!(format!("{}..{}", span.first, u128::from(span.last) + 1).parse(), Ok(span));
        }
    }
}
