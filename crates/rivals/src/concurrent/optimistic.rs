//! `ferntree`: a B+tree with optimistic locks on its nodes.

use super::{NoGuard, Reader, SharedRanges};
use ferntree::Tree;

/// Bits of an entry that its value has. Values of two words would each have memory of their own.
const VALUE_BITS: u32 = 48;

/// A `ferntree::Tree`; indexes are those where ranges start if `EXACT`, which is read without a lock. A search for a range holds
/// the lock of a leaf. Values are below 2^48, ranges of up to 2^16 indexes.
#[derive(Default)]
pub struct Optimistic<const EXACT: bool>(Tree<u64, u64>);

impl<const EXACT: bool> std::fmt::Debug for Optimistic<EXACT> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Optimistic").finish_non_exhaustive()
    }
}

impl<const EXACT: bool> SharedRanges for Optimistic<EXACT> {
    type Reader<'a> = &'a Self;

    fn reader(&self) -> &Self {
        self
    }

    fn store(&self, first: u64, last: u64, value: u64) -> bool {
        assert!(value >> VALUE_BITS == 0 && (last - first) >> (64 - VALUE_BITS) == 0, "an entry is one word");
        self.0.insert(first, (last - first) << VALUE_BITS | value);
        true
    }

    fn erase(&self, first: u64) -> bool {
        self.0.remove(&first);
        true
    }
}

impl<const EXACT: bool> Reader for &Optimistic<EXACT> {
    type Held<'r>
        = NoGuard
    where
        Self: 'r;

    #[inline]
    fn get(&self, index: u64) -> Option<u64> {
        let value = |entry: u64| entry & ((1 << VALUE_BITS) - 1);
        if EXACT {
            return self.0.get_optimistic(&index).map(value);
        }
        let mut entries = self.0.raw_iter();
        entries.seek_for_prev(&index);
        let (&first, &entry) = entries.prev()?;
        (index - first <= entry >> VALUE_BITS).then(|| value(entry))
    }

    fn hold(&self) -> Option<NoGuard> {
        None
    }
}
