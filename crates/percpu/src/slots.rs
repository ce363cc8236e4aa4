//! The lists that chunks are kept on.
//!
//! ```text
//!   0     1     2    ...   lists - 1  |  sidelined   free   to depopulate
//!   full  by the room that a chunk has |  emptied     all    to be emptied
//!                                         already     free
//! ```
//!
//! A chunk is on exactly one list. The lists link positions; a bit for each says whether it has any, so that the
//! next list with a chunk is found without looking at empty ones.

use crate::OutOfMemory;
use crate::bitmap::Bitmap;
use crate::chunk::NONE;
use alloc::vec::Vec;

/// First and last chunk of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// Every list's ends, and which lists have chunks.
#[derive(Clone, Debug)]
pub struct Slots {
    ends: Vec<Ends>,
    occupied: Bitmap,
    /// The lists before the three special ones.
    lists: u32,
}

impl Slots {
    /// `lists` lists by room, and the three special ones, all empty.
    pub(crate) fn new(lists: u32) -> Result<Self, OutOfMemory> {
        let count = lists as usize + 3;
        let mut ends = Vec::new();
        ends.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        ends.resize(count, Ends { first: NONE, last: NONE });
        Ok(Self { ends, occupied: Bitmap::new(lists + 3)?, lists })
    }

    /// Chunks that were emptied and wait to be needed again.
    pub(crate) fn sidelined(&self) -> u32 {
        self.lists
    }

    /// Chunks without any object.
    pub(crate) fn free(&self) -> u32 {
        self.lists + 1
    }

    /// Chunks whose empty pages shall be given back.
    pub(crate) fn to_depopulate(&self) -> u32 {
        self.lists + 2
    }

    /// All lists.
    pub(crate) fn count(&self) -> u32 {
        self.lists + 3
    }

    #[inline]
    pub(crate) fn ends(&self, slot: u32) -> Ends {
        self.ends[slot as usize]
    }

    pub(crate) fn set_ends(&mut self, slot: u32, ends: Ends) {
        self.ends[slot as usize] = ends;
        if ends.first == NONE {
            self.occupied.clear(slot);
        } else {
            self.occupied.set(slot);
        }
    }

    /// The first list from `slot` on and before `end` that has a chunk.
    #[inline]
    pub(crate) fn next_occupied(&self, slot: u32, end: u32) -> Option<u32> {
        if slot >= end {
            return None;
        }
        let found = self.occupied.next_set(slot..end);
        (found < end).then_some(found)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<Ends>() + self.occupied.bytes()
    }
}
