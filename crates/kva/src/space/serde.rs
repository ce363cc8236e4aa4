//! `serde` support for spaces, in a format for people; [`image`](crate::image) is the one for machines. Input is
//! checked as a caller's requests are.
//!
//! ```json
//! {"granule": 4096, "placement": "Lowest", "layout": ["0x0..=0xffff"], "moves": [],
//!  "regions": [{"span": "0x0..=0x1fff", "guard_bytes": 0, "align": 4096, "is_carved": false, "value": "disk"}]}
//! ```

use super::AddressSpace;
use crate::regions::{RegionAttrs, RegionEntry};
use crate::{AllocError, Placement};
use alloc::vec::Vec;
use freehold_units::{Align, Span};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct Document<R> {
    granule: Align,
    placement: Placement,
    layout: Vec<Span>,
    regions: Vec<R>,
    /// The old and the new start of each moving region.
    moves: Vec<(u64, u64)>,
}

#[derive(Serialize, Deserialize)]
struct Entry<V> {
    span: Span,
    guard_bytes: u64,
    align: Align,
    is_carved: bool,
    value: V,
}

impl<V: Serialize> Serialize for AddressSpace<V> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut layout: Vec<Span> = Vec::new();
        for extent in self.regions.pieces().map(|piece| piece.extent()) {
            match layout.last_mut() {
                Some(last) if last.touches(extent) => *last = last.hull(extent),
                _ => layout.push(extent),
            }
        }
        let document = Document {
            granule: self.granule,
            placement: self.placement,
            layout,
            regions: self.regions.regions().filter_map(|entry| self.entry(&entry)).collect(),
            moves: self.pending_moves().map(|token| (token.first(), token.to())).collect(),
        };
        document.serialize(serializer)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for AddressSpace<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = Document::<Entry<V>>::deserialize(deserializer)?;
        let space = Self::with_layout(&document.layout, document.granule, document.placement);
        let mut space = space.map_err(D::Error::custom)?;
        for entry in document.regions {
            space.put_entry(entry).map_err(D::Error::custom)?;
        }
        for (from, to) in document.moves {
            let _token = space.begin_move(from, to).map_err(D::Error::custom)?;
        }
        Ok(space)
    }
}

impl<V> AddressSpace<V> {
    /// The region to write for an entry; `None` for a placeholder.
    fn entry<'a>(&self, entry: &RegionEntry<'a, V>) -> Option<Entry<&'a V>> {
        Some(Entry {
            span: entry.span,
            guard_bytes: entry.guard().map_or(0, Span::size_saturating),
            align: entry.terms.align(),
            is_carved: self.carved.holds(entry.span.first()),
            value: entry.value?,
        })
    }

    /// Allocates the place of a region that was read.
    fn put_entry(&mut self, entry: Entry<V>) -> Result<(), AllocError> {
        let Entry { span, guard_bytes, align, is_carved, value } = entry;
        let guard_granules = self.check_guard(guard_bytes)?;
        let last = span.last().checked_add(guard_bytes).ok_or(AllocError::SizeOverflow)?;
        if !align.divides(span.first()) {
            return Err(AllocError::NoMultiple { size_bytes: span.size_saturating(), align, window: span });
        }
        let taken = Span::new(span.first(), last).expect("K4: a guard is behind its region");
        let block = self.prepare_at(taken)?;
        if is_carved {
            self.carved.reserve()?;
            self.carved.set(span.first(), None);
        }
        let terms = RegionAttrs::new(guard_granules, align.max(self.granule));
        self.occupy(block, taken, terms, Some(value), &mut ());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{AddressSpace, Placement, Request};
    use freehold_units::{Align, Span};
    use std::string::{String, ToString};

    const TEXT: &str = r#"{"granule":4096,"placement":"Highest","layout":["0x0..=0x7fff","0x9000..=0xffff"],"regions":[{"span":"0x0..=0xfff","guard_bytes":4096,"align":8192,"is_carved":false,"value":"nic"},{"span":"0xf000..=0xffff","guard_bytes":0,"align":4096,"is_carved":true,"value":"bus"}],"moves":[[0,16384]]}"#;

    fn read(text: &str) -> serde_json::Result<AddressSpace<String>> {
        serde_json::from_str(text)
    }

    #[test]
    fn a_space_is_read_as_it_was_written() {
        let layout = [Span::new(0, 0x7fff).unwrap(), Span::new(0x9000, 0xffff).unwrap()];
        let mut space = AddressSpace::with_layout(&layout, Align::PAGE, Placement::Highest).unwrap();
        let guarded = Request::new(4096).guard(4096).align_bytes(8192).window(Span::new(0, 0x1fff).unwrap());
        space.alloc(&guarded, String::from("nic")).unwrap();
        space.carve::<()>(&Request::new(4096), String::from("bus"), Placement::Highest).unwrap();
        let token = space.begin_move(0, 0x4000).unwrap();
        assert_eq!(serde_json::to_string(&space).unwrap(), TEXT);
        let back = read(TEXT).unwrap();
        back.validate().unwrap();
        assert_eq!((&back, back.placement()), (&space, Placement::Highest));
        assert!(back.pending_moves().map(|token| token.to()).eq([token.to()]));
        let bytes = serde_json::to_vec(&back).unwrap();
        assert_eq!(bytes, TEXT.as_bytes());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (right, wrong, error) in [
            ("\"guard_bytes\":4096", "\"guard_bytes\":4097", "not a multiple of the granule"),
            ("\"align\":8192", "\"align\":8193", "power of two"),
            ("0xf000..=0xffff", "0x1000..=0x1fff", "is in the way"),
            ("0x9000..=0xffff", "0x7000..=0xffff", "overlaps"),
            (
                "0xf000..=0xffff\",\"guard_bytes\":0,\"align\":4096",
                "0x9000..=0x9fff\",\"guard_bytes\":0,\"align\":8192",
                "no multiple",
            ),
            ("[[0,16384]]", "[[0,12288]]", "does not start at a multiple"),
            ("[[0,16384]]", "[[4096,16384]]", "not at its start"),
            ("[[0,16384]]", "[[0,16384],[0,24576]]", "is pending"),
        ] {
            let text = TEXT.replacen(right, wrong, 1);
            assert_ne!(text, TEXT);
            let refused = read(&text).unwrap_err().to_string();
            assert!(refused.contains(error), "{wrong}: {refused}");
        }
    }
}
