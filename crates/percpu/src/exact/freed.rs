//! What was freed in a chunk since its records were right.
//!
//! ```text
//!   blocks   | | | | | | | | | | | | | | | | ...      a bit for each, or for each group of 2, 4, ... of them, so
//!   groups   |   1   |   0   |   0   |   1   ...      that one word has a bit for every block of a chunk
//! ```
//!
//! Cost: of a free, a few instructions in memory that it reads and writes anyway.

use crate::geometry::BLOCK_BITS;
use core::ops::Range;

/// Where objects were freed; the object itself, if it was but one.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Freed {
    /// The groups of blocks that they were in.
    groups: u64,
    /// Which group a bit is of: that many bits fewer of its position.
    shift: u32,
    /// The object, if it is the only one.
    only: Range<u32>,
}

impl Freed {
    /// Nothing, in so many blocks.
    pub(super) fn nothing(blocks: u32) -> Self {
        let groups_of = blocks.div_ceil(u64::BITS).next_power_of_two();
        Self { groups: 0, shift: (groups_of * BLOCK_BITS).ilog2(), only: 0..0 }
    }

    #[inline]
    pub(super) fn is_nothing(&self) -> bool {
        self.groups == 0
    }

    /// The object, if only one was freed.
    pub(super) fn only(&self) -> Option<Range<u32>> {
        (!self.only.is_empty()).then(|| self.only.clone())
    }

    #[inline(always)]
    pub(super) fn add(&mut self, object: &Range<u32>) {
        let &Range { start, end } = object;
        self.only = if self.is_nothing() { start..end } else { 0..0 };
        let (first, last) = (start >> self.shift, (end - 1) >> self.shift);
        self.groups |= (2_u64 << last).wrapping_sub(1 << first);
    }

    #[inline]
    pub(super) fn forget(&mut self) {
        self.groups = 0;
        self.only = 0..0;
    }

    /// One past the last block before `end`, which is not 0, that something may have been freed in or right before; 0
    /// if there is none.
    #[inline]
    pub(super) fn end_before(&self, end: u32) -> u32 {
        let group_blocks = (1 << self.shift) / BLOCK_BITS;
        let last = (end - 1) / group_blocks;
        let before = (self.groups | self.groups << 1) & (!0 >> (u64::BITS - 1 - last));
        ((u64::BITS - before.leading_zeros()) * group_blocks).min(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_in_chunks_of_any_size() {
        for blocks in [8, 63, 64, 65, 256, 2048] {
            let mut freed = Freed::nothing(blocks);
            assert!(freed.is_nothing() && freed.end_before(blocks) == 0);
            let last = (blocks - 1) * BLOCK_BITS;
            freed.add(&(last + 5..last + 6));
            assert_eq!(freed.only(), Some(last + 5..last + 6));
            assert_eq!(freed.end_before(blocks), blocks);
            freed.add(&(BLOCK_BITS - 1..BLOCK_BITS + 1));
            assert_eq!(freed.only(), None);
            let ends: std::vec::Vec<u32> = (1..=blocks).map(|end| freed.end_before(end)).collect();
            assert!((1..4).all(|end| ends[end as usize - 1] == end), "blocks 0 and 1, and what is behind");
            assert!(ends.iter().zip(1..).all(|(found, end)| *found <= end));
            freed.forget();
            assert!(freed.is_nothing() && freed.only().is_none());
        }
    }
}
