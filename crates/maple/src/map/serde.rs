//! A map in any format of `serde`: a sequence of first index, last index and value, in ascending order.

use super::WordMap;
use super::sorted::{Filling, FromSorted};
use crate::entry::StoredValue;
use crate::key::Key;
use crate::node::NodeLimits;
use core::fmt;
use freehold_units::Span;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl<E: StoredValue> Serialize for WordMap<E>
where
    for<'a> E::Ref<'a>: Serialize,
{
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let entries = self.iter().map(|(span, value)| (span.first(), span.last(), value));
        serializer.collect_seq(entries)
    }
}

/// Entries must be in ascending order and must not overlap, so that equal maps have equal serialized forms, and reading
/// and writing returns the input.
impl<'de, E: StoredValue + Deserialize<'de>> Deserialize<'de> for WordMap<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries(Filling::new(NodeLimits::FULL)))
    }
}

/// Reads the entries of a map. Memory grows with the entries read, not with the number that the input announces.
pub(crate) struct Entries<F>(pub(crate) F);

impl<'de, F: FromSorted<Key: Deserialize<'de>, Value: Deserialize<'de>>> Visitor<'de> for Entries<F> {
    type Value = F::Map;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence of first index, last index and value, in ascending order")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut entries: A) -> Result<F::Map, A::Error> {
        while let Some((first, last, value)) = entries.next_element::<(F::Key, F::Key, F::Value)>()? {
            let span = span_of(first.to_word(), last.to_word())?;
            self.0.push(span, value).map_err(Error::custom)?;
        }
        self.0.finish().map_err(Error::custom)
    }
}

/// The range of two indexes that were read.
pub(crate) fn span_of<E: Error>(first: u64, last: u64) -> Result<Span, E> {
    Span::new(first, last).ok_or_else(|| {
        E::custom(format_args!("an entry's first index, {first:#x}, is above its last, {last:#x}"))
    })
}
