//! A leaf: up to 32 regions in no order, each with the gap after it.
//!
//! ```text
//!              base                                          leaf after it
//!   addresses   |####..........|######|.......|##|..........|###
//!               ^   ^          ^
//!   slot 4:  start  end       next                  gap = next - end, free
//!
//!   lanes    start  | 31 | 19 | 2^30 |  0 | ...       distances from the base in granules
//!            end    | 33 | 25 |    0 |  4 | ...
//!            next   | 40 | 31 |    0 | 19 | ...
//! ```
//!
//! A new entry takes the first vacant slot. When an entry is removed, the entry of the last slot moves to its slot. A
//! search examines all lanes at once (`lanes.rs`), so the order does not matter.
//!
//! A span of the layout starts with a marker, an entry of length 0. So every gap has an entry before it. A marker's
//! `start` has an extra bit set, because a region may start at the same address.
//!
//! Lanes hold distances below 2^25 granules. Only the last entry's region or gap can end beyond that; its exact end and
//! gap are kept beside the lanes, as the `tail`. Regions that lie farther apart share far leaves (`far.rs`).

pub(super) mod far;

use far::High;
use freehold_units::Align;
use freehold_units::pool::{NO_NODE, NodeId, PoolNode};

/// The most entries of a leaf.
pub(super) const WIDTH: usize = 32;
/// Lanes hold distances from the base that are below this, in granules.
pub(super) const REACH: i32 = 1 << 25;
/// A base is a multiple of this, in granules. So up to this alignment, a lane is aligned exactly if its address is.
pub(super) const BASE_ALIGN: i32 = 1 << 20;
/// `end` of a vacant slot and of the tail. No search finds it.
pub(super) const BEYOND: i32 = REACH + 1;
/// `next` of a vacant slot and of the tail.
const NO_GAP: i32 = -1;
/// Bit of a marker's `start`, which places it above all lanes.
pub(super) const MARKER: i32 = 1 << 30;
/// `start` of a vacant slot.
const VACANT_START: i32 = i32::MAX;
/// Stands for "no slot".
const NO_SLOT: u32 = u32::MAX;

/// See the [module](self).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Leaf<V> {
    pub(super) start: [i32; WIDTH],
    pub(super) end: [i32; WIDTH],
    pub(super) next: [i32; WIDTH],
    /// The address that lanes count from, in granules, at or below the first entry.
    pub(super) base: u64,
    len: u32,
    /// The slot of the tail; in a vacant leaf, the next vacant node.
    tail: u32,
    pub(super) tail_end: u128,
    tail_next: u128,
    /// The high halves of addresses in a far leaf, whose lanes hold the low ones. Its tail ends at 2^64.
    pub(super) high: Option<High>,
    /// Granules of guard, which count as part of the region.
    guards: [u32; WIDTH],
    /// log2 of the alignments in bytes that regions were allocated with.
    aligns: [u8; WIDTH],
    /// `None` for markers and placeholders.
    values: [Option<V>; WIDTH],
}

/// The guard and alignment of a region's request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RegionAttrs {
    /// Granules of guard after the region.
    pub(crate) guard_granules: u32,
    /// log2 of the alignment in bytes.
    pub(crate) align: u8,
}

impl RegionAttrs {
    #[inline]
    pub(crate) fn new(guard_granules: u32, align: Align) -> Self {
        Self { guard_granules, align: align.bytes().trailing_zeros() as u8 }
    }

    /// The alignment of the region's start.
    pub(crate) fn align(self) -> Align {
        Align::new(1 << self.align).expect("K6: alignments are powers of two")
    }

    /// The attributes of the first part of a region that is cut in two: the guard is not its own.
    pub(crate) fn of_first_part(self) -> Self {
        Self { guard_granules: 0, ..self }
    }

    /// The attributes of two regions that become one, of which this is the first.
    pub(crate) fn with_guard_of(self, second: Self) -> Self {
        Self { guard_granules: second.guard_granules, ..self }
    }

    /// The attributes of the part that starts at `first`: the alignment is what that start still has of it.
    pub(crate) fn of_part_from(self, first: u64) -> Self {
        Self { align: self.align.min(first.trailing_zeros() as u8), ..self }
    }
}

/// A complete entry, in granules.
#[derive(Debug)]
pub(super) struct Entry<V> {
    pub(super) start: u64,
    pub(super) end: u128,
    pub(super) next: u128,
    pub(super) terms: RegionAttrs,
    pub(super) value: Option<V>,
}

impl<V> PoolNode for Leaf<V> {
    const VACANT: Self = Self {
        start: [VACANT_START; WIDTH],
        end: [BEYOND; WIDTH],
        next: [NO_GAP; WIDTH],
        base: 0,
        len: 0,
        tail: NO_NODE,
        tail_end: 0,
        tail_next: 0,
        high: None,
        guards: [0; WIDTH],
        aligns: [0; WIDTH],
        values: [const { None }; WIDTH],
    };

    fn link(&self) -> NodeId {
        self.tail
    }

    fn set_link(&mut self, next: NodeId) {
        debug_assert!(self.len == 0, "K7: a vacant leaf has no entry");
        self.high = None;
        self.tail = next;
    }
}

const _: () = assert!(NO_SLOT == NO_NODE);

impl<V> Leaf<V> {
    #[inline]
    pub(in crate::regions) fn len(&self) -> usize {
        self.len as usize
    }

    /// The distance of an address from the base, if it is within reach.
    #[inline]
    pub(in crate::regions) fn lane_of(&self, granule: u64) -> Option<i32> {
        let distance = granule.wrapping_sub(self.base);
        (distance < REACH as u64).then_some(distance as i32)
    }

    #[inline]
    pub(in crate::regions) fn is_region(&self, slot: usize) -> bool {
        if self.is_far() { self.end(slot) > self.start(slot).into() } else { self.start[slot] < MARKER }
    }

    /// The first granule of an entry.
    #[inline]
    pub(in crate::regions) fn start(&self, slot: usize) -> u64 {
        if self.is_far() {
            return self.far_whole(self.start[slot], 0, slot);
        }
        self.base + (self.start[slot] & !MARKER) as u64
    }

    /// The end of an entry, guard included and exclusive: its gap starts there.
    #[inline]
    pub(in crate::regions) fn end(&self, slot: usize) -> u128 {
        if self.is_tail(slot) {
            self.tail_end
        } else if self.is_far() {
            self.far_whole(self.end[slot], 1, slot).into()
        } else {
            u128::from(self.base) + self.end[slot] as u128
        }
    }

    /// The first granule of an entry and its end, where 2^64 wraps to 0.
    #[inline]
    pub(in crate::regions) fn bounds(&self, slot: usize) -> (u64, u64) {
        if self.is_far() || self.is_tail(slot) {
            return self.bounds_beside_lanes(slot);
        }
        self.bounds_of_lanes(slot)
    }

    /// [`Leaf::bounds`] of a region in a near leaf that is not the tail.
    #[inline]
    pub(in crate::regions) fn bounds_of_lanes(&self, slot: usize) -> (u64, u64) {
        let from_base = |lane: i32| self.base.wrapping_add(lane as u64);
        (from_base(self.start[slot]), from_base(self.end[slot]))
    }

    #[cold]
    fn bounds_beside_lanes(&self, slot: usize) -> (u64, u64) {
        (self.start(slot), self.end(slot) as u64)
    }

    /// The end of the gap after an entry: the start of the next entry or of a hole of the layout.
    #[inline]
    pub(in crate::regions) fn next(&self, slot: usize) -> u128 {
        if self.is_tail(slot) {
            self.tail_next
        } else if self.is_far() {
            self.far_whole(self.next[slot], 2, slot).into()
        } else {
            u128::from(self.base) + self.next[slot] as u128
        }
    }

    /// Granules of the gap after an entry; `u64::MAX` for 2^64.
    #[inline]
    pub(in crate::regions) fn gap(&self, slot: usize) -> u64 {
        u64::try_from(self.next(slot) - self.end(slot)).unwrap_or(u64::MAX)
    }

    #[inline]
    pub(in crate::regions) fn terms(&self, slot: usize) -> RegionAttrs {
        RegionAttrs { guard_granules: self.guards[slot], align: self.aligns[slot] }
    }

    pub(in crate::regions) fn set_terms(&mut self, slot: usize, terms: RegionAttrs) {
        (self.guards[slot], self.aligns[slot]) = (terms.guard_granules, terms.align);
    }

    #[inline]
    pub(in crate::regions) fn value(&self, slot: usize) -> Option<&V> {
        self.values[slot].as_ref()
    }

    pub(in crate::regions) fn value_mut(&mut self, slot: usize) -> Option<&mut V> {
        self.values[slot].as_mut()
    }

    pub(in crate::regions) fn replace_value(&mut self, slot: usize, value: Option<V>) -> Option<V> {
        core::mem::replace(&mut self.values[slot], value)
    }

    pub(in crate::regions) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.values.iter_mut().flatten()
    }

    /// Whether the entry's end and gap are kept beside the lanes.
    #[inline]
    pub(in crate::regions) fn is_tail(&self, slot: usize) -> bool {
        self.tail as usize == slot
    }

    /// The entry whose end and gap are kept beside the lanes. It is always the last one.
    #[inline]
    pub(in crate::regions) fn tail(&self) -> Option<usize> {
        (self.tail != NO_SLOT).then_some(self.tail as usize)
    }

    /// The entry with the highest address.
    pub(in crate::regions) fn last(&self) -> usize {
        if self.is_far() {
            return self.far_last();
        }
        let by_end = |&slot: &usize| self.end[slot];
        (0..self.len()).max_by_key(by_end).expect("K8: a leaf in use has an entry")
    }

    /// The first granule of the entry with the lowest address.
    pub(in crate::regions) fn low(&self) -> u64 {
        if self.is_far() {
            return self.far_low();
        }
        let first = self.start[..self.len()].iter().map(|&lane| lane & !MARKER).min();
        self.base + first.expect("K8: a leaf in use has an entry") as u64
    }

    /// Whether an entry in this leaf can start at `granule`.
    pub(in crate::regions) fn reaches(&self, granule: u64) -> bool {
        self.is_far() || (granule >= self.base && self.lane_of(granule).is_some())
    }

    /// Sets the ends of an entry and of its gap. Only the last entry may pass the lanes' reach.
    pub(in crate::regions) fn set_gap(&mut self, slot: usize, end: u128, next: u128) {
        let base = u128::from(self.base);
        debug_assert!(
            end <= next && end >= u128::from(self.start(slot)),
            "K4: an entry ends before its gap does"
        );
        let fits = if self.is_far() { next >> 64 == 0 } else { next - base < REACH as u128 };
        if fits {
            if self.is_tail(slot) {
                self.tail = NO_SLOT;
            }
            let from = if self.is_far() { 0 } else { base };
            (self.end[slot], self.next[slot]) = ((end - from) as i32, (next - from) as i32);
            if let Some([_, ends, nexts]) = self.high.as_deref_mut() {
                (ends[slot], nexts[slot]) = ((end >> 32) as u32, (next >> 32) as u32);
            }
        } else {
            debug_assert!(self.tail().is_none_or(|tail| tail == slot), "K8: a leaf has one tail");
            self.tail = slot as u32;
            (self.tail_end, self.tail_next) = (end, next);
            (self.end[slot], self.next[slot]) = (BEYOND, NO_GAP);
        }
    }

    /// Adds an entry that starts within reach. The leaf must have a vacant slot.
    pub(in crate::regions) fn push(&mut self, entry: Entry<V>) -> usize {
        let slot = self.len();
        self.len += 1;
        self.start[slot] = match self.high.as_deref_mut() {
            Some([starts, ..]) => {
                starts[slot] = (entry.start >> 32) as u32;
                entry.start as i32
            }
            None => {
                let lane = self.lane_of(entry.start).expect("K8: an entry starts within its leaf's reach");
                if entry.end > entry.start.into() { lane } else { lane | MARKER }
            }
        };
        self.set_terms(slot, entry.terms);
        self.values[slot] = entry.value;
        self.set_gap(slot, entry.end, entry.next);
        slot
    }

    /// Adds a region in the gap after `before`. The region and the gap lie within the lanes' reach.
    #[inline]
    pub(in crate::regions) fn push_within(
        &mut self,
        before: usize,
        start: i32,
        end: i32,
        terms: RegionAttrs,
        value: Option<V>,
    ) {
        let slot = self.len();
        self.len += 1;
        self.start[slot] = start;
        self.end[slot] = end;
        self.next[slot] = core::mem::replace(&mut self.next[before], start);
        self.set_terms(slot, terms);
        self.values[slot] = value;
    }

    /// Removes an entry from a near leaf; the last slot's entry moves to its slot. The caller must add the gap after it
    /// to the previous entry.
    #[inline]
    pub(in crate::regions) fn remove_near(&mut self, slot: usize) -> (RegionAttrs, Option<V>) {
        let last = self.len() - 1;
        if self.is_tail(slot) {
            self.tail = NO_SLOT;
        }
        let (terms, value) = (self.terms(slot), self.values[slot].take());
        if slot != last {
            self.start[slot] = self.start[last];
            self.end[slot] = self.end[last];
            self.next[slot] = self.next[last];
            self.set_terms(slot, self.terms(last));
            self.values[slot] = self.values[last].take();
            if self.is_tail(last) {
                self.tail = slot as u32;
            }
        }
        self.start[last] = VACANT_START;
        self.end[last] = BEYOND;
        self.next[last] = NO_GAP;
        self.len -= 1;
        (terms, value)
    }

    /// Moves an entry out of a leaf that will be refilled or freed.
    pub(in crate::regions) fn take(&mut self, slot: usize) -> Entry<V> {
        Entry {
            start: self.start(slot),
            end: self.end(slot),
            next: self.next(slot),
            terms: self.terms(slot),
            value: self.values[slot].take(),
        }
    }

    /// Moves an entry to the end of another leaf, within whose reach it starts. This leaf will be refilled or freed.
    #[inline]
    pub(in crate::regions) fn move_to(&mut self, slot: usize, other: &mut Self) {
        if self.is_far() || other.is_far() {
            other.push(self.take(slot));
            return;
        }
        // Both bases are at or below the entry, and within reach of it.
        let by = self.base.wrapping_sub(other.base) as i32;
        let (slot, to) = (slot % WIDTH, other.len() % WIDTH);
        other.len += 1;
        other.start[to] = self.start[slot] + by;
        other.set_terms(to, self.terms(slot));
        other.values[to] = self.values[slot].take();
        let next = self.next[slot] + by;
        if self.is_tail(slot) || next >= REACH {
            other.set_gap(to, self.end(slot), self.next(slot));
        } else {
            (other.end[to], other.next[to]) = (self.end[slot] + by, next);
        }
    }

    /// An empty leaf for entries from `low` on. It is far if `high` is given.
    pub(in crate::regions) fn starting_at(low: u64, high: Option<High>) -> Self {
        Self { base: Self::base_for(low), high, ..Self::VACANT }
    }

    /// The base of a leaf for entries from `low` on.
    pub(in crate::regions) fn base_for(low: u64) -> u64 {
        low & !(BASE_ALIGN as u64 - 1)
    }
}
