//! Maps of ranges that threads share, and guards of readers, which a program might use instead.
//!
//! Ranges are kept by their first index, with the last one and the value behind it; each map is asked in the way that its
//! documentation shows. Stores replace a whole range or fill a gap: none of these maps cuts ranges.

mod guards;
mod left_right;
mod optimistic;
mod rwlock;
mod skip_list;
mod tree_index;

pub use guards::{Epoch, EpochHandle, Guards, RwLocked, Seize};
pub use left_right::LeftRightMap;
pub use optimistic::Optimistic;
pub use rwlock::RwLockMap;
pub use skip_list::SkipListMap;
pub use tree_index::TreeIndexMap;

use std::collections::BTreeMap;

/// A map of ranges that threads share.
pub trait SharedRanges: Send + Sync {
    /// What a thread reads through, made once.
    type Reader<'a>: Reader
    where
        Self: 'a;

    /// What this thread reads through.
    fn reader(&self) -> Self::Reader<'_>;

    /// Stores a value over a range that is there, or that is free as a whole; whether it was not refused.
    fn store(&self, first: u64, last: u64, value: u64) -> bool;

    /// Removes the range that starts there; whether it was not refused.
    fn erase(&self, first: u64) -> bool;
}

/// Reads on one thread.
pub trait Reader {
    /// What looks up while a guard is held.
    type Held<'r>: LookUp
    where
        Self: 'r;

    /// The value at an index, under a guard of its own.
    fn get(&self, index: u64) -> Option<u64>;

    /// A guard that is held; `None` if callers cannot hold one.
    fn hold(&self) -> Option<Self::Held<'_>>;
}

/// Looks up under a guard that is held.
pub trait LookUp {
    /// The value at an index.
    fn get(&self, index: u64) -> Option<u64>;
}

/// Of maps without a guard that callers hold.
#[derive(Clone, Copy, Debug)]
pub enum NoGuard {}

impl LookUp for NoGuard {
    fn get(&self, _: u64) -> Option<u64> {
        match *self {}
    }
}

/// The last index of a range, and its value.
type Entry = (u64, u64);

/// The value at an index of a tree.
#[inline]
fn at(tree: &BTreeMap<u64, Entry>, index: u64) -> Option<u64> {
    tree.range(..=index).next_back().and_then(|(_, &entry)| within(index, entry))
}

/// The value of an entry, if the index is not behind it.
fn within(index: u64, (last, value): Entry) -> Option<u64> {
    (index <= last).then_some(value)
}

#[cfg(test)]
mod tests;
