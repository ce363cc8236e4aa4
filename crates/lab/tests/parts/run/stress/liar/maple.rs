//! A broken map of ranges.

use super::{INVALID, LEAKS, OTHER_VALUE, REFUSES, SHIFTED};
use freehold::units::{Align, Span};
use freehold_lab::engine::maple::{ENGINES, EngineEntry, Map, TreeFacts};
use freehold_rivals::maple::{BTreeMapRanges, Second};
use freehold_trace::maple::{End, RangeDriver, Ranges};
use std::cell::Cell;

/// A std map that lies once, when it was asked `AT` times for what it lies about.
pub(crate) struct Liar<const HOW: u8, const AT: u32> {
    map: BTreeMapRanges<u64>,
    asked: Cell<u32>,
}

impl<const HOW: u8, const AT: u32> Liar<HOW, AT> {
    /// As the list of engines has it.
    pub(crate) fn boxed() -> Box<dyn Map> {
        Box::new(RangeDriver::new(Self::new()))
    }

    /// Whether it lies now, if it is one that lies in this `how`.
    fn lies(&self, how: u8) -> bool {
        self.asked.set(self.asked.get() + u32::from(how == HOW));
        how == HOW && self.asked.get() == AT
    }
}

impl<const HOW: u8, const AT: u32> Ranges for Liar<HOW, AT> {
    const GAP_IS_LINEAR: bool = true;

    fn new() -> Self {
        Self { map: BTreeMapRanges::new(), asked: Cell::new(0) }
    }

    fn store(&mut self, span: Span, value: u64) {
        self.map.store(span, value + u64::from(self.lies(OTHER_VALUE)));
    }

    fn clear(&mut self, span: Span) {
        self.map.clear(span);
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        let value = value + u64::from(self.lies(OTHER_VALUE));
        !self.lies(REFUSES) && Ranges::insert(&mut self.map, span, value)
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        if self.lies(LEAKS) { self.get(index) } else { Ranges::erase(&mut self.map, index) }
    }

    fn get(&self, index: u64) -> Option<u64> {
        let value = Ranges::get(&self.map, index);
        if self.lies(SHIFTED) { value.map(|value| value + 1) } else { value }
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.map.iter()
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let place = self.map.gap(end, size, align, window)?;
        if self.lies(SHIFTED) { Span::new(place.first() + 1, place.last() + 1) } else { Some(place) }
    }

    fn duplicate(&self) -> Self {
        Self { map: self.map.clone(), asked: Cell::new(0) }
    }

    fn bytes(&self) -> usize {
        self.map.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        if self.lies(INVALID) { Err("M0: it is a liar".to_owned()) } else { self.map.validate() }
    }
}

/// Honest.
impl<const HOW: u8, const AT: u32> Second for Liar<HOW, AT> {
    type Other = BTreeMapRanges<u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        BTreeMapRanges::other(ranges)
    }

    fn sum_both(one: &Self, other: &Self::Other) -> u64 {
        BTreeMapRanges::sum_both(&one.map, other)
    }
}

/// The liar in the place of a map that one might use instead.
pub(crate) fn maple_liar<const HOW: u8, const AT: u32>() -> EngineEntry {
    ENGINES[1].with(TreeFacts { trees: None, map: Some(Liar::<HOW, AT>::boxed), merges: false })
}
