//! `serde` support for spans and alignments. Input is checked as a caller's numbers are.

use crate::{Align, Span};
use core::fmt;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text in formats for people, since JSON does not have 64-bit numbers everywhere; otherwise the first and the last
/// address.
impl Serialize for Span {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            (self.first(), self.last()).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(SpanText);
        }
        let (first, last) = <(u64, u64)>::deserialize(deserializer)?;
        Self::new(first, last).ok_or_else(|| {
            Error::custom(format_args!("a span's first address, {first:#x}, is above its last, {last:#x}"))
        })
    }
}

struct SpanText;

impl Visitor<'_> for SpanText {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a span, FIRST..=LAST or FIRST+SIZE")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Span, E> {
        text.parse().map_err(E::custom)
    }
}

impl Serialize for Align {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        self.bytes().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Align {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(u64::deserialize(deserializer)?).map_err(Error::custom)
    }
}
