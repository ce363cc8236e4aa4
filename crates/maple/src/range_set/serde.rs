//! A set in any format of `serde`: a sequence of first and last index, in ascending order.

use super::RangeSet;
use crate::key::{Key, Keys};
use crate::map::{Filling, FromSorted, span_of};
use crate::node::NodeLimits;
use core::fmt;
use core::marker::PhantomData;
use freehold_units::Span;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl<K: Key + Serialize> Serialize for RangeSet<K> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let ends = |(span, ()): (Span, ())| (K::from_word(span.first()), K::from_word(span.last()));
        serializer.collect_seq(self.ranges.iter().map(ends))
    }
}

/// Ranges must be in ascending order with a gap between them, so that equal sets have equal serialized forms, and
/// reading and writing returns the input.
impl<'de, K: Key + Deserialize<'de>> Deserialize<'de> for RangeSet<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Ranges(PhantomData))
    }
}

/// Reads the ranges of a set. Memory grows with the ranges read, not with the number that the input announces.
struct Ranges<K>(Keys<K>);

impl<'de, K: Key + Deserialize<'de>> Visitor<'de> for Ranges<K> {
    type Value = RangeSet<K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence of first and last index, in ascending order")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut ranges: A) -> Result<RangeSet<K>, A::Error> {
        let (mut filling, mut before) = (Filling::new(NodeLimits::FULL), None::<Span>);
        while let Some((first, last)) = ranges.next_element::<(K, K)>()? {
            let span = span_of(first.to_word(), last.to_word())?;
            filling.push(span, ()).map_err(Error::custom)?;
            if let Some(before) = before.replace(span).filter(|before| before.touches(span)) {
                return Err(Error::custom(format_args!(
                    "{span} begins where {before} ends: they are one range"
                )));
            }
        }
        filling.finish().map(RangeSet::of_ranges).map_err(Error::custom)
    }
}
