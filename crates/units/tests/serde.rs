//! Spans and alignments through a format for people and one for machines.

#![cfg(feature = "serde")]

use freehold_units::{Align, Span};
use serde::de::value::{Error, SeqDeserializer, StrDeserializer};
use serde::{Deserialize, de::IntoDeserializer};

#[test]
fn json_has_spans_as_text_and_alignments_as_numbers() {
    let span = Span::new(0x1000, u64::MAX).unwrap();
    let text = serde_json::to_string(&(span, Align::PAGE)).unwrap();
    assert_eq!(text, r#"["0x1000..=0xffffffffffffffff",4096]"#);
    assert_eq!(serde_json::from_str::<(Span, Align)>(&text).unwrap(), (span, Align::PAGE));
    assert_eq!(serde_json::from_str::<Span>(r#""4K+4K""#).unwrap(), Span::new(0x1000, 0x1fff).unwrap());
}

#[test]
fn what_is_no_span_or_alignment_is_refused() {
    let refused = |text| serde_json::from_str::<Span>(text).unwrap_err().to_string();
    assert!(refused(r#""0x2..=0x1""#).contains("empty"));
    assert!(refused("[1, 2]").contains("FIRST..=LAST"));
    let refused = serde_json::from_str::<Align>("12").unwrap_err().to_string();
    assert!(refused.contains("12 is not a power of two"), "{refused}");
}

/// Wraps serde's own deserializer of a pair so that it is a format for machines.
struct Binary<D>(D);

impl<'de, D: serde::Deserializer<'de>> serde::Deserializer<'de> for Binary<D> {
    type Error = D::Error;

    fn deserialize_any<V: serde::de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[test]
fn machines_have_pairs() {
    let read = |ends: [u64; 2]| {
        let pair: SeqDeserializer<_, Error> = SeqDeserializer::new(ends.into_iter());
        Span::deserialize(Binary(pair))
    };
    assert_eq!(read([5, 9]), Ok(Span::new(5, 9).unwrap()));
    assert!(read([9, 5]).unwrap_err().to_string().contains("above its last, 0x5"));
    let text: StrDeserializer<'_, Error> = "5..=9".into_deserializer();
    assert_eq!(Span::deserialize(text), Ok(Span::new(5, 9).unwrap()));
}
