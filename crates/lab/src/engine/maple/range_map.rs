//! Our maps as plain maps of ranges: [`WordMap`], and [`RangeMap`] of any value. Where memory ends, they end as the standard
//! library's collections do.

use super::{Ask, Direct};
use freehold::maple::{RangeMap, Request, WordMap};
use freehold::units::{Align, Span};
use freehold_trace::maple::{End, Ranges};
use std::alloc::{Layout, handle_alloc_error};
use std::convert::identity;

/// What has a map of numbers, with `put`, `take` and `of` of its own, as a plain map of ranges. `$number` makes a number of what
/// the map's look-ups give.
macro_rules! plain_map {
    ($name:ty $(, $ask:ident)?; $number:expr) => {
        impl$(<$ask: Ask>)? Ranges for $name {
            const GAP_IS_LINEAR: bool = false;

            fn new() -> Self {
                Self::default()
            }

            #[inline]
            fn store(&mut self, span: Span, value: u64) {
                if !self.put(span, value) {
                    no_memory();
                }
            }

            #[inline]
            fn clear(&mut self, span: Span) {
                if !self.take(span) {
                    no_memory();
                }
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
                self.map.get(index).map($number)
            }

            #[inline]
            fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
                self.map.iter().map(|(span, value)| (span.first(), span.last(), $number(value)))
            }

            fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
                let request = Request::new(size).align(align).window(window);
                match end {
                    End::Lowest => self.map.lowest_gap(&request),
                    End::Highest => self.map.highest_gap(&request),
                }
                .ok()
            }

            fn duplicate(&self) -> Self {
                self.map.try_clone().map_or_else(|_| no_memory(), Self::of)
            }

            fn bytes(&self) -> usize {
                self.map.bytes()
            }

            fn validate(&self) -> Result<(), String> {
                self.map.validate().map_err(|broken| broken.to_string())
            }
        }
    };
}

plain_map! { WordMapRanges<A>, A; identity }
plain_map! { AnyMapRanges; u64::clone }

/// A [`WordMap`] of numbers, and what is done about plans of its stores.
#[derive(Debug, Default)]
pub struct WordMapRanges<A: Ask = Direct> {
    /// The map.
    pub map: WordMap<u64>,
    pub(super) ask: A,
}

impl<A: Ask> WordMapRanges<A> {
    fn of(map: WordMap<u64>) -> Self {
        Self { map, ask: A::default() }
    }

    #[inline]
    fn put(&mut self, span: Span, value: u64) -> bool {
        self.ask.stored(span, Some(value));
        if !A::PLANS {
            return self.map.store(span, value).is_ok();
        }
        let Ok(plan) = self.map.plan_store(span) else { return false };
        self.ask.planned(&plan.facts());
        plan.commit(value);
        self.ask.committed();
        true
    }

    #[inline]
    fn take(&mut self, span: Span) -> bool {
        self.ask.stored(span, None);
        if !A::PLANS {
            return self.map.remove_range(span).is_ok();
        }
        let Ok(plan) = self.map.plan_removal(span) else { return false };
        self.ask.planned(&plan.facts());
        plan.commit();
        self.ask.committed();
        true
    }
}

/// A [`RangeMap`] of numbers, which it keeps beside the tree as it does any value.
#[derive(Debug, Default)]
pub struct AnyMapRanges {
    pub(super) map: RangeMap<u64>,
}

impl AnyMapRanges {
    fn of(map: RangeMap<u64>) -> Self {
        Self { map }
    }

    #[inline]
    fn put(&mut self, span: Span, value: u64) -> bool {
        self.map.store(span, value).is_ok()
    }

    #[inline]
    fn take(&mut self, span: Span) -> bool {
        self.map.remove_range(span).is_ok()
    }
}

/// There was none for another node.
#[cold]
pub(super) fn no_memory() -> ! {
    handle_alloc_error(Layout::new::<[u64; 32]>())
}
