//! Queries over all entries of a leaf at once: one branch-free pass over the lanes.
//!
//! The compiler vectorizes these loops. So a condition is a mask, not a jump: `i32::from(equal).wrapping_neg() & code`
//! becomes a comparison and an "and", where `if equal { code } else { 0 }` becomes 32 branches. The best entry and its
//! slot come from one minimum over `address << 5 | slot`.

use super::granule_request::GranuleRequest;
use super::leaf::{BASE_ALIGN, BEYOND, Leaf, REACH, WIDTH};
use crate::bplus::{LeafNode, usable_gap};

/// Bits of the slot number in a key, below the address.
pub(super) const SLOT_BITS: u32 = WIDTH.trailing_zeros();

/// Added to a slot's number it is the slot's code, where 0 stands for no slot. With 1, the compiler compares the first
/// slot and the last three by themselves: 16 instructions more.
const CODE: i32 = 3;

/// The key of a slot where nothing fits.
const NONE: i32 = i32::MAX;

// The key of every place that a pass examines, fit or not, is nonnegative.
const _: () = assert!((REACH as i64 + BASE_ALIGN as i64 + 1) << SLOT_BITS < NONE as i64);

impl<V> LeafNode for Leaf<V> {
    /// Granules of the largest gap, where each gap counts from its first multiple of the alignment.
    fn largest_usable_gap(&self, mask: u64) -> u64 {
        let beyond = self.tail().map_or(0, |tail| usable_gap(self.end(tail) as u64, self.gap(tail), mask));
        if mask >= BASE_ALIGN as u64 || self.is_far() {
            let gaps = (0..self.len()).map(|slot| usable_gap(self.end(slot) as u64, self.gap(slot), mask));
            return gaps.fold(beyond, u64::max);
        }
        let (mask, mut most) = (mask as i32, 0);
        for slot in 0..WIDTH {
            most = most.max(self.next[slot] - ((self.end[slot] + mask) & !mask));
        }
        (most as u64).max(beyond)
    }
}

impl<V> Leaf<V> {
    /// The slots of the region that starts at `lane` and of the entry whose gap ends there, if they are in this leaf.
    #[inline]
    pub(super) fn region_and_before(&self, lane: i32) -> (Option<usize>, Option<usize>) {
        let (mut region, mut before) = (0i32, 0i32);
        for slot in 0..WIDTH {
            let code = slot as i32 + CODE;
            region |= i32::from(self.start[slot] == lane).wrapping_neg() & code;
            before |= i32::from(self.next[slot] == lane).wrapping_neg() & code;
        }
        (slot_in(region), slot_in(before))
    }

    /// The region whose addresses or guard contain `granule`: its slot and its [`Leaf::bounds`].
    #[inline(always)] // see `AddressSpace::region_at`
    pub(super) fn region_at(&self, granule: u64) -> Option<(usize, (u64, u64))> {
        if !self.is_far()
            && let Some(lane) = self.lane_of(granule)
        {
            let slot = self.slot_at(lane)?;
            // Not the tail, whose end is kept beside the lanes.
            if self.end[slot] != BEYOND {
                return Some((slot, self.bounds_of_lanes(slot)));
            }
        }
        self.region_beside_lanes(granule)
    }

    /// The slot of the region that contains a lane.
    #[inline(always)] // a part of `region_at` alone, and of its figure: 159 instructions, 50 more with calls within
    fn slot_at(&self, lane: i32) -> Option<usize> {
        let mut found = 0;
        for slot in 0..WIDTH {
            // Regions do not overlap, so at most one slot is found.
            let (above, below) = (i32::from(self.start[slot] > lane), i32::from(self.end[slot] > lane));
            found |= !above.wrapping_neg() & below.wrapping_neg() & (slot as i32 + CODE);
        }
        // The remainder is the slot itself; the compiler then checks no bound of a lane.
        Some(slot_in(found)? % WIDTH)
    }

    /// The number of regions that start at one of the granules `first..=last`.
    pub(super) fn regions_within(&self, first: u64, last: u64) -> usize {
        if self.is_far() {
            let starts_there =
                |&slot: &usize| self.is_region(slot) && (first..=last).contains(&self.start(slot));
            return (0..self.len()).filter(starts_there).count();
        }
        self.lanes_within(first, last)
            .map_or(0, |(low, high)| self.starts_within(low, high).count_ones() as usize)
    }

    /// The slots of the regions that start at one of the lanes `low..=high`, a bit for each.
    #[inline]
    pub(super) fn starts_within(&self, low: i32, high: i32) -> u32 {
        let mut found = 0;
        for (slot, &start) in self.start.iter().enumerate() {
            let (below, above) = (i32::from(start < low), i32::from(start > high));
            found |= !(below | above).wrapping_neg() & (1 << slot);
        }
        found as u32
    }

    /// The lanes of the granules `first..=last`; `None` in a far leaf, and for granules below the leaf. The starts of
    /// markers and vacant slots lie above all lanes.
    #[inline]
    pub(super) fn lanes_within(&self, first: u64, last: u64) -> Option<(i32, i32)> {
        let is_here = !self.is_far() && last >= self.base;
        is_here.then(|| (self.clamped(first), self.clamped(last)))
    }

    /// The entry with the highest gap that starts at or below `granule`, which may be empty.
    pub(super) fn gap_at_or_below(&self, granule: u64) -> Option<usize> {
        if self.is_far() {
            return self.far_gap_at_or_below(granule);
        }
        if let Some(tail) = self.tail().filter(|&tail| self.end(tail) <= u128::from(granule)) {
            return Some(tail);
        }
        let lane = self.clamped(granule);
        let mut best = -1;
        for slot in 0..WIDTH {
            let end = self.end[slot];
            best = best.max(if end <= lane { end << SLOT_BITS | slot as i32 } else { -1 });
        }
        slot_of(best)
    }

    /// The lowest place for a request in this leaf: the entry before it, and its first granule.
    #[inline]
    pub(super) fn lowest(&self, wanted: &GranuleRequest) -> Option<(usize, u64)> {
        let Some((size, mask)) = wanted.lanes().filter(|_| !self.is_far()) else {
            let places = (0..self.len()).filter_map(|slot| self.lowest_behind(slot, wanted));
            return places.min_by_key(|&(_, start)| start);
        };
        let best = match self.clamped(wanted.first) {
            // The common case: the window starts before the leaf.
            0 => self.lowest_key(size, mask, |end| end),
            first => self.lowest_key(size, mask, |end| end.max(first)),
        };
        if best == NONE {
            return self.lowest_behind(self.tail()?, wanted);
        }
        Some((best as usize % WIDTH, self.base + (best >> SLOT_BITS) as u64))
    }

    /// The lowest place and its slot as a key, or [`NONE`]. `start` maps a gap's start to the start of its part inside
    /// the window.
    #[inline]
    fn lowest_key(&self, size: i32, mask: i32, start: impl Fn(i32) -> i32) -> i32 {
        let mut best = NONE;
        for slot in 0..WIDTH {
            let place = (start(self.end[slot]) + mask) & !mask;
            let too_small = i32::from(self.next[slot] - place < size).wrapping_neg();
            best = best.min(place << SLOT_BITS | slot as i32 | (too_small as u32 >> 1) as i32);
        }
        best
    }

    /// The highest place for a request in this leaf: the entry before it, and its first granule.
    #[inline]
    pub(super) fn highest(&self, wanted: &GranuleRequest) -> Option<(usize, u64)> {
        let Some((size, mask)) = wanted.lanes().filter(|_| !self.is_far()) else {
            let places = (0..self.len()).filter_map(|slot| self.highest_behind(slot, wanted));
            return places.max_by_key(|&(_, start)| start);
        };
        if let Some(found) = self.tail().and_then(|tail| self.highest_behind(tail, wanted)) {
            return Some(found);
        }
        let window_end = if wanted.last < self.base { 0 } else { self.clamped(wanted.last) + 1 };
        let mut best = -1;
        for slot in 0..WIDTH {
            let place = (self.next[slot].min(window_end) - size) & !mask;
            best = best.max(if place >= self.end[slot] { place << SLOT_BITS | slot as i32 } else { -1 });
        }
        let slot = slot_of(best)?;
        let place = self.base + (best >> SLOT_BITS) as u64;
        (place >= wanted.first).then_some((slot, place))
    }

    /// The lowest place in the gap after one entry. Exact for every size and alignment.
    pub(super) fn lowest_behind(&self, slot: usize, wanted: &GranuleRequest) -> Option<(usize, u64)> {
        let mask = u128::from(wanted.mask);
        let place = (self.end(slot).max(wanted.first.into()) + mask) & !mask;
        let fits = place + u128::from(wanted.size) <= self.next(slot);
        // The gap ends at or below 2^64, so a place in it is below 2^64.
        fits.then_some((slot, place as u64))
    }

    /// The highest place in the gap after one entry. Exact for every size and alignment.
    pub(super) fn highest_behind(&self, slot: usize, wanted: &GranuleRequest) -> Option<(usize, u64)> {
        let end = self.next(slot).min(u128::from(wanted.last) + 1);
        let place = end.checked_sub(wanted.size.into())? & !u128::from(wanted.mask);
        let fits = place >= self.end(slot) && place >= wanted.first.into();
        fits.then_some((slot, place as u64))
    }

    /// An address as a lane, clamped to the values that a lane can hold.
    #[inline]
    pub(super) fn clamped(&self, granule: u64) -> i32 {
        granule.saturating_sub(self.base).min(REACH as u64) as i32
    }
}

/// The slot of a code.
#[inline]
fn slot_in(code: i32) -> Option<usize> {
    (code as usize).checked_sub(CODE as usize)
}

/// The slot in a key that is a maximum.
#[inline]
fn slot_of(key: i32) -> Option<usize> {
    (key >= 0).then_some(key as usize % WIDTH)
}
