//! Maps of ranges at work whose kind is forgotten: what they can do beyond running operations. One virtual call for many
//! operations, none for one. And two maps of one kind whose values are of two types, with one function that goes through both.
//!
//! A program that has two such loops calls the iterator's `next` in two places, so that it is no longer inlined for the sake
//! of being called once.

use super::range_map::no_memory;
use super::{AnyMapRanges, Ask, WordMapRanges};
use freehold::maple::{RangeMap, WordMap};
use freehold::units::Span;
use freehold_rivals::maple::Second;
use freehold_rivals::sum_both;
use freehold_trace::maple::{RangeDriver, Steps, Trees};
use std::time::{Duration, Instant};

/// A map of ranges at work.
pub trait Map: Trees {
    /// Runs steps as fast as they go; a sum over all answers, the same for every map that answers right.
    fn perform(&mut self, steps: &Steps) -> u64;

    /// The same, and how long it took.
    fn perform_clocked(&mut self, steps: &Steps) -> (u64, Duration) {
        let before = Instant::now();
        let sum = self.perform(steps);
        (sum, before.elapsed())
    }

    /// An independent copy, if there can be one.
    fn duplicate(&self) -> Option<Box<dyn Map>> {
        None
    }

    /// Whether it is known to look for gaps one by one.
    fn gap_is_linear(&self) -> bool {
        false
    }

    /// Ranges.
    fn count(&self) -> usize;

    /// Two new maps of its kind, of two types of values, each with the ranges that are inserted, if it has these types.
    fn two(&self, inserted: &Steps) -> Option<Box<dyn Two>> {
        let _ = inserted;
        None
    }
}

impl<R: Second + 'static> Map for RangeDriver<R> {
    fn perform(&mut self, steps: &Steps) -> u64 {
        steps.run(self.map_mut())
    }

    fn duplicate(&self) -> Option<Box<dyn Map>> {
        Some(Box::new(Self::new(self.map().duplicate())))
    }

    fn gap_is_linear(&self) -> bool {
        R::GAP_IS_LINEAR
    }

    fn count(&self) -> usize {
        self.map().iter().count()
    }

    fn two(&self, inserted: &Steps) -> Option<Box<dyn Two>> {
        Some(both::<R>(inserted))
    }
}

/// Two maps at work.
pub trait Two {
    /// Goes through the one, then through the other, so many times; a sum over all entries.
    fn perform(&self, times: usize) -> u64;
}

/// A map and its second.
struct Both<R: Second>(R, R::Other);

/// Both kinds of maps with the ranges that are inserted.
pub(super) fn both<R: Second + 'static>(initial: &Steps) -> Box<dyn Two> {
    let ranges = match initial {
        Steps::Insert(ranges) => ranges.as_slice(),
        _ => &[],
    };
    let mut map = R::new();
    for &(span, number) in ranges {
        map.store(span, u64::from(number));
    }
    Box::new(Both::<R>(map, R::other(ranges.iter().copied())))
}

impl<R: Second> Two for Both<R> {
    fn perform(&self, times: usize) -> u64 {
        (0..times).map(|_| R::sum_both(&self.0, &self.1)).fold(0, u64::wrapping_add)
    }
}

impl<A: Ask> Second for WordMapRanges<A> {
    type Other = WordMap<u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        let mut map = WordMap::new();
        for (span, value) in ranges {
            map.store(span, value).unwrap_or_else(|_| no_memory());
        }
        map
    }

    #[inline(never)]
    fn sum_both(one: &Self, other: &Self::Other) -> u64 {
        sum_both!(&one.map, other; (span, value) => span.first() ^ span.last(), value)
    }
}

impl Second for AnyMapRanges {
    type Other = RangeMap<u32>;

    fn other(ranges: impl Iterator<Item = (Span, u32)>) -> Self::Other {
        let mut map = RangeMap::new();
        for (span, value) in ranges {
            map.store(span, value).unwrap_or_else(|_| no_memory());
        }
        map
    }

    #[inline(never)]
    fn sum_both(one: &Self, other: &Self::Other) -> u64 {
        sum_both!(&one.map, other; (span, value) => span.first() ^ span.last(), *value)
    }
}
