//! The crate `nodit`: intervals in a B-tree that can be searched by overlap.

use super::btree_memory::btree_bytes;
use super::gaps::{check_apart, highest_between, lowest_between};
use freehold_trace::maple::{End, Ranges};
use freehold_units::{Align, Span};
use nodit::interval::ii;
use nodit::{Interval, NoditMap};

/// A `NoditMap`.
#[derive(Clone, Debug)]
pub struct NoditRanges {
    pub(super) map: NoditMap<u64, Interval<u64>, u64>,
}

fn interval(span: Span) -> Interval<u64> {
    ii(span.first(), span.last())
}

fn ends(interval: &Interval<u64>) -> (u64, u64) {
    (*interval.start(), *interval.end())
}

impl Ranges for NoditRanges {
    const GAP_IS_LINEAR: bool = true;

    fn new() -> Self {
        Self { map: NoditMap::new() }
    }

    fn store(&mut self, span: Span, value: u64) {
        drop(self.map.insert_overwrite(interval(span), value));
    }

    fn clear(&mut self, span: Span) {
        drop(self.map.cut(&interval(span)));
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        self.map.insert_strict(interval(span), value).is_ok()
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        self.map.remove_overlapping(&ii(index, index)).map(|(_, value)| value).last()
    }

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        self.map.get_at_point(&index).copied()
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.map.iter().map(|(interval, &value)| {
            let (first, last) = ends(interval);
            (first, last, value)
        })
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let within = interval(window);
        let overlapping = self.map.overlapping(&within).map(|(interval, _)| ends(interval));
        match end {
            End::Lowest => lowest_between(overlapping, size, align, window),
            End::Highest => highest_between(overlapping.rev(), size, align, window),
        }
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn bytes(&self) -> usize {
        btree_bytes::<Interval<u64>, u64>(self.map.iter().map(|(interval, _)| interval))
    }

    fn validate(&self) -> Result<(), String> {
        check_apart(self.map.iter().map(|(interval, _)| ends(interval)))
    }
}
