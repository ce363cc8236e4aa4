//! The maps of areas: ours, what one writes with the standard library, and a sorted list to judge them.

use super::{AreaMap, Nodes};
use crate::engine::maple::{Ask, WordMapRanges};
use freehold::units::Span;
use freehold_rivals::maple::{BTreeMapRanges, ListRanges};

impl<A: Ask> AreaMap for WordMapRanges<A> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let areas = self.map.range(span.first()..=span.last());
        areas.map(|(area, kind)| (area.first(), area.last(), kind))
    }

    fn areas(&self) -> u64 {
        self.map.len()
    }

    fn nodes(&self) -> Option<Nodes> {
        let map = &self.map;
        Some(Nodes { in_use: map.nodes() as u64, taken: map.nodes_taken(), height: map.height() as u64 })
    }
}

/// What the others are held against. It shares no code with any of them.
impl AreaMap for ListRanges<u64> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        self.overlapping(span)
    }
}

impl AreaMap for BTreeMapRanges<u64> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let below = self.holding(span.first()).filter(|&(first, ..)| first < span.first());
        below.into_iter().chain(self.starting_in(span))
    }
}
