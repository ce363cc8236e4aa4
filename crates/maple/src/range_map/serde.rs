//! A map in any format of `serde`: a sequence of first index, last index and value, in ascending order.

use super::RangeMap;
use super::collect::RangeFilling;
use crate::key::Key;
use crate::map::Entries;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl<V: Serialize, K: Key + Serialize> Serialize for RangeMap<V, K> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let entries = self
            .iter_words()
            .map(|(span, value)| (K::from_word(span.first()), K::from_word(span.last()), value));
        serializer.collect_seq(entries)
    }
}

/// Entries must be in ascending order and must not overlap, so that equal maps have equal serialized forms, and reading
/// and writing returns the input.
impl<'de, V: Deserialize<'de>, K: Key + Deserialize<'de>> Deserialize<'de> for RangeMap<V, K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries(RangeFilling::new()))
    }
}
