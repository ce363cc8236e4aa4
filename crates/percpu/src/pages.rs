//! The pages of a chunk: whether each has memory, and its number of used bits.
//!
//! ```text
//!   page   | has memory | used bits, 0 to 1024 |      begun   some bits are used, so it has memory
//!            15           10 .. 0                     empty   it has memory and no object
//!                                                     bare    it has neither
//! ```

use crate::OutOfMemory;
use crate::geometry::{BLOCK_BITS, base_of, block_of};
use crate::memory::repeated;
use alloc::vec::Vec;
use core::ops::Range;

/// The bit of a populated page; alone, the state of an empty page.
pub(crate) const POPULATED: u16 = 1 << 15;

/// The pages of a chunk, each encoded as in the picture.
#[derive(Clone, Debug)]
pub struct Pages(Vec<u16>);

impl Pages {
    /// `count` pages without memory.
    pub(crate) fn new(count: u32) -> Result<Self, OutOfMemory> {
        repeated(0, count).map(Self)
    }

    /// No pages and no memory for them.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u16>()
    }

    /// The number of pages.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// The used bits of a page.
    #[inline]
    pub(crate) fn used_bits(&self, page: u32) -> u32 {
        u32::from(self.0[page as usize] & !POPULATED)
    }

    /// Whether a page has an object; `false` after the last page.
    #[inline]
    pub(crate) fn is_begun(&self, page: u32) -> bool {
        self.0.get(page as usize).is_some_and(|&state| state > POPULATED)
    }

    /// Whether a page has memory.
    #[inline]
    pub(crate) fn is_populated(&self, page: u32) -> bool {
        self.0[page as usize] & POPULATED != 0
    }

    /// Whether a page has memory and no object.
    #[inline]
    pub(crate) fn is_empty(&self, page: u32) -> bool {
        self.0[page as usize] == POPULATED
    }

    /// Whether all pages of an object have memory. Cost: a step for every page.
    #[inline]
    pub fn are_populated(&self, object: &Range<u32>) -> bool {
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        self.is_populated(first) && (first == last || self.next_bare(first..last + 1) > last)
    }

    /// The first page in the state `wanted`: [`POPULATED`] for an empty page, 0 for a bare one.
    pub(crate) fn first(&self, wanted: u16) -> Option<u32> {
        self.0.iter().position(|&state| state == wanted).map(|page| page as u32)
    }

    /// The first page of the range that has memory; its end if there is none.
    pub(crate) fn next_populated(&self, range: Range<u32>) -> u32 {
        range.clone().find(|&page| self.is_populated(page)).unwrap_or(range.end)
    }

    /// The first page of the range that has no memory; its end if there is none.
    pub(crate) fn next_bare(&self, range: Range<u32>) -> u32 {
        range.clone().find(|&page| !self.is_populated(page)).unwrap_or(range.end)
    }

    /// Records whether pages without objects have memory.
    pub(crate) fn set_populated(&mut self, range: Range<u32>, populated: bool) {
        self.0[range.start as usize..range.end as usize].fill(if populated { POPULATED } else { 0 });
    }

    /// Adds an object's bits. Returns how many of its pages had no object before. Returns `None`, and changes nothing,
    /// if a page has no memory.
    #[inline]
    pub(crate) fn take(&mut self, object: &Range<u32>) -> Option<u32> {
        let populated = self.are_populated(object);
        populated.then(|| {
            self.change(object, |state, bits| {
                *state += bits;
                *state == POPULATED + bits
            })
        })
    }

    /// Subtracts an object's bits. Returns how many pages it leaves empty.
    #[inline]
    pub(crate) fn give(&mut self, object: &Range<u32>) -> u32 {
        self.change(object, |state, bits| {
            *state -= bits;
            *state == POPULATED
        })
    }

    /// Calls `change` on each page of an object with the number of the object's bits in it. Returns how often it
    /// returned `true`.
    #[inline]
    fn change(&mut self, object: &Range<u32>, change: impl Fn(&mut u16, u16) -> bool) -> u32 {
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        if first == last {
            return u32::from(change(&mut self.0[first as usize], (object.end - object.start) as u16));
        }
        self.change_several(object, change)
    }

    /// As [`Pages::change`], for an object of several pages.
    #[inline(never)]
    fn change_several(&mut self, object: &Range<u32>, change: impl Fn(&mut u16, u16) -> bool) -> u32 {
        let pages = block_of(object.start)..block_of(object.end - 1) + 1;
        let part = |page| base_of(page + 1).min(object.end) - base_of(page).max(object.start);
        pages.filter(|&page| change(&mut self.0[page as usize], part(page) as u16)).count() as u32
    }
}

const _: () = assert!(BLOCK_BITS < POPULATED as u32);
