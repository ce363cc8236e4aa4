//! Who is asked which range an index is in, and what its value is: spaces, maps of one owner, maps that threads share.

use crate::concurrent::Who;
use freehold::kva::{AddressSpace, Placement as B, SharedSpace};
use freehold::maple::{MapleTree, RangeMap, WordMap};
use freehold::units::{Align, Span};
use freehold_rivals::concurrent::{RwLockMap, SharedRanges};
use freehold_rivals::maple::{BTreeMapRanges, RangemapRanges};
use freehold_trace::maple::Ranges;
use std::sync::Arc;

/// First index, last index and value of a range.
pub type Found = (u64, u64, u64);

/// A map that is filled once, then asked.
trait LookUp: Sync + Sized + 'static {
    /// An empty one, for ranges within these indexes.
    fn empty(within: Span) -> Option<Self>;

    /// Stores into a range that is free; whether it was done.
    fn put(&mut self, span: Span, value: u64) -> bool;

    /// The range that an index is in, under a guard of its own where there are guards.
    fn holding(&self, index: u64) -> Option<Found>;
}

/// The same whose kind is forgotten: one virtual call for many look-ups.
pub trait Subject: Sync {
    /// Stores into ranges that are free; whether all were.
    fn fill(&mut self, ranges: &[(Span, u64)]) -> bool;

    /// The range that an index is in.
    fn find(&self, index: u64) -> Option<Found>;

    /// Looks up these indexes; [`sum`] of what is found.
    fn sum(&self, indexes: &[u64]) -> u64;
}

/// A sum over ranges and values that were found, in any order.
#[inline]
pub fn sum(found: impl Iterator<Item = Option<Found>>) -> u64 {
    let word = |found: Option<Found>| found.map_or(u64::MAX, |(first, last, value)| first ^ last ^ value);
    found.fold(0, |sum, found| sum.wrapping_add(word(found)))
}

impl<T: LookUp> Subject for T {
    fn fill(&mut self, ranges: &[(Span, u64)]) -> bool {
        ranges.iter().all(|&(span, value)| self.put(span, value))
    }

    fn find(&self, index: u64) -> Option<Found> {
        self.holding(index)
    }

    fn sum(&self, indexes: &[u64]) -> u64 {
        sum(indexes.iter().map(|&index| self.holding(index)))
    }
}

/// What looks ranges up: how it is made, filled and asked.
macro_rules! look_ups {
    ($($map:ty: |$within:pat_param| $make:expr, |$filled:ident, $span:ident, $value:ident| $put:expr,
        |$asked:ident, $index:ident| $holding:expr;)*) => {$(
        impl LookUp for $map {
            fn empty($within: Span) -> Option<Self> {
                $make
            }

            fn put(&mut self, $span: Span, $value: u64) -> bool {
                let $filled = self;
                $put
            }

            #[inline(always)] // so that a call is added to none: 165 instructions among 256 regions, 197 with it
            fn holding(&self, $index: u64) -> Option<Found> {
                let $asked = self;
                $holding
            }
        }
    )*};
}

look_ups! {
    AddressSpace<u64>: |within| Self::new(within, Align::ONE, B::Lowest).ok(),
        |space, span, value| space.alloc_at(span, value).is_ok(),
        |space, index| space.region_at(index).map(|region| found(region.span(), *region.value()));
    SharedSpace<u64>: |within| Self::new(within, Align::ONE, B::Lowest).ok(),
        |space, span, value| space.alloc_at(span, Arc::new(value)).is_ok(),
        |space, index| space.read().entry_at(index).map(|(span, value)| found(span, *value));
    WordMap<u64>: |_| Some(Self::new()),
        |map, span, value| map.insert(span, value).is_ok(),
        |map, index| map.entry_at(index).map(|(span, value)| found(span, value));
    RangeMap<u64>: |_| Some(Self::new()),
        |map, span, value| map.insert(span, value).is_ok(),
        |map, index| map.entry_at(index).map(|(span, &value)| found(span, value));
    MapleTree<u64>: |_| Some(Self::new()),
        |map, span, value| map.store(span, value).is_ok(),
        |map, index| map.read().entry_at(index).map(|(span, value)| found(span, value));
    BTreeMapRanges<u64>: |_| Some(Self::new()),
        |map, span, value| Ranges::insert(map, span, value),
        |map, index| map.holding(index);
    RangemapRanges: |_| Some(Self::new()),
        |map, span, value| map.insert(span, value),
        |map, index| map.holding(index);
    RwLockMap: |_| Some(Self::default()),
        |map, span, value| SharedRanges::store(map, span.first(), span.last(), value),
        |map, index| map.holding(index);
}

#[inline]
fn found(span: Span, value: u64) -> Found {
    (span.first(), span.last(), value)
}

/// A map, and what makes an empty one for ranges within some indexes.
pub type Entry = (Who, fn(Span) -> Option<Box<dyn Subject>>);

fn boxed<T: LookUp>(within: Span) -> Option<Box<dyn Subject>> {
    Some(Box::new(T::empty(within)?))
}

const STD: Entry = (Who::other("std-btreemap"), boxed::<BTreeMapRanges<u64>>);
const RANGEMAP: Entry = (Who::other("rangemap"), boxed::<RangemapRanges>);
const TREE: Who = Who::default("maple-tree");

/// Those of `bench kva`: the region that an address is in.
pub const KVA: &[Entry] =
    &[(Who::default("btree").variant("lowest"), boxed::<AddressSpace<u64>>), STD, RANGEMAP];

/// Those of `bench maple`. The shared map has a guard for each look-up.
pub const MAPLE: &[Entry] = &[
    (Who::default("range-map"), boxed::<WordMap<u64>>),
    (Who::ours("range-map-any"), boxed::<RangeMap<u64>>),
    (Who::ours("maple-tree"), boxed::<MapleTree<u64>>),
    STD,
    RANGEMAP,
];

/// Those of `bench readers`, those of one owner for ratios.
pub const READERS: &[Entry] = &[
    (TREE, boxed::<MapleTree<u64>>),
    (Who::ours("shared-space"), boxed::<SharedSpace<u64>>),
    (Who::other("rwlock-btreemap"), boxed::<RwLockMap>),
    (Who::ours("range-map"), boxed::<WordMap<u64>>),
    STD,
    RANGEMAP,
];
