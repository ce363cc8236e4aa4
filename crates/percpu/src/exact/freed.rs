//! What was freed in a chunk since its records were right.
//!
//! ```text
//!   blocks   | 0 | 1 | 2 | ... | 63 | 64 | 65 | ...      one word has a bit for every block of a chunk:
//!   marks    | 1 | 0 | 1 | ... |  0 | as 0 | as 1 | ...  one of a large chunk shares it with every 64th
//! ```
//!
//! Cost: of a free, a few instructions in memory that it reads and writes anyway.

use crate::geometry::block_of;
use core::ops::Range;

/// Where objects were freed, and the first of them.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Freed {
    /// The blocks that they were in.
    marks: u64,
    /// The first one.
    first: Range<u32>,
    /// How many objects the chunk had left behind it.
    left: u32,
}

impl Freed {
    pub(super) const NOTHING: Self = Self { marks: 0, first: 0..0, left: 0 };

    #[inline]
    pub(super) fn is_nothing(&self) -> bool {
        self.marks == 0
    }

    /// The object, if only one was freed: the chunk has as many left as it had behind that one.
    pub(super) fn only(&self, left: u32) -> Option<Range<u32>> {
        (!self.is_nothing() && self.left == left).then(|| self.first.clone())
    }

    /// An object was freed, and so many are left. Returns whether it is the first one.
    #[inline(always)]
    pub(super) fn add(&mut self, object: &Range<u32>, left: u32) -> bool {
        let is_first = self.is_nothing();
        if is_first {
            (self.first, self.left) = (object.clone(), left);
        }
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        self.marks |= mark(first);
        if first != last {
            self.mark_rest(first + 1..last + 1);
        }
        is_first
    }

    /// Marks the blocks that an object goes on into.
    #[inline(never)]
    fn mark_rest(&mut self, blocks: Range<u32>) {
        self.marks |= blocks.fold(0, |marks, block| marks | mark(block));
    }

    #[inline]
    pub(super) fn forget(&mut self) {
        *self = Self::NOTHING;
    }

    /// One past the last block before `end`, which is not 0, that something may have been freed in or right before; 0
    /// if there is none.
    #[inline]
    pub(super) fn end_before(&self, end: u32) -> u32 {
        let behind = self.marks | self.marks.rotate_left(1);
        let base = (end - 1) / u64::BITS * u64::BITS;
        let before = behind & (!0 >> (u64::BITS - (end - base)));
        if before != 0 {
            return base + u64::BITS - before.leading_zeros();
        }
        if behind == 0 { 0 } else { base.saturating_sub(behind.leading_zeros()) }
    }
}

#[inline]
fn mark(block: u32) -> u64 {
    1 << (block % u64::BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::BLOCK_BITS;

    #[test]
    fn blocks_are_found_in_chunks_of_any_size() {
        for blocks in [8, 63, 64, 65, 256, 2048] {
            let mut freed = Freed::NOTHING;
            assert!(freed.is_nothing() && freed.end_before(blocks) == 0);
            let last = (blocks - 1) * BLOCK_BITS;
            assert!(freed.add(&(last + 5..last + 6), 7));
            assert_eq!(freed.only(7), Some(last + 5..last + 6));
            assert_eq!(freed.end_before(blocks), blocks);
            assert!(!freed.add(&(BLOCK_BITS - 1..BLOCK_BITS + 1), 6));
            assert_eq!(freed.only(6), None);
            let ends: std::vec::Vec<u32> = (1..=blocks).map(|end| freed.end_before(end)).collect();
            assert!((1..4).all(|end| ends[end as usize - 1] == end), "blocks 0 and 1, and what is behind");
            assert!(ends.iter().zip(1..).all(|(found, end)| *found <= end));
            freed.forget();
            assert!(freed.is_nothing() && freed.only(0).is_none());
        }
    }
}
