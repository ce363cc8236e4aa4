//! The maps of areas: ours, what one writes with the standard library, and a sorted list to judge them.

use super::{AreaMap, Nodes};
use crate::engine::maple::WordMapRanges;
use freehold::maple::WordMap;
use freehold::units::Span;
use freehold_rivals::maple::{BTreeMapRanges, ListRanges};

impl AreaMap for WordMapRanges {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        overlapping(&self.map, span)
    }

    fn areas(&self) -> u64 {
        self.map.len()
    }

    fn nodes(&self) -> Option<Nodes> {
        Some(nodes_of(&self.map))
    }
}

/// What a range tree has in the span.
pub(super) fn overlapping(map: &WordMap<u64>, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
    map.range(span.first()..=span.last()).map(|(area, kind)| (area.first(), area.last(), kind))
}

/// The nodes of a range tree.
pub(super) fn nodes_of(map: &WordMap<u64>) -> Nodes {
    Nodes { in_use: map.nodes() as u64, taken: map.nodes_taken(), height: map.height() as u64 }
}

/// What the others are held against. It shares no code with any of them.
impl AreaMap for ListRanges<u64> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        self.overlapping(span)
    }

    fn areas(&self) -> u64 {
        self.len() as u64
    }

    fn nodes(&self) -> Option<Nodes> {
        None
    }
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
