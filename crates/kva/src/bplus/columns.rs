//! What stands beside the keys of a leaf: arrays of the same length, changed together with them.

use core::fmt::Debug;
use freehold_units::Probe;

/// What entries are ordered by.
pub(crate) trait Key: Copy + Ord + Default + Debug {
    const MAX: Self;

    /// The highest key below this one, which is not the lowest.
    fn before(self) -> Self;

    /// Where an invariant fails, for people.
    fn address(self) -> u64;
}

impl Key for u64 {
    const MAX: Self = Self::MAX;

    fn before(self) -> Self {
        self.wrapping_sub(1)
    }

    fn address(self) -> u64 {
        self
    }
}

/// Two words, of which the lower is an address.
impl Key for u128 {
    const MAX: Self = Self::MAX;

    fn before(self) -> Self {
        self.wrapping_sub(1)
    }

    fn address(self) -> u64 {
        self as u64
    }
}

/// The data columns of a leaf. `len` is always the number of entries before the change.
pub(crate) trait Columns: Sized {
    /// What entries are ordered by.
    type Key: Key;
    /// One entry's data.
    type Item;

    /// Columns without entries.
    fn empty() -> Self;

    fn insert(&mut self, len: usize, at: usize, item: Self::Item);

    fn remove(&mut self, len: usize, at: usize) -> Self::Item;

    /// Counts the memory of the entries from `at` on.
    fn touch_from(&self, at: usize, probe: &mut impl Probe) {
        let _ = (at, probe);
    }

    /// Moves the entries from `keep` on to the start of `right`, which has `right_len`.
    fn move_tail(&mut self, len: usize, keep: usize, right: &mut Self, right_len: usize);

    /// Moves the first `count` entries of `right`, which has `right_len`, to the end.
    fn move_head(&mut self, len: usize, count: usize, right: &mut Self, right_len: usize);
}

/// Changing an array of which the first `len` items count.
pub(crate) mod array {
    /// The last few items are moved as so many, some of them perhaps behind the last: that needs no loop and no call.
    const FEW: usize = 4;

    /// Opens a gap at `at` and fills it.
    #[inline]
    pub(crate) fn insert<T: Copy>(items: &mut [T], len: usize, at: usize, item: T) {
        match items.get_mut(at..=at + FEW) {
            Some(few) if len <= at + FEW => few.copy_within(..FEW, 1),
            _ => items.copy_within(at..len, at + 1),
        }
        items[at] = item;
    }

    /// Closes the gap that the item at `at` leaves; the item.
    #[inline]
    pub(crate) fn remove<T: Copy>(items: &mut [T], len: usize, at: usize) -> T {
        let item = items[at];
        match items.get_mut(at..=at + FEW) {
            Some(few) if len <= at + FEW => few.copy_within(1.., 0),
            _ => items.copy_within(at + 1..len, at),
        }
        item
    }

    /// Moves the items from `keep` on before the first `right_len` of `right`.
    pub(crate) fn move_tail<T: Copy>(
        items: &[T],
        len: usize,
        keep: usize,
        right: &mut [T],
        right_len: usize,
    ) {
        let tail = &items[keep..len];
        right.copy_within(..right_len, tail.len());
        right[..tail.len()].copy_from_slice(tail);
    }

    /// Moves the first `count` of the `right_len` items of `right` behind the first `len`.
    pub(crate) fn move_head<T: Copy>(
        items: &mut [T],
        len: usize,
        count: usize,
        right: &mut [T],
        right_len: usize,
    ) {
        items[len..len + count].copy_from_slice(&right[..count]);
        right.copy_within(count..right_len, 0);
    }
}
