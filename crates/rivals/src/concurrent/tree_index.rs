//! `scc::TreeIndex`: a B+tree whose readers take no lock.

use super::{Entry, LookUp, Reader, SharedRanges, within};
use scc::{Guard, TreeIndex};

/// A `scc::TreeIndex`; indexes are those where ranges start if `EXACT`, which needs no search for a range.
#[derive(Debug, Default)]
pub struct TreeIndexMap<const EXACT: bool>(TreeIndex<u64, Entry>);

impl<const EXACT: bool> TreeIndexMap<EXACT> {
    #[inline]
    fn at(&self, index: u64, guard: &Guard) -> Option<u64> {
        if EXACT {
            return self.0.peek(&index, guard).map(|&(_, value)| value);
        }
        self.0.range(..=index, guard).next_back().and_then(|(_, &entry)| within(index, entry))
    }
}

impl<const EXACT: bool> SharedRanges for TreeIndexMap<EXACT> {
    type Reader<'a> = &'a Self;

    fn reader(&self) -> &Self {
        self
    }

    fn store(&self, first: u64, last: u64, value: u64) -> bool {
        self.0.upsert_sync(first, (last, value));
        true
    }

    fn erase(&self, first: u64) -> bool {
        self.0.remove_sync(&first);
        true
    }
}

impl<const EXACT: bool> Reader for &TreeIndexMap<EXACT> {
    type Held<'r>
        = HeldIndex<'r, EXACT>
    where
        Self: 'r;

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        self.at(index, &Guard::new())
    }

    fn hold(&self) -> Option<Self::Held<'_>> {
        Some(HeldIndex { map: self, guard: Guard::new() })
    }
}

/// The index, and a guard that is held.
#[derive(Debug)]
pub struct HeldIndex<'r, const EXACT: bool> {
    map: &'r TreeIndexMap<EXACT>,
    guard: Guard,
}

impl<const EXACT: bool> LookUp for HeldIndex<'_, EXACT> {
    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        self.map.at(index, &self.guard)
    }
}
