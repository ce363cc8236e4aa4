//! The lists that chunks are kept on.
//!
//! ```text
//!   0     1     2    ...   lists - 1  |  sidelined   free   to depopulate  |  vacant
//!   full  by the room that a chunk has |  emptied     all    to be emptied  |  positions
//!                                         already     free                     without a chunk
//! ```
//!
//! A chunk is on exactly one list. The lists link positions, aside from the chunks, so that moving one touches no other
//! chunk; a bit for each list says whether it has any, so that the next list with a chunk is found without looking at
//! empty ones.
//!
//! Invariant P1: a chunk is on exactly one list, linked both ways, and a list's ends and occupied bit agree with its
//! links.

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

/// Where in a list a chunk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Head,
    Tail,
}

/// A position's place on the lists.
#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
    /// The list it is on.
    slot: u16,
    /// The list that it belonged on by its room after the last change, wherever it is.
    by_room: u16,
}

/// Every list's ends, the links of its chunks, and which lists have any.
#[derive(Clone, Debug)]
pub struct Slots {
    links: Vec<Link>,
    ends: Vec<Ends>,
    occupied: Vec<u64>,
    /// Which words of `occupied` have a bit.
    occupied_words: u64,
    /// The lists before the special ones.
    lists: u32,
}

impl Slots {
    /// `lists` lists by room, and the four special ones, all empty.
    pub(crate) fn new(lists: u32) -> Result<Self, OutOfMemory> {
        let count = lists as usize + 4;
        let mut ends = Vec::new();
        ends.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        ends.resize(count, Ends { first: NONE, last: NONE });
        let occupied = repeated(0, (lists + 4).div_ceil(u64::BITS))?;
        debug_assert!(occupied.len() <= u64::BITS as usize, "one word marks all words");
        Ok(Self { links: Vec::new(), ends, occupied, occupied_words: 0, lists })
    }

    /// Makes room for one more position, and for some beyond.
    pub(crate) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        self.links.try_reserve(1).map_err(|_| OutOfMemory)
    }

    /// Adds a position, on a list.
    pub(crate) fn add(&mut self, slot: u32) {
        let index = self.links.len() as u32;
        self.links.push(Link { previous: NONE, next: NONE, slot: 0, by_room: 0 });
        self.link(index, slot, End::Head);
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

    /// Positions whose chunks are gone.
    pub(crate) fn vacant(&self) -> u32 {
        self.lists + 3
    }

    /// All lists of chunks.
    pub(crate) fn count(&self) -> u32 {
        self.vacant()
    }

    #[inline]
    pub(crate) fn ends(&self, slot: u32) -> Ends {
        self.ends[slot as usize]
    }

    /// The list that a chunk is on.
    #[inline]
    pub(crate) fn of(&self, index: u32) -> u32 {
        u32::from(self.links[index as usize].slot)
    }

    /// The list that a chunk belonged on by its room after the last change.
    #[inline]
    pub(crate) fn by_room(&self, index: u32) -> u32 {
        u32::from(self.links[index as usize].by_room)
    }

    #[inline]
    pub(crate) fn set_by_room(&mut self, index: u32, slot: u32) {
        self.links[index as usize].by_room = slot as u16;
    }

    /// The chunk before one on its list.
    pub(crate) fn previous(&self, index: u32) -> u32 {
        self.links[index as usize].previous
    }

    /// The chunk behind one on its list.
    #[inline]
    pub(crate) fn next(&self, index: u32) -> u32 {
        self.links[index as usize].next
    }

    /// The chunks of a list, the first one first.
    pub(crate) fn list(&self, slot: u32) -> impl Iterator<Item = u32> {
        let chunk = |index: u32| (index != NONE).then_some(index);
        core::iter::successors(chunk(self.ends(slot).first), move |&index| chunk(self.next(index)))
    }

    /// Puts a chunk that is on no list on one.
    fn link(&mut self, index: u32, slot: u32, end: End) {
        let Ends { first, last } = self.ends(slot);
        let link = &mut self.links[index as usize];
        link.slot = slot as u16;
        (link.previous, link.next) = if end == End::Head { (NONE, first) } else { (last, NONE) };
        let ends = if first == NONE {
            Ends { first: index, last: index }
        } else if end == End::Head {
            self.links[first as usize].previous = index;
            Ends { first: index, last }
        } else {
            self.links[last as usize].next = index;
            Ends { first, last: index }
        };
        self.set_ends(slot, ends);
    }

    /// Takes a chunk off its list.
    fn unlink(&mut self, index: u32) {
        let Link { previous, next, slot, .. } = self.links[index as usize];
        let mut ends = self.ends(slot.into());
        match self.links.get_mut(previous as usize) {
            Some(link) => link.next = next,
            None => ends.first = next,
        }
        match self.links.get_mut(next as usize) {
            Some(link) => link.previous = previous,
            None => ends.last = previous,
        }
        self.set_ends(slot.into(), ends);
    }

    /// Moves a chunk to an end of a list, which may be its own.
    pub(crate) fn move_to(&mut self, index: u32, slot: u32, end: End) {
        self.unlink(index);
        self.link(index, slot, end);
    }

    fn set_ends(&mut self, slot: u32, ends: Ends) {
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
        self.links.capacity() * size_of::<Link>()
            + self.ends.capacity() * size_of::<Ends>()
            + self.occupied.capacity() * size_of::<u64>()
    }
}
