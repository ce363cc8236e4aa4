//! The leaves of the tree: what every segment is, from its first address to the next one's.
//!
//! ```text
//!   links, starts | 4 cache lines and 16 bytes
//!   marks         | 2 lines          of a block its room, of a hole 0, of a region its guard inverted
//!   values        |                  of regions
//! ```
//!
//! A mark is compared with rooms as it is: as signed numbers, inverted guards are less than any room.

use super::kept::Kept;
use super::lanes::{self, LANES};
use crate::bplus::{Columns, Leaf, array};
use crate::index::MAX_GUARD_GRANULES;
use arrayvec::ArrayVec;
use freehold_units::Probe;

/// Segments of a leaf: as many as are compared together. With values of no size it takes seven cache lines.
pub(super) const WIDTH: usize = LANES;

const _: () = assert!(size_of::<Leaf<Segments<()>, WIDTH>>() == 448);

/// A segment without its start: a block has room, a region a value, and a hole neither.
#[derive(Debug)]
pub(super) struct Segment<V> {
    mark: u32,
    value: Option<V>,
}

impl<V> Segment<V> {
    /// Addresses that do not belong to the space.
    pub(super) const HOLE: Self = Self { mark: 0, value: None };

    #[inline]
    pub(super) fn free(room: u32) -> Self {
        Self { mark: room, value: None }
    }

    #[inline]
    pub(super) fn region(guard_granules: u32, value: V) -> Self {
        debug_assert!(guard_granules <= MAX_GUARD_GRANULES);
        Self { mark: !guard_granules, value: Some(value) }
    }
}

/// The segments of a leaf; their starts are its keys.
#[derive(Clone, Debug)]
pub(super) struct Segments<V> {
    /// Behind the last they are 0.
    marks: [u32; LANES],
    /// As many as there are segments.
    values: ArrayVec<Option<V>, WIDTH>,
}

impl<V> Segments<V> {
    /// What is compared with a room to find blocks that have it.
    #[inline]
    pub(super) fn lanes(&self) -> &[u32; LANES] {
        &self.marks
    }

    /// The room of a block in the short form of [`Kept::short`], 0 for what is not free.
    #[inline]
    pub(super) fn room(&self, at: usize) -> u32 {
        room_of(self.marks[at])
    }

    /// A region's granules of guard, and its value.
    #[inline]
    pub(super) fn region(&self, at: usize) -> Option<(u32, &V)> {
        Some((!self.marks[at], self.values.get(at)?.as_ref()?))
    }

    #[inline]
    pub(super) fn value_mut(&mut self, at: usize) -> Option<&mut V> {
        self.values.get_mut(at)?.as_mut()
    }

    /// The segment, which is no region, is a block of that room now, or a hole.
    #[inline]
    pub(super) fn set_room(&mut self, at: usize, room: u32) {
        self.marks[at] = room;
    }

    /// The segment, which is no region, is one now.
    #[inline]
    pub(super) fn begin_region(&mut self, at: usize, region: Segment<V>) {
        self.marks[at] = region.mark;
        self.values[at] = region.value;
    }

    /// The segment is a region no longer, but a hole. Its value, unless it was none.
    #[inline]
    pub(super) fn end_region(&mut self, at: usize) -> Option<V> {
        let value = self.values.get_mut(at)?.take()?;
        self.marks[at] = 0;
        Some(value)
    }

    /// Reads a word of each cache line.
    #[inline]
    pub(super) fn touch(&self) -> u32 {
        self.marks[0] ^ self.marks[16] ^ self.values.len() as u32
    }

    /// The largest room of one class among the segments, which start at `firsts`.
    #[inline]
    pub(super) fn room_in_class(&self, kept: &Kept, firsts: &[u64], class: usize) -> u32 {
        if class == 0 {
            return lanes::most(&self.marks);
        }
        // A block has no more aligned room than room, so most need not be aligned.
        let mut most = 0;
        for (&first, &mark) in firsts.iter().zip(&self.marks) {
            let room = room_of(mark);
            if room > most {
                most = most.max(kept.room_in(first, room, class));
            }
        }
        most
    }
}

#[inline]
fn room_of(mark: u32) -> u32 {
    (mark as i32).max(0) as u32
}

impl<V> Columns for Segments<V> {
    type Key = u64;
    type Item = Segment<V>;

    fn empty() -> Self {
        Self { marks: [0; LANES], values: ArrayVec::new_const() }
    }

    #[inline]
    fn insert(&mut self, len: usize, at: usize, item: Segment<V>) {
        array::insert(&mut self.marks, len, at, item.mark);
        self.values.insert(at, item.value);
    }

    #[inline]
    fn remove(&mut self, len: usize, at: usize) -> Segment<V> {
        let mark = array::remove(&mut self.marks, len, at);
        self.marks[len - 1] = 0;
        Segment { mark, value: self.values.remove(at) }
    }

    fn touch_from(&self, at: usize, probe: &mut impl Probe) {
        probe.touch(self.marks.get(at..self.values.len()).unwrap_or(&[]));
        probe.touch(self.values.get(at..).unwrap_or(&[]));
    }

    fn move_tail(&mut self, len: usize, keep: usize, right: &mut Self, right_len: usize) {
        array::move_tail(&self.marks, len, keep, &mut right.marks, right_len);
        self.marks[keep..len].fill(0);
        right.values = self.values.drain(keep..).chain(right.values.take()).collect();
    }

    fn move_head(&mut self, len: usize, count: usize, right: &mut Self, right_len: usize) {
        array::move_head(&mut self.marks, len, count, &mut right.marks, right_len);
        right.marks[right_len - count..right_len].fill(0);
        self.values.extend(right.values.drain(..count));
    }
}
