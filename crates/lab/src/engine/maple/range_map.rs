//! Our [`RangeMap`] as a map of the lab.

use freehold::maple::{RangeMap, Request};
use freehold::units::{Align, Span};
use freehold_trace::maple::{End, Ranges};

/// A map of words.
pub struct RangeMapRanges {
    map: RangeMap<u64>,
}

impl Ranges for RangeMapRanges {
    const GAP_IS_LINEAR: bool = false;

    fn new() -> Self {
        Self { map: RangeMap::new() }
    }

    #[inline]
    fn store(&mut self, span: Span, value: u64) {
        // A lab's memory does not end; if it did, the answers would differ.
        let _ = self.map.store(span, value);
    }

    fn clear(&mut self, span: Span) {
        let _ = self.map.remove_range(span);
    }

    #[inline]
    fn insert(&mut self, span: Span, value: u64) -> bool {
        self.map.insert(span, value).is_ok()
    }

    #[inline]
    fn erase(&mut self, index: u64) -> Option<u64> {
        self.map.erase(index).map(|(_, value)| value)
    }

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        self.map.get(index)
    }

    #[inline]
    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.map.iter().map(|(span, value)| (span.first(), span.last(), value))
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let request = Request::new(size).align(align).window(window);
        match end {
            End::Lowest => self.map.lowest_gap(&request).ok(),
            End::Highest => self.map.highest_gap(&request).ok(),
        }
    }

    fn duplicate(&self) -> Self {
        // An empty copy answers otherwise, which no comparison lets pass.
        Self { map: self.map.try_clone().unwrap_or_default() }
    }

    fn bytes(&self) -> usize {
        self.map.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.map.validate().map_err(|broken| broken.to_string())
    }
}
