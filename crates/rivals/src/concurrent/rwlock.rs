//! The standard library's tree behind the lock of `parking_lot`.

use super::{Entry, LookUp, Reader, SharedRanges};
use parking_lot::{RwLock, RwLockReadGuard};
use std::collections::BTreeMap;

/// A `BTreeMap` behind a `parking_lot::RwLock`.
#[derive(Debug, Default)]
pub struct RwLockMap(RwLock<BTreeMap<u64, Entry>>);

impl RwLockMap {
    /// The range that holds the index: its first index, its last and its value.
    #[inline]
    #[must_use]
    pub fn holding(&self, index: u64) -> Option<(u64, u64, u64)> {
        let tree = self.0.read();
        let (&first, &(last, value)) = tree.range(..=index).next_back()?;
        (index <= last).then_some((first, last, value))
    }
}

impl SharedRanges for RwLockMap {
    type Reader<'a> = &'a Self;

    fn reader(&self) -> &Self {
        self
    }

    fn store(&self, first: u64, last: u64, value: u64) -> bool {
        self.0.write().insert(first, (last, value));
        true
    }

    fn erase(&self, first: u64) -> bool {
        self.0.write().remove(&first);
        true
    }
}

impl Reader for &RwLockMap {
    type Held<'r>
        = RwLockReadGuard<'r, BTreeMap<u64, Entry>>
    where
        Self: 'r;

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        self.0.read().get(index)
    }

    fn hold(&self) -> Option<Self::Held<'_>> {
        Some(self.0.read())
    }
}

impl LookUp for RwLockReadGuard<'_, BTreeMap<u64, Entry>> {
    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        super::at(self, index)
    }
}
