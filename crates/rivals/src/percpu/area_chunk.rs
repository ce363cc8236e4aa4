//! One chunk of the area map: its areas in an ordered array of integers.
//!
//! ```text
//!   unit   |####|....|########|..|#######......|
//!   map     0|1  16   32|1     64 72|1   100    128|1      an offset for each area, the lowest bit says used;
//!                                                          a sentry at the unit's end closes the last one
//! ```
//!
//! To split an area, all integers behind it move; to merge two, they move back.

use crate::RivalWork;
use freehold_units::Probe;

/// The bit of an entry that says that its area is used. Offsets are even.
const USED: u32 = 1;
/// Entries that a new map has room for.
const FIRST_CAPACITY: usize = 16;
/// Room that a map must have beyond its entries for an object to be placed: two more areas, and the sentry.
const MARGIN: usize = 3;
/// Pieces smaller than an integer are not worth an entry.
const LEAST_PIECE: u32 = 4;
/// No chunk.
pub(super) const NONE: u32 = u32::MAX;

/// A chunk and its place on its list.
#[derive(Clone, Debug)]
pub(super) struct AreaChunk {
    /// Entries in order of offsets; the last one is the sentry.
    map: Vec<u32>,
    /// Entries that the map has room for, as the original would have it.
    capacity: usize,
    free_bytes: u32,
    /// No free area is larger.
    pub(super) contig_hint: u32,
    /// No entry before is free.
    first_free: usize,
    pub(super) generation: u32,
    pub(super) slot: usize,
    pub(super) previous: u32,
    pub(super) next: u32,
    pub(super) objects: u32,
}

impl AreaChunk {
    /// One free area.
    pub(super) fn new(unit_bytes: u32, generation: u32) -> Self {
        let mut map = Vec::with_capacity(FIRST_CAPACITY);
        map.extend([0, unit_bytes | USED]);
        Self {
            map,
            capacity: FIRST_CAPACITY,
            free_bytes: unit_bytes,
            contig_hint: unit_bytes,
            first_free: 0,
            generation,
            slot: 0,
            previous: NONE,
            next: NONE,
            objects: 0,
        }
    }

    /// Whether there is a chunk, and not the place of a former one.
    pub(super) fn is_live(&self) -> bool {
        !self.map.is_empty()
    }

    /// The chunk is gone.
    pub(super) fn vacate(&mut self) {
        self.map = Vec::new();
        self.capacity = 0;
        self.generation = self.generation.wrapping_add(1);
    }

    pub(super) fn free_bytes(&self) -> u32 {
        self.free_bytes
    }

    /// Whether an object could be placed in it at all.
    pub(super) fn has_room(&self) -> bool {
        self.free_bytes >= LEAST_PIECE && self.contig_hint >= LEAST_PIECE
    }

    /// Entries, the sentry included.
    pub(super) fn entries(&self) -> usize {
        self.map.len()
    }

    /// Entries that there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Entries without the sentry.
    fn used(&self) -> usize {
        self.map.len() - 1
    }

    fn offset(&self, at: usize) -> u32 {
        self.map[at] & !USED
    }

    fn is_free(&self, at: usize) -> bool {
        self.map[at] & USED == 0
    }

    fn size(&self, at: usize) -> u32 {
        self.offset(at + 1) - self.offset(at)
    }

    /// Makes room for the entries that placing an object may need; whether the map had to grow.
    #[inline]
    pub(super) fn grow(&mut self, probe: &mut impl Probe) -> bool {
        let needed = self.used() + MARGIN;
        if needed <= self.capacity {
            return false;
        }
        while self.capacity < needed {
            self.capacity *= 2;
        }
        RivalWork::IntCopied.count(self.used() as u64, probe);
        self.map.reserve_exact(self.capacity - self.map.len());
        true
    }

    /// Places an object in the first area that holds it; its offset.
    #[inline]
    pub(super) fn alloc(&mut self, size: u32, align: u32, probe: &mut impl Probe) -> Option<u32> {
        let (mut largest, mut seen_free) = (0, false);
        let start = self.first_free;
        for at in start..self.used() {
            if !self.is_free(at) {
                continue;
            }
            let (offset, available) = (self.map[at], self.size(at));
            let head = offset.next_multiple_of(align) - offset;
            if available >= head + size {
                RivalWork::EntryScanned.count((at - start) as u64 + 1, probe);
                let first_free = seen_free.then_some(self.first_free);
                return Some(self.carve(at, head, size, largest, first_free, probe));
            }
            if !seen_free {
                self.first_free = at;
                seen_free = true;
            }
            largest = largest.max(available);
        }
        RivalWork::EntryScanned.count(self.used().saturating_sub(start) as u64, probe);
        self.contig_hint = largest;
        None
    }

    /// Cuts an object out of the free area at `at`, behind `head` bytes. `largest` is the largest free area before
    /// it, `first_free` the first one if there is any.
    fn carve(
        &mut self,
        mut at: usize,
        mut head: u32,
        mut size: u32,
        mut largest: u32,
        mut first_free: Option<usize>,
        probe: &mut impl Probe,
    ) -> u32 {
        if head > 0 && at > 0 && (head < LEAST_PIECE || self.is_free(at - 1)) {
            // The head goes to the area before.
            self.map[at] += head;
            if self.is_free(at - 1) {
                largest = largest.max(self.size(at - 1));
            } else {
                self.free_bytes -= head;
            }
            head = 0;
        }
        let mut tail = self.size(at) - head - size;
        if tail < LEAST_PIECE {
            size += tail;
            tail = 0;
        }
        let offset = self.map[at] + head;
        let extra = usize::from(head > 0) + usize::from(tail > 0);
        if extra > 0 {
            self.open(at, extra, probe);
        }
        if head > 0 {
            first_free.get_or_insert(at);
            largest = largest.max(head);
            at += 1;
        }
        self.map[at] = offset | USED;
        if tail > 0 {
            self.map[at + 1] = offset + size;
            largest = largest.max(tail);
        }
        self.first_free = first_free.unwrap_or(at + 1);
        // Only what was cut to the very end of the unit lowers the hint: a tail that is left counts as an entry behind.
        let is_last = at + 1 == self.used();
        self.contig_hint = if is_last { largest } else { self.contig_hint.max(largest) };
        self.free_bytes -= size;
        self.objects += 1;
        offset
    }

    /// Makes room for `extra` entries behind `at`.
    fn open(&mut self, at: usize, extra: usize, probe: &mut impl Probe) {
        let len = self.map.len();
        RivalWork::IntMoved.count((self.used() - at) as u64, probe);
        self.map.resize(len + extra, 0);
        self.map.copy_within(at + 1..len, at + 1 + extra);
    }

    /// Frees the object at `offset`; whether there was one.
    #[inline]
    pub(super) fn free(&mut self, offset: u32, probe: &mut impl Probe) -> bool {
        let Some(found) = self.search(offset | USED, probe) else { return false };
        let mut at = found;
        self.first_free = self.first_free.min(at);
        self.map[at] = offset;
        self.free_bytes += self.size(at);
        self.objects -= 1;
        let mut gone = usize::from(self.is_free(at + 1));
        if at > 0 && self.is_free(at - 1) {
            gone += 1;
            at -= 1;
        }
        if gone > 0 {
            let len = self.map.len();
            self.map.copy_within(at + 1 + gone..len, at + 1);
            self.map.truncate(len - gone);
            RivalWork::IntMoved.count((self.used() - at) as u64, probe);
        }
        self.contig_hint = self.contig_hint.max(self.size(at));
        true
    }

    fn search(&self, entry: u32, probe: &mut impl Probe) -> Option<usize> {
        let (mut low, mut high) = (0, self.used());
        while low < high {
            let middle = (low + high) / 2;
            RivalWork::EntryProbed.count(1, probe);
            match self.map[middle].cmp(&entry) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Checks the map from scratch.
    pub(super) fn validate(&self, unit_bytes: u32) -> Result<(), String> {
        let (mut free, mut largest, mut objects) = (0, 0, 0);
        for at in 0..self.used() {
            let (this, next) = (self.map[at], self.map[at + 1]);
            if this & !USED >= next & !USED {
                return Err(format!("entries {at} and the next are out of order"));
            }
            if self.is_free(at) && self.is_free(at + 1) {
                return Err(format!("free areas {at} and the next are apart"));
            }
            if self.is_free(at) {
                free += self.size(at);
                largest = largest.max(self.size(at));
                if at < self.first_free {
                    return Err(format!("entry {at} is free, but the first free one is {}", self.first_free));
                }
            } else {
                objects += 1;
            }
        }
        if self.map.first().copied().unwrap_or(0) & !USED != 0
            || self.map.last() != Some(&(unit_bytes | USED))
        {
            return Err("the map does not cover the unit".to_owned());
        }
        if free != self.free_bytes || largest > self.contig_hint || objects != self.objects {
            return Err(format!("{free} bytes are free, {largest} in one area, {objects} objects"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::AreaChunk;

    #[test]
    fn an_object_cut_from_the_last_area_lowers_the_hint_only_if_no_tail_is_left() {
        let mut chunk = AreaChunk::new(4096, 0);
        assert_eq!(chunk.alloc(96, 4, &mut ()), Some(0));
        assert_eq!(chunk.contig_hint, 4096, "a tail of 4000 bytes is left");
        assert_eq!(chunk.alloc(4096, 4, &mut ()), None, "one search that is too large");
        assert_eq!(chunk.contig_hint, 4000, "which lowers it");
        assert_eq!(chunk.alloc(4000, 4, &mut ()), Some(96));
        assert_eq!(chunk.contig_hint, 0, "nothing is left");
    }

    #[test]
    fn the_last_area_is_told_by_its_position_after_a_head_was_cut_off() {
        let mut chunk = AreaChunk::new(4096, 0);
        assert_eq!(chunk.alloc(8, 4, &mut ()), Some(0));
        assert_eq!(chunk.alloc(4096 - 64, 64, &mut ()), Some(64), "up to the end, behind a head of 56 bytes");
        assert_eq!(chunk.contig_hint, 56, "the object is the last entry once the head is one of its own");
    }
}
