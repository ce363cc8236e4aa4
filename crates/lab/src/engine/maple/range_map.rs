//! Our maps as plain maps of ranges: [`WordMap`], and [`RangeMap`] of any value. Where memory ends, they end as the standard
//! library's collections do.

use freehold::maple::{RangeMap, Request, WordMap};
use freehold::units::{Align, Span};
use freehold_trace::maple::{End, Ranges};
use std::alloc::{Layout, handle_alloc_error};
use std::convert::identity;

/// A map of numbers as a plain map of ranges. `$number` makes a number of what its look-ups give.
macro_rules! plain_map {
    ($(#[$about:meta])* $name:ident, $map:ty, $number:expr) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        pub struct $name {
            /// The map.
            pub map: $map,
        }

        impl Ranges for $name {
            const GAP_IS_LINEAR: bool = false;

            fn new() -> Self {
                Self::default()
            }

            #[inline]
            fn store(&mut self, span: Span, value: u64) {
                if self.map.store(span, value).is_err() {
                    no_memory();
                }
            }

            #[inline]
            fn clear(&mut self, span: Span) {
                if self.map.remove_range(span).is_err() {
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
                self.map.try_clone().map_or_else(|_| no_memory(), |map| Self { map })
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

plain_map! {
    /// A [`WordMap`] of numbers.
    WordMapRanges, WordMap<u64>, identity
}

plain_map! {
    /// A [`RangeMap`] of numbers, which it keeps beside the tree as it does any value.
    AnyMapRanges, RangeMap<u64>, u64::clone
}

/// There was none for another node.
#[cold]
pub(crate) fn no_memory() -> ! {
    handle_alloc_error(Layout::new::<[u64; 32]>())
}
