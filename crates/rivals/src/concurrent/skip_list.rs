//! `crossbeam-skiplist`: a skip list without locks.

use super::{Entry, NoGuard, Reader, SharedRanges, within};
use crossbeam_skiplist::SkipMap;
use std::ops::Bound;

/// A `SkipMap`; indexes are those where ranges start if `EXACT`.
#[derive(Debug, Default)]
pub struct SkipListMap<const EXACT: bool>(SkipMap<u64, Entry>);

impl<const EXACT: bool> SharedRanges for SkipListMap<EXACT> {
    type Reader<'a> = &'a Self;

    fn reader(&self) -> &Self {
        self
    }

    fn store(&self, first: u64, last: u64, value: u64) -> bool {
        self.0.insert(first, (last, value));
        true
    }

    fn erase(&self, first: u64) -> bool {
        drop(self.0.remove(&first));
        true
    }
}

impl<const EXACT: bool> Reader for &SkipListMap<EXACT> {
    type Held<'r>
        = NoGuard
    where
        Self: 'r;

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        if EXACT {
            return self.0.get(&index).map(|entry| entry.value().1);
        }
        self.0.upper_bound(Bound::Included(&index)).and_then(|entry| within(index, *entry.value()))
    }

    fn hold(&self) -> Option<NoGuard> {
        None
    }
}
