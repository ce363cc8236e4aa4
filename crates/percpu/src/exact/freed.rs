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

/// Blocks that something was freed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks(u64);

impl Marks {
    pub(super) const NONE: Self = Self(0);

    #[inline(always)]
    fn of(block: u32) -> Self {
        Self(1 << (block % u64::BITS))
    }

    /// One past the last marked block before `end`, which is not 0; 0 if there is none. One that is not marked may be
    /// taken for another that is.
    #[inline]
    pub(super) fn end_before(self, end: u32) -> u32 {
        let base = (end - 1) / u64::BITS * u64::BITS;
        let before = self.0 & (!0 >> (u64::BITS - (end - base)));
        if before != 0 {
            return base + u64::BITS - before.leading_zeros();
        }
        if self == Self::NONE { 0 } else { base.saturating_sub(self.0.leading_zeros()) }
    }
}

/// Where objects were freed, and the first of them.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Freed {
    /// The blocks that they were in.
    marks: Marks,
    /// The first one.
    first: Range<u32>,
    /// How many objects the chunk had left behind it; [`SEVERAL`] if more has changed since.
    left: u32,
}

/// More than any chunk has.
const SEVERAL: u32 = u32::MAX;

impl Freed {
    pub(super) const NOTHING: Self = Self { marks: Marks::NONE, first: 0..0, left: SEVERAL };

    #[inline]
    pub(super) fn is_nothing(&self) -> bool {
        self.marks == Marks::NONE
    }

    /// The object, if nothing has changed since but that it was freed: the chunk has as many left as behind it.
    pub(super) fn only(&self, left: u32) -> Option<Range<u32>> {
        (!self.is_nothing() && self.left == left).then(|| self.first.clone())
    }

    /// It is not the only change.
    #[inline]
    pub(super) fn is_not_alone(&mut self) {
        self.left = SEVERAL;
    }

    /// An object was freed, and so many are left. Returns whether it is the first one.
    #[inline(always)]
    pub(super) fn add(&mut self, object: &Range<u32>, left: u32) -> bool {
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        if self.is_nothing() || first != last {
            return self.add_first_or_large(object, left);
        }
        self.marks.0 |= Marks::of(first).0;
        false
    }

    /// The same of any object.
    #[inline(never)]
    fn add_first_or_large(&mut self, object: &Range<u32>, left: u32) -> bool {
        let is_first = self.is_nothing();
        if is_first {
            (self.first, self.left) = (object.clone(), left);
        }
        for block in block_of(object.start)..block_of(object.end - 1) + 1 {
            self.marks.0 |= Marks::of(block).0;
        }
        is_first
    }

    /// Forgets what was freed, and returns where it was.
    #[inline]
    pub(super) fn take(&mut self) -> Marks {
        core::mem::replace(self, Self::NOTHING).marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::BLOCK_BITS;

    #[test]
    fn blocks_are_found_in_chunks_of_any_size() {
        for blocks in [8, 63, 64, 65, 256, 2048] {
            let mut freed = Freed::NOTHING;
            assert!(freed.is_nothing() && freed.marks.end_before(blocks) == 0);
            let last = (blocks - 1) * BLOCK_BITS;
            assert!(freed.add(&(last + 5..last + 6), 7));
            assert_eq!(freed.only(7), Some(last + 5..last + 6));
            assert_eq!(freed.marks.end_before(blocks), blocks);
            assert!(!freed.add(&(BLOCK_BITS - 1..BLOCK_BITS + 1), 6));
            assert_eq!(freed.only(6), None);
            let marks = freed.take();
            assert!(freed.is_nothing() && freed.only(0).is_none());
            let ends: std::vec::Vec<u32> = (1..=blocks).map(|end| marks.end_before(end)).collect();
            assert_eq!(ends[..3], [1, 2, 2]);
            assert!(ends.iter().zip(1..).all(|(found, end)| *found <= end));
            assert_eq!(ends[blocks as usize - 1], blocks);
        }
    }
}
