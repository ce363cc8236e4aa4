//! The maps of areas: ours, and what one writes with the standard library.

use super::{AreaMap, Nodes};
use crate::engine::maple::WordMapRanges;
use freehold::maple::WordMap;
use freehold::units::Span;
use freehold_rivals::maple::BTreeMapRanges;

impl AreaMap for WordMapRanges {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let range = self.map.range(span.first()..=span.last());
        range.map(|(area, kind)| (area.first(), area.last(), kind))
    }

    fn areas(&self) -> u64 {
        self.map.len()
    }

    fn nodes(&self) -> Option<Nodes> {
        Some(nodes_of(&self.map))
    }
}

/// The nodes of a range tree.
pub(super) fn nodes_of(map: &WordMap<u64>) -> Nodes {
    Nodes { in_use: map.nodes() as u64, taken: map.nodes_taken(), height: map.height() as u64 }
}

impl AreaMap for BTreeMapRanges<u64> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let below = self.holding(span.first()).filter(|&(first, ..)| first < span.first());
        below.into_iter().chain(self.starting_in(span))
    }

    fn areas(&self) -> u64 {
        self.iter().count() as u64
    }

    fn nodes(&self) -> Option<Nodes> {
        None
    }
}
