//! Far leaves, whose regions lie far apart: lanes hold the low halves of addresses, and a separate array the high
//! halves.
//!
//! Lanes reach 2^25 granules. If regions lie farther apart than that, an ordinary leaf holds only one. So a leaf with
//! few entries becomes far when it must take an entry out of reach, and then holds as many as any leaf. A far leaf is
//! searched entry by entry, which takes longer. So a leaf becomes far only when it must; regions close together go to a
//! near leaf if there is one beside, and have one of their own once they are half of a full far leaf.
//! While a space has few leaves, a far leaf counts as full with few entries, so that look-ups seldom meet one.
//!
//! The memory for the high halves is not reserved in advance. If it is refused, the entry gets a leaf of its own.

use super::{Entry, Leaf, REACH, RegionAttrs, WIDTH};
use alloc::boxed::Box;
use freehold_units::pool::boxed;

/// A leaf with this many entries or more does not become far.
pub(in crate::regions) const MANY: usize = WIDTH / 4;

/// The high halves of starts, ends, and ends of gaps.
pub(in crate::regions) type High = Box<[[u32; WIDTH]; 3]>;

/// Allocates the high halves of a leaf; `None` if there is no memory.
pub(in crate::regions) fn high_halves() -> Option<High> {
    boxed([[0; WIDTH]; 3]).ok()
}

/// An address of its two halves.
#[inline]
fn whole(high: u32, low: i32) -> u64 {
    u64::from(high) << 32 | u64::from(low as u32)
}

impl<V> Leaf<V> {
    #[inline]
    pub(in crate::regions) fn is_far(&self) -> bool {
        self.high.is_some()
    }

    /// Whether lanes reach from an entry that starts at `first` to one that starts at `last`.
    pub(in crate::regions) fn is_near(first: u64, last: u64) -> bool {
        last - Self::base_for(first) < REACH as u64
    }

    /// Makes the leaf far if it has a region, few entries, and there is memory. Returns whether it did.
    #[cold]
    pub(in crate::regions) fn make_far(&mut self) -> bool {
        let few = (1..MANY).contains(&self.len()) && (0..self.len()).any(|slot| self.is_region(slot));
        let high = if few && !self.is_far() { high_halves() } else { None };
        let is_made = high.is_some();
        if is_made {
            self.refill(high);
        }
        is_made
    }

    /// Rebuilds the leaf with its entries and other high halves.
    pub(in crate::regions) fn refill(&mut self, high: Option<High>) {
        let empty = Self::starting_at(self.low(), high);
        let mut whole = core::mem::replace(self, empty);
        (0..whole.len()).for_each(|slot| whole.move_to(slot, self));
    }

    /// The full address of a low half. `of` selects starts, ends, or ends of gaps.
    #[inline]
    pub(in crate::regions) fn far_whole(&self, half: i32, of: usize, slot: usize) -> u64 {
        let high = self.high.as_ref().expect("K8: a far leaf has high halves");
        whole(high[of][slot], half)
    }

    /// Whether the last entry can move to the next leaf, to make way for an entry that starts at `new`. Only far leaves
    /// do this: they are large, so they are kept fuller than others. A marker and the region at its address stay
    /// together.
    pub(in crate::regions) fn gives_last_for(&self, new: u64) -> bool {
        self.is_far() && self.far_gives_last_for(new)
    }

    #[cold]
    fn far_gives_last_for(&self, new: u64) -> bool {
        let start = self.start(self.far_last());
        new < start && (0..self.len()).filter(|&slot| self.start(slot) == start).count() == 1
    }

    /// Removes an entry from a near or far leaf, as [`Leaf::remove_near`] does.
    pub(in crate::regions) fn remove(&mut self, slot: usize) -> (RegionAttrs, Option<V>) {
        let last = self.len() - 1;
        for halves in self.high.iter_mut().flat_map(|high| high.iter_mut()) {
            halves[slot] = halves[last];
        }
        self.remove_near(slot)
    }

    /// Replaces the last entry by another.
    pub(in crate::regions) fn swap_last(&mut self, new: Entry<V>) -> Entry<V> {
        let slot = self.last();
        let last = self.take(slot);
        self.remove(slot);
        self.push(new);
        last
    }

    #[cold]
    pub(in crate::regions) fn far_last(&self) -> usize {
        (0..self.len()).max_by_key(|&slot| self.end(slot)).expect("K8: a leaf in use has an entry")
    }

    #[cold]
    pub(in crate::regions) fn far_low(&self) -> u64 {
        (0..self.len()).map(|slot| self.start(slot)).min().expect("K8: a leaf in use has an entry")
    }

    /// [`Leaf::region_at`] where the lanes do not tell: in a far leaf, and at or above the tail.
    #[cold]
    pub(in crate::regions) fn region_beside_lanes(&self, granule: u64) -> Option<(usize, (u64, u64))> {
        let slot = match self.tail().filter(|&tail| self.start(tail) <= granule) {
            Some(tail) => Some(tail).filter(|&tail| u128::from(granule) < self.end(tail)),
            None => self.high.as_deref().and_then(|high| self.far_slot_at(high, granule)),
        };
        slot.map(|slot| (slot, self.bounds(slot)))
    }

    /// The slot in a far leaf of the region that contains a granule below the tail.
    fn far_slot_at(&self, [starts, ends, _]: &[[u32; WIDTH]; 3], granule: u64) -> Option<usize> {
        let starts = starts.iter().zip(&self.start).map(|(&high, &low)| whole(high, low));
        let ends = ends.iter().zip(&self.end).map(|(&high, &low)| whole(high, low));
        starts.zip(ends).take(self.len()).position(|(start, end)| start <= granule && granule < end)
    }

    #[cold]
    pub(in crate::regions) fn far_gap_at_or_below(&self, granule: u64) -> Option<usize> {
        let known = (0..self.len()).filter(|&slot| self.end(slot) <= granule.into());
        known.max_by_key(|&slot| self.end(slot))
    }

    #[cold]
    pub(in crate::regions) fn far_region_and_before(&self, granule: u64) -> (Option<usize>, Option<usize>) {
        let region = (0..self.len()).find(|&slot| self.is_region(slot) && self.start(slot) == granule);
        (region, (0..self.len()).find(|&slot| self.next(slot) == granule.into()))
    }
}
