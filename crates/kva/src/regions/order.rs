//! The entries of a leaf in address order, for iteration: leaves are not ordered.

use super::lanes::SLOT_BITS;
use super::leaf::{Leaf, MARKER, WIDTH};

impl<V> Leaf<V> {
    /// The slots of the entries that have a granule in `first..=last`, in address order, and their number. A marker has
    /// the granule at which it lies.
    pub(super) fn in_order(&self, first: u64, last: u64) -> ([u8; WIDTH], usize) {
        if self.is_far() || last < self.base {
            return self.far_in_order(first, last);
        }
        let mut found = self.lanes_over(self.clamped(first), self.clamped(last));
        if let Some(tail) = self.tail().filter(|&tail| self.is_passed(tail, first)) {
            // Its lane does not say where it ends.
            found &= !(1 << tail);
        }
        let (mut keys, mut count) = ([0; WIDTH], 0);
        while found != 0 {
            let slot = found.trailing_zeros();
            found &= found - 1;
            // Ends ascend as starts do, and a marker ends before a region at the same address.
            keys[count % WIDTH] = self.end[slot as usize] << SLOT_BITS | slot as i32;
            count += 1;
        }
        keys[..count].sort_unstable();
        (keys.map(|key| (key as usize % WIDTH) as u8), count)
    }

    /// The slots of all entries in address order; only the first `len` are valid.
    pub(super) fn all_in_order(&self) -> [u8; WIDTH] {
        self.in_order(0, u64::MAX).0
    }

    /// The slots of the entries that have one of the lanes `low..=high`, a bit for each.
    #[inline]
    fn lanes_over(&self, low: i32, high: i32) -> u32 {
        let mut found = 0;
        for slot in 0..WIDTH {
            // A vacant slot starts above all lanes.
            let (start, end) = (self.start[slot] & !MARKER, self.end[slot]);
            let (below, above) = (i32::from(start < low) & i32::from(end <= low), i32::from(start > high));
            found |= !(below | above).wrapping_neg() & (1 << slot);
        }
        found as u32
    }

    /// Whether an entry ends before a granule. A marker does if it lies before.
    fn is_passed(&self, slot: usize, granule: u64) -> bool {
        self.start(slot) < granule && self.end(slot) <= granule.into()
    }

    /// [`Leaf::in_order`] of a far leaf.
    #[cold]
    fn far_in_order(&self, first: u64, last: u64) -> ([u8; WIDTH], usize) {
        let (mut order, mut count) = ([0; WIDTH], 0);
        for slot in 0..self.len() {
            if !self.is_passed(slot, first) && self.start(slot) <= last {
                order[count] = slot as u8;
                count += 1;
            }
        }
        order[..count].sort_unstable_by_key(|&slot| self.end(slot.into()));
        (order, count)
    }
}
