//! The placement's tables of all chunks: bounds of their runs and counts of their pages without objects; and the keys.
//!
//! A bound of runs is a row with one bound for each alignment: the most bits that fit in the chunk at a multiple of it.
//! So a search that finds only misaligned runs lowers the bound for all later searches with that alignment, whatever
//! their sizes.

use super::MOST_BITS;
use super::keys::{Keys, NOWHERE};
use super::maxima::Maxima;
use crate::OutOfMemory;
use crate::geometry::BLOCK_BITS;
use crate::memory::reserve_one;
use crate::object_map::WORD;
use alloc::vec::Vec;
use core::ops::Range;

/// Number of alignments, from 1 to 1,024 bits. The number of a request's alignment is its `trailing_zeros`.
pub(super) const ALIGNMENTS: usize = BLOCK_BITS.ilog2() as usize + 1;

/// For each alignment, the usable length of a free run: from its first multiple of the alignment on, at most a page.
pub(super) fn usable(run: &Range<u32>) -> [i16; ALIGNMENTS] {
    let (bits, below) = (run.end - run.start, run.start.wrapping_neg());
    core::array::from_fn(|shift| (bits.saturating_sub(below & !(!0 << shift))).min(BLOCK_BITS) as i16)
}

/// One row for each position of a chunk. The rows of a vacant position are 0 (P7, P9).
#[derive(Clone, Debug)]
pub struct Index {
    pub(super) keys: Keys,
    /// Bounds of runs that start in a page with objects. No page's `longest` is more than the bound for alignment 1.
    pub(super) most: Maxima<ALIGNMENTS>,
    /// Bounds of the chunk's runs of more than a page: first those over any pages, then those over populated pages.
    pub(super) wide: [Wide; 2],
    /// Counts of pages without objects: [`EMPTY`], [`BARE`].
    pub(super) pages: Maxima<2>,
    /// log2 of the number of word positions of a chunk.
    shift: u32,
}

impl Index {
    pub(super) fn new(bits: u32) -> Self {
        let shift = (bits / WORD).next_power_of_two().ilog2();
        let wide = [const { Wide { longest: Maxima::new(), from: Vec::new() } }; 2];
        Self { keys: Keys::new(), most: Maxima::new(), wide, pages: Maxima::new(), shift }
    }

    /// Reserves a row for one more chunk. Fails if the positions of its words would reach [`NOWHERE`].
    pub(super) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        let chunks = self.most.len() as u64 + 1;
        if chunks << self.shift > u64::from(NOWHERE) {
            return Err(OutOfMemory);
        }
        self.most.reserve()?;
        self.pages.reserve()?;
        self.wide.iter_mut().try_for_each(|wide| {
            wide.longest.reserve()?;
            reserve_one(&mut wide.from)
        })
    }

    /// Adds rows up to the chunk's. The caller has reserved them.
    pub(super) fn reach(&mut self, chunk: u32) {
        let at = chunk as usize;
        self.most.reach(at);
        self.pages.reach(at);
        for wide in &mut self.wide {
            wide.longest.reach(at);
            wide.from.resize(wide.longest.len(), 0);
        }
    }

    /// The first chunk with a page without objects of that kind: [`EMPTY`] or [`BARE`].
    pub(super) fn first_with(&self, pages: usize) -> Option<u32> {
        self.pages.next(pages, 0, 1).map(|chunk| chunk as u32)
    }

    pub(super) fn bytes(&self) -> usize {
        let wide =
            self.wide.iter().map(|wide| wide.longest.bytes() + wide.from.capacity() * size_of::<i16>());
        self.most.bytes() + self.pages.bytes() + wide.sum::<usize>()
    }

    /// The position of the first word of a chunk.
    #[inline]
    pub(super) fn base(&self, chunk: u32) -> u32 {
        chunk << self.shift
    }

    /// The chunk of a position, and the word's number in it.
    #[inline]
    pub(super) fn split(&self, position: u32) -> (u32, u32) {
        (position >> self.shift, position & !(!0 << self.shift))
    }

    /// The bound over all free runs of a chunk.
    pub(super) fn longest(&self, chunk: u32) -> u32 {
        let at = chunk as usize;
        let page = if *self.pages.row(at) == [0; 2] { self.most.row(at)[0] } else { BLOCK_BITS as i16 };
        let wide = self.wide[0].longest.row(at)[0];
        (if wide > BLOCK_BITS as i16 { wide } else { page }) as u32
    }
}

/// Index in `pages`: populated pages without objects.
pub(super) const EMPTY: usize = 0;
/// Index in `pages`: pages without memory.
pub(super) const BARE: usize = 1;

/// For each chunk, bounds of the start and the length of its runs of more than a page.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    /// Upper bounds of their length. At most [`MOST_BITS`](super::MOST_BITS), and at most a page if there is no such
    /// run.
    pub(super) longest: Maxima<ALIGNMENTS>,
    /// The page below which none starts.
    pub(super) from: Vec<i16>,
}

impl Wide {
    /// Raises the bound of a chunk in which a run that starts at `page` or above may have become longer.
    pub(super) fn raise(&mut self, chunk: u32, page: u32) {
        let from = &mut self.from[chunk as usize];
        *from = (*from).min(page as i16);
        self.longest.raise(chunk as usize, [MOST_BITS as i16; ALIGNMENTS]);
    }

    /// Records that an object covers the pages, except a part of the first. So no run of more than a page starts in
    /// them.
    pub(super) fn pass(&mut self, chunk: u32, pages: Range<u32>) {
        let from = &mut self.from[chunk as usize];
        *from = if pages.contains(&(*from as u32)) { pages.end as i16 } else { *from };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of bounds for each chunk in each table.
    #[test]
    fn tables_are_counted() {
        let bytes = |chunks: u32| {
            let mut index = Index::new(BLOCK_BITS);
            for chunk in 0..chunks {
                index.reserve().unwrap();
                index.reach(chunk);
            }
            index.bytes()
        };
        // Eleven alignments, two kinds of pages, and two kinds of wide runs with their starts, of two bytes each.
        let rows = 512 * 2 * (11 + 2 + 2 * (11 + 1));
        assert_eq!(bytes(0), 0);
        assert!((rows..rows * 9 / 8).contains(&bytes(512)), "{}", bytes(512));
    }
}
