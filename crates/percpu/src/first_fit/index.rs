//! The placement's table of all chunks: bounds of their runs, counts of their pages without objects; and the keys.

use super::MOST_BITS;
use super::bounds::first_at_least;
use super::keys::{Keys, NOWHERE};
use crate::OutOfMemory;
use crate::geometry::BLOCK_BITS;
use crate::memory::reserve_one;
use crate::object_map::WORD;
use alloc::vec::Vec;
use core::ops::Range;

/// One column for each figure, one row for each position of a chunk. The row of a vacant position is 0 (P7, P9).
#[derive(Clone, Debug)]
pub struct Index {
    pub(super) keys: Keys,
    /// The chunk's bound: no page's `longest` is more.
    pub(super) most: Vec<i16>,
    /// Bounds of the chunk's runs of more than a page: of those over any pages, and of those over pages with memory.
    pub(super) wide: [Wide; 2],
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
            wide: Default::default(),
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
        reserve_one(&mut self.keys.missed)?;
        self.columns().try_for_each(reserve_one)
    }

    fn columns(&mut self) -> impl Iterator<Item = &mut Vec<i16>> {
        let [any, ready] = &mut self.wide;
        let wide = [&mut any.longest, &mut any.from, &mut ready.longest, &mut ready.from];
        [&mut self.most, &mut self.empty, &mut self.bare].into_iter().chain(wide)
    }

    /// Adds rows up to the chunk's. Room for them was reserved.
    pub(super) fn reach(&mut self, chunk: u32) {
        let rows = self.most.len().max(chunk as usize + 1);
        self.columns().for_each(|column| column.resize(rows, 0));
        self.keys.missed.resize(rows, 0);
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
        7 * self.most.capacity() * size_of::<i16>() + self.keys.missed.capacity() * size_of::<u32>()
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
        let wide = self.wide[0].longest[at];
        (if wide > BLOCK_BITS as i16 { wide } else { page }) as u32
    }
}

/// For each chunk, where its runs of more than a page can be, and how long.
#[derive(Clone, Debug, Default)]
pub(super) struct Wide {
    /// No such run is longer. At most [`MOST_BITS`](super::MOST_BITS), and at most a page if there is none.
    pub(super) longest: Vec<i16>,
    /// The page below which none starts.
    pub(super) from: Vec<i16>,
}

impl Wide {
    /// Raises the bound of a chunk in which a run may have become longer that starts at a page or above.
    pub(super) fn raise(&mut self, chunk: u32, page: u32) {
        let from = &mut self.from[chunk as usize];
        *from = (*from).min(page as i16);
        self.longest[chunk as usize] = MOST_BITS as i16;
    }

    /// An object covers all of the pages but a part of the first one, so no run of more than a page starts in them.
    pub(super) fn pass(&mut self, chunk: u32, pages: Range<u32>) {
        let from = &mut self.from[chunk as usize];
        *from = if pages.contains(&(*from as u32)) { pages.end as i16 } else { *from };
    }
}

/// The first chunk whose count is not 0. All counts below `from` are 0; `from` moves to the chunk found.
fn first(counts: &[i16], from: &mut u32) -> Option<u32> {
    let found = first_at_least(counts, *from as usize, 1).map(|chunk| chunk as u32);
    *from = found.unwrap_or(counts.len() as u32);
    found
}
