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
        self.largest[..len].iter().copied().fold(0, u64::max)
    }

    /// What no room below the first `len` children exceeds in a class.
    pub(super) fn most(&self, class: usize, len: usize) -> i32 {
        self.rooms[class][..len].iter().copied().fold(0, i32::max)
    }

    /// The first of the children `from..len` with a room of `size` or more in a class.
    #[inline]
    pub(super) fn first_with(&self, class: usize, size: i32, from: usize, len: usize) -> Option<usize> {
        // Sixteen children make a vector of bytes, and that a number with a byte for each.
        const LANES: usize = 16;
        let (groups, _) = self.rooms[class].as_chunks::<LANES>();
        let mut passed = from % LANES;
        for (at, group) in groups.iter().enumerate().skip(from / LANES) {
            let hits = u128::from_le_bytes(group.map(|room| u8::from(room >= size))) >> (8 * passed);
            if hits != 0 {
                let slot = at * LANES + passed + hits.trailing_zeros() as usize / 8;
                return (slot < len).then_some(slot);
            }
            passed = 0;
        }
        None
    }

    /// The last of the first `end` children with a room of `size` or more in a class.
    pub(super) fn last_with(&self, class: usize, size: i32, end: usize) -> Option<usize> {
        self.rooms[class][..end].iter().rposition(|&room| room >= size)
    }
}
