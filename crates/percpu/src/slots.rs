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
use crate::bitmap::repeated;
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
    occupied: Vec<u64>,
    /// Which words of `occupied` have a bit.
    occupied_words: u64,
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
        let occupied = repeated(0, (lists + 3).div_ceil(u64::BITS))?;
        debug_assert!(occupied.len() <= u64::BITS as usize, "one word marks all words");
        Ok(Self { ends, occupied, occupied_words: 0, lists })
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
        let were = core::mem::replace(&mut self.ends[slot as usize], ends);
        if (were.first == NONE) != (ends.first == NONE) {
            let word = slot / u64::BITS;
            let lists = &mut self.occupied[word as usize];
            *lists ^= 1 << (slot % u64::BITS);
            self.occupied_words = self.occupied_words & !(1 << word) | u64::from(*lists != 0) << word;
        }
    }

    /// The first list from `slot` on and before `end` that has a chunk.
    #[inline]
    pub(crate) fn next_occupied(&self, slot: u32, end: u32) -> Option<u32> {
        let (word, words) = ((slot / u64::BITS) as usize, &self.occupied);
        let here = words[word] & !0 << (slot % u64::BITS);
        let found = if here != 0 {
            slot / u64::BITS * u64::BITS + here.trailing_zeros()
        } else {
            let behind = self.occupied_words & !1 << word;
            if behind == 0 {
                return None;
            }
            let word = behind.trailing_zeros();
            word * u64::BITS + words[word as usize].trailing_zeros()
        };
        (found < end).then_some(found)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<Ends>() + self.occupied.capacity() * size_of::<u64>()
    }
}
