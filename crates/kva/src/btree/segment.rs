//! The leaves of the tree: what every segment is, from its first address to the next one's.

use super::lanes::{self, LANES};
use super::rooms::Kept;
use crate::bplus::{Columns, Leaf, array};
use arrayvec::ArrayVec;
use freehold_units::Probe;

/// Segments of a leaf: with values of no size it takes ten cache lines, and one more would begin another.
pub(super) const WIDTH: usize = 30;

const _: () = assert!(size_of::<Leaf<Segments<()>, WIDTH>>() == 640);

/// Who has a region's addresses.
#[derive(Clone, Debug)]
pub(super) struct Held<V> {
    /// Granules at the end of the segment that are the guard.
    pub(super) guard_granules: u32,
    pub(super) value: V,
}

/// A segment without its start: a free block has room, a region is held, and a hole is neither.
#[derive(Debug)]
pub(super) struct Segment<V> {
    pub(super) room: u32,
    pub(super) held: Option<Held<V>>,
}

impl<V> Segment<V> {
    /// Addresses that do not belong to the space.
    pub(super) const HOLE: Self = Self { room: 0, held: None };

    pub(super) fn free(room: u32) -> Self {
        Self { room, held: None }
    }
}

/// The segments of a leaf; their starts are its keys.
#[derive(Clone, Debug)]
pub(super) struct Segments<V> {
    /// Sizes of free blocks in the short form of [`Kept::short`], 0 for what is not free and behind the last.
    pub(super) rooms: [u32; LANES],
    /// As many as there are segments.
    pub(super) held: ArrayVec<Option<Held<V>>, WIDTH>,
}

impl<V> Segments<V> {
    /// Reads a word of most cache lines.
    #[inline]
    pub(super) fn touch(&self) -> u32 {
        let held = |at: usize| self.held.get(at).map_or(0, |held| u32::from(held.is_some()));
        self.rooms[0] ^ self.rooms[16] ^ held(0) ^ held(8) ^ held(16) ^ held(24)
    }

    /// The largest room of one class among the segments, which start at `firsts`.
    #[inline]
    pub(super) fn room_in_class(&self, kept: &Kept, firsts: &[u64], class: usize) -> u32 {
        if class == 0 {
            return lanes::most(&self.rooms);
        }
        // A block has no more aligned room than room, so most need not be aligned.
        let mut most = 0;
        for (&first, &room) in firsts.iter().zip(&self.rooms) {
            if room > most {
                most = most.max(kept.room_in(first, room, class));
            }
        }
        most
    }
}

impl<V> Columns for Segments<V> {
    type Key = u64;
    type Item = Segment<V>;

    fn empty() -> Self {
        Self { rooms: [0; LANES], held: ArrayVec::new_const() }
    }

    #[inline]
    fn insert(&mut self, len: usize, at: usize, item: Segment<V>) {
        array::insert(&mut self.rooms, len, at, item.room);
        self.held.insert(at, item.held);
    }

    #[inline]
    fn remove(&mut self, len: usize, at: usize) -> Segment<V> {
        let room = array::remove(&mut self.rooms, len, at);
        self.rooms[len - 1] = 0;
        Segment { room, held: self.held.remove(at) }
    }

    fn touch_from(&self, at: usize, probe: &mut impl Probe) {
        probe.touch(self.rooms.get(at..self.held.len()).unwrap_or(&[]));
        probe.touch(self.held.get(at..).unwrap_or(&[]));
    }

    fn move_tail(&mut self, len: usize, keep: usize, right: &mut Self, right_len: usize) {
        array::move_tail(&self.rooms, len, keep, &mut right.rooms, right_len);
        self.rooms[keep..len].fill(0);
        right.held = self.held.drain(keep..).chain(right.held.take()).collect();
    }

    fn move_head(&mut self, len: usize, count: usize, right: &mut Self, right_len: usize) {
        array::move_head(&mut self.rooms, len, count, &mut right.rooms, right_len);
        right.rooms[right_len - count..right_len].fill(0);
        self.held.extend(right.held.drain(..count));
    }
}
