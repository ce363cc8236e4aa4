//! A map in any format of `serde`: a sequence of first index, last index and value, in ascending order.

use super::RangeMap;
use super::sorted::Filling;
use crate::entry::StoredValue;
use crate::node::NodeLimits;
use core::fmt;
use core::marker::PhantomData;
use freehold_units::Span;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl<E: StoredValue> Serialize for RangeMap<E>
where
    for<'a> E::Ref<'a>: Serialize,
{
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let entries = self.iter().map(|(span, value)| (span.first(), span.last(), value));
        serializer.collect_seq(entries)
    }
}

/// Entries must be in ascending order and may not overlap, so that equal maps are written alike and what was read is
/// written again as it was.
impl<'de, E: StoredValue + Deserialize<'de>> Deserialize<'de> for RangeMap<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

struct Entries<E>(PhantomData<E>);

impl<'de, E: StoredValue + Deserialize<'de>> Visitor<'de> for Entries<E> {
    type Value = RangeMap<E>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence of first index, last index and value, in ascending order")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        // Memory is asked for as entries come, not as the input says how many will.
        let mut filling = Filling::new(NodeLimits::FULL);
        while let Some((first, last, value)) = entries.next_element::<(u64, u64, E)>()? {
            let Some(span) = Span::new(first, last) else {
                return Err(Error::custom(format_args!(
                    "an entry's first index, {first:#x}, is above its last, {last:#x}"
                )));
            };
            filling.push(span, value).map_err(Error::custom)?;
        }
        filling.finish().map_err(Error::custom)
    }
}
