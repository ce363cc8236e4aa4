//! What inner nodes know of the gaps below each child.
//!
//! ```text
//!   largest      |  7 | 90 | 2^33 |      the largest gap in granules, exact
//!   rooms[0]     |  7 | 90 |  ... |      the same in 31 bits, for a search of many children at once
//!   rooms[1..]   |  4 | 88 |  ... |      no less than the largest room at an alignment
//! ```

use super::classes::CLASSES;
use crate::bplus::{FANOUT, Rows};
use core::ops::Range;
use freehold_units::Extent;

/// Children that a search looks at together.
const LANES: usize = 32;

/// What is known of one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Granules of the largest gap, `u64::MAX` for 2^64.
    pub(super) largest: u64,
    /// For each class of alignment, the code of a size that no room exceeds; of the first, of `largest`.
    pub(super) rooms: [i32; CLASSES],
}

/// What is known of each child.
#[derive(Clone, Debug)]
pub(crate) struct Rooms {
    pub(super) largest: [u64; FANOUT],
    pub(super) rooms: [[i32; FANOUT]; CLASSES],
}

/// Codes up to this are the sizes themselves.
pub(super) const EXACT: i32 = 1 << 26;

/// A size in granules in 31 bits: a larger one never has the smaller code.
#[inline]
pub(super) fn code(granules: u64) -> i32 {
    granules.checked_sub(1).map_or(0, |reach| Extent::of_reach(reach).code() as i32)
}

impl Rows for Rooms {
    type Summary = Summary;
    const VACANT: Self = Self { largest: [0; FANOUT], rooms: [[0; FANOUT]; CLASSES] };

    fn set(&mut self, slot: usize, summary: Summary) {
        self.largest[slot] = summary.largest;
        for (row, room) in self.rooms.iter_mut().zip(summary.rooms) {
            row[slot] = room;
        }
    }

    fn total(&self, len: usize) -> Summary {
        let rooms = core::array::from_fn(|class| self.most(class, len));
        Summary { largest: self.largest_of(len), rooms }
    }

    fn copy_within(&mut self, from: Range<usize>, to: usize) {
        self.largest.copy_within(from.clone(), to);
        for row in &mut self.rooms {
            row.copy_within(from.clone(), to);
        }
    }

    fn copy_from(&mut self, other: &Self, from: Range<usize>, to: usize) {
        let to = to..to + from.len();
        self.largest[to.clone()].copy_from_slice(&other.largest[from.clone()]);
        for (row, other) in self.rooms.iter_mut().zip(&other.rooms) {
            row[to.clone()].copy_from_slice(&other[from.clone()]);
        }
    }
}

impl Rooms {
    /// The largest gap below the first `len` children.
    pub(super) fn largest_of(&self, len: usize) -> u64 {
        let most = self.most(0, len);
        if most <= EXACT {
            return most as u64;
        }
        self.largest[..len].iter().copied().fold(0, u64::max)
    }

    /// What no room below the first `len` children exceeds in a class.
    pub(super) fn most(&self, class: usize, len: usize) -> i32 {
        self.rooms[class][..len].iter().copied().fold(0, i32::max)
    }

    /// The first of the children `from..len` with a room of `size` or more in a class.
    #[inline]
    pub(super) fn first_with(&self, class: usize, size: i32, from: usize, len: usize) -> Option<usize> {
        let (groups, _) = self.rooms[class].as_chunks::<LANES>();
        let mut first = from;
        while first < len {
            let (at, passed) = (first / LANES, first % LANES);
            let hits = bits_with(&groups[at], size) >> passed << passed;
            if hits != 0 {
                return Some(at * LANES + hits.trailing_zeros() as usize).filter(|&slot| slot < len);
            }
            first = (at + 1) * LANES;
        }
        None
    }

    /// The last of the first `end` children with a room of `size` or more in a class.
    pub(super) fn last_with(&self, class: usize, size: i32, end: usize) -> Option<usize> {
        self.rooms[class][..end].iter().rposition(|&room| room >= size)
    }
}

/// A bit for each of some children that has a room of `size` or more.
#[inline]
fn bits_with(rooms: &[i32; LANES], size: i32) -> u32 {
    let mut bits = 0i32;
    for (lane, &room) in rooms.iter().enumerate() {
        bits |= i32::from(room > size - 1).wrapping_neg() & (1 << lane);
    }
    bits as u32
}
