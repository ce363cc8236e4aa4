//! A map in any format of `serde`: a sequence of first index, last index and value, in ascending order.

use super::RangeMap;
use super::collect::RangeFilling;
use crate::map::Entries;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl<V: Serialize> Serialize for RangeMap<V> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let entries = self.iter().map(|(span, value)| (span.first(), span.last(), value));
        serializer.collect_seq(entries)
    }
}

/// Entries must be in ascending order and must not overlap, so that equal maps have equal serialized forms, and reading
/// and writing returns the input.
impl<'de, V: Deserialize<'de>> Deserialize<'de> for RangeMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries(RangeFilling::new()))
    }
}
