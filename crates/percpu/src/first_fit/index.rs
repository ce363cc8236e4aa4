//! The placement's table of all chunks: bounds of their runs, counts of their pages without objects; and the keys.

use super::bounds::first_at_least;
use super::keys::{Keys, NOWHERE};
use crate::OutOfMemory;
use crate::geometry::BLOCK_BITS;
use crate::memory::reserve_one;
use crate::object_map::WORD;
use alloc::vec::Vec;

/// One column for each figure, one row for each position of a chunk. The row of a vacant position is 0 (P7, P9).
#[derive(Clone, Debug)]
pub struct Index {
    pub(super) keys: Keys,
    /// The chunk's bound: no page's `longest` is more.
    pub(super) most: Vec<i16>,
    /// The chunk's bound of runs of more than a page: none is longer. At most [`MOST_BITS`](super::MOST_BITS).
    pub(super) wide: Vec<i16>,
    /// Pages that have memory and no object.
    pub(super) empty: Vec<i16>,
    /// Pages without memory.
    pub(super) bare: Vec<i16>,
    /// No chunk below this one has a page with memory and no object.
    pub(super) empty_from: u32,
    /// No chunk below this one has a page without memory.
    pub(super) bare_from: u32,
    /// A chunk has 2^`shift` positions of words.
    shift: u32,
}

impl Index {
    pub(super) fn new(bits: u32) -> Self {
        let shift = (bits / WORD).next_power_of_two().ilog2();
        let column = Vec::new;
        Self {
            keys: Keys::new(),
            most: column(),
            wide: column(),
            empty: column(),
            bare: column(),
            empty_from: 0,
            bare_from: 0,
            shift,
        }
    }

    /// Reserves a row for one more chunk. Refuses if the positions of its words would pass [`NOWHERE`].
    pub(super) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        let chunks = self.most.len() as u64 + 1;
        if chunks << self.shift > u64::from(NOWHERE) {
            return Err(OutOfMemory);
        }
        [&mut self.most, &mut self.wide, &mut self.empty, &mut self.bare]
            .into_iter()
            .try_for_each(reserve_one)
    }

    /// Adds rows up to the chunk's. Room for them was reserved.
    pub(super) fn reach(&mut self, chunk: u32) {
        let rows = self.most.len().max(chunk as usize + 1);
        for column in [&mut self.most, &mut self.wide, &mut self.empty, &mut self.bare] {
            column.resize(rows, 0);
        }
    }

    /// Sets the counts of a chunk's pages without objects.
    pub(super) fn set_pages(&mut self, chunk: u32, empty: u32, bare: u32) {
        (self.empty[chunk as usize], self.bare[chunk as usize]) = (empty as i16, bare as i16);
        self.empty_from = if empty > 0 { self.empty_from.min(chunk) } else { self.empty_from };
        self.bare_from = if bare > 0 { self.bare_from.min(chunk) } else { self.bare_from };
    }

    /// The first chunk that has a page with memory and no object.
    pub(super) fn first_empty(&mut self) -> Option<u32> {
        first(&self.empty, &mut self.empty_from)
    }

    /// The first chunk that has a page without memory.
    pub(super) fn first_bare(&mut self) -> Option<u32> {
        first(&self.bare, &mut self.bare_from)
    }

    pub(super) fn bytes(&self) -> usize {
        let columns = [&self.most, &self.wide, &self.empty, &self.bare];
        columns.map(Vec::capacity).iter().sum::<usize>() * size_of::<i16>()
    }

    /// The position of the first word of a chunk.
    #[inline]
    pub(super) fn base(&self, chunk: u32) -> u32 {
        chunk << self.shift
    }

    /// The chunk of a position, and the word in it.
    #[inline]
    pub(super) fn split(&self, position: u32) -> (u32, u32) {
        (position >> self.shift, position & !(!0 << self.shift))
    }

    /// The bound over all free runs of a chunk.
    pub(super) fn longest(&self, chunk: u32) -> u32 {
        let at = chunk as usize;
        let page = if self.empty[at] + self.bare[at] > 0 { BLOCK_BITS as i16 } else { self.most[at] };
        (if self.wide[at] > BLOCK_BITS as i16 { self.wide[at] } else { page }) as u32
    }
}

/// The first chunk whose count is not 0. All counts below `from` are 0; `from` moves to the chunk found.
fn first(counts: &[i16], from: &mut u32) -> Option<u32> {
    let found = first_at_least(counts, *from as usize, 1).map(|chunk| chunk as u32);
    *from = found.unwrap_or(counts.len() as u32);
    found
}
