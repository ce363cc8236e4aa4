//! The lists of chunks.
//!
//! ```text
//!   0     1     2    ...   lists - 1  |  sidelined   free   to depopulate  |  vacant      retired
//!   full  by the chunk's free room     |  emptied     no      to be         |  positions without a chunk:
//!                                      |              object  emptied       |  to be used  never again
//! ```
//!
//! A list is a ring through a head, so linking and unlinking have no special cases. Rings are stored apart from the
//! chunks, so moving a chunk touches no other chunk:
//!
//! ```text
//!   ring   | head of 0 | head of 1 | ... | head of retired | position 0 | position 1 | ...
//! ```
//!
//! One word has a bit for each list, set if the list has a chunk, so that a search skips empty lists.
//!
//! Invariant P1: a chunk is on exactly one list, linked both ways, and a list's occupied bit agrees with its ring.

use super::NONE;
use crate::OutOfMemory;
use crate::memory::{reserve_one, with_room};
use alloc::vec::Vec;

/// The end of a list at which a chunk is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Before all other chunks.
    Head,
    /// After all other chunks.
    Tail,
}

/// A head's or a position's neighbours in a ring.
#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
}

/// The lists of a position.
#[derive(Clone, Copy, Debug)]
struct Membership {
    slot: u16,
    /// The list of the chunk's size class at the last change. The chunk may be on another list: set aside, or demoted.
    by_room: u16,
}

/// All lists, and a bit for each that has chunks.
#[derive(Clone, Debug)]
pub struct ChunkLists {
    ring: Vec<Link>,
    positions: Vec<Membership>,
    /// A bit for each list, set if it has a chunk.
    occupied: u64,
    /// Number of lists before the special ones.
    lists: u32,
}

/// The number of special lists.
const SPECIAL: u32 = 5;

impl ChunkLists {
    /// `lists` lists by size class, and the special ones, all empty.
    pub(crate) fn new(lists: u32) -> Result<Self, OutOfMemory> {
        let heads = lists + SPECIAL;
        let mut ring = with_room(heads)?;
        ring.extend((0..heads).map(|head| Link { previous: head, next: head }));
        debug_assert!(heads <= u64::BITS, "a word marks all lists");
        Ok(Self { ring, positions: Vec::new(), occupied: 0, lists })
    }

    /// Reserves memory for one more position.
    pub(crate) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        if self.ring.len() == u32::MAX as usize {
            return Err(OutOfMemory);
        }
        reserve_one(&mut self.ring)?;
        reserve_one(&mut self.positions)
    }

    /// Adds a position and links it on a list.
    pub(crate) fn add(&mut self, slot: u32) {
        let link = self.ring.len() as u32;
        self.ring.push(Link { previous: link, next: link });
        self.positions.push(Membership { slot: slot as u16, by_room: slot as u16 });
        self.link(link, slot, End::Head);
    }

    /// The list of chunks whose empty pages were depopulated, used only when other chunks are full.
    pub(crate) fn sidelined(&self) -> u32 {
        self.lists
    }

    /// The list of chunks without any object. Cost: constant.
    pub fn free(&self) -> u32 {
        self.lists + 1
    }

    /// The list of chunks whose empty pages will be depopulated. Cost: constant.
    pub fn to_depopulate(&self) -> u32 {
        self.lists + 2
    }

    /// The list of vacant positions.
    pub(crate) fn vacant(&self) -> u32 {
        self.lists + 3
    }

    /// The list of retired positions, which have no name left.
    pub(crate) fn retired(&self) -> u32 {
        self.lists + 4
    }

    /// The number of lists of chunks. The lists of vacant and retired positions come after them.
    pub(crate) fn count(&self) -> u32 {
        self.vacant()
    }

    /// The link of a position.
    #[inline]
    fn link_of(&self, index: u32) -> u32 {
        index + self.lists + SPECIAL
    }

    /// The position of a link, or [`NONE`] for a head.
    #[inline]
    fn position(&self, link: u32) -> u32 {
        link.checked_sub(self.lists + SPECIAL).unwrap_or(NONE)
    }

    #[inline]
    fn at(&self, link: u32) -> &Link {
        &self.ring[link as usize]
    }

    #[inline]
    fn at_mut(&mut self, link: u32) -> &mut Link {
        &mut self.ring[link as usize]
    }

    /// The first chunk of a list. Cost: constant.
    #[inline]
    pub fn first(&self, slot: u32) -> u32 {
        self.position(self.at(slot).next)
    }

    /// The last chunk of a list.
    pub(crate) fn last(&self, slot: u32) -> u32 {
        self.position(self.at(slot).previous)
    }

    /// The previous chunk on its list.
    pub(crate) fn previous(&self, index: u32) -> u32 {
        self.position(self.at(self.link_of(index)).previous)
    }

    /// The next chunk on its list. Cost: constant.
    #[inline]
    pub fn next(&self, index: u32) -> u32 {
        self.position(self.at(self.link_of(index)).next)
    }

    /// The list that a chunk is on.
    #[inline]
    pub(crate) fn of(&self, index: u32) -> u32 {
        self.positions[index as usize].slot.into()
    }

    /// The list of a chunk's size class at the last change.
    #[inline]
    pub(crate) fn by_room(&self, index: u32) -> u32 {
        self.positions[index as usize].by_room.into()
    }

    #[inline]
    pub(crate) fn set_by_room(&mut self, index: u32, slot: u32) {
        self.positions[index as usize].by_room = slot as u16;
    }

    /// The chunks of a list, from first to last.
    pub(crate) fn list(&self, slot: u32) -> impl Iterator<Item = u32> {
        let chunk = |index: u32| (index != NONE).then_some(index);
        core::iter::successors(chunk(self.first(slot)), move |&index| chunk(self.next(index)))
    }

    /// Moves a chunk to an end of a list, which may be its present list. Cost: constant.
    #[inline]
    pub fn move_to(&mut self, index: u32, slot: u32, end: End) {
        let (link, was) = (self.link_of(index), self.of(index));
        let Link { previous, next } = *self.at(link);
        self.at_mut(previous).next = next;
        self.at_mut(next).previous = previous;
        self.mark(was);
        self.positions[index as usize].slot = slot as u16;
        self.link(link, slot, end);
    }

    /// Links a position that is on no list to an end of a list.
    #[inline]
    fn link(&mut self, link: u32, slot: u32, end: End) {
        let head = *self.at(slot);
        let (previous, next) = if end == End::Head { (slot, head.next) } else { (head.previous, slot) };
        *self.at_mut(link) = Link { previous, next };
        self.at_mut(previous).next = link;
        self.at_mut(next).previous = link;
        self.mark(slot);
    }

    /// Sets or clears a list's occupied bit.
    #[inline]
    fn mark(&mut self, slot: u32) {
        let some = u64::from(self.at(slot).next != slot);
        self.occupied = self.occupied & !(1 << slot) | some << slot;
    }

    /// The first list in `slot..end` that has a chunk. Cost: constant.
    #[inline]
    pub fn next_occupied(&self, slot: u32, end: u32) -> Option<u32> {
        let found = (self.occupied & !0 << slot).trailing_zeros();
        (found < end).then_some(found)
    }

    /// Whether the link after `last`, the list's last chunk or [`NONE`], is the list's own head.
    pub(crate) fn ends_with(&self, slot: u32, last: u32) -> bool {
        let link = if last == NONE { slot } else { self.link_of(last) };
        self.at(link).next == slot && self.at(slot).previous == link
    }

    /// The number of links, heads included.
    #[cfg(test)]
    pub(crate) fn links(&self) -> u32 {
        self.ring.len() as u32
    }

    /// The link that one leads to.
    #[cfg(test)]
    pub(crate) fn leads_to(&self, from: u32) -> u32 {
        self.ring[from as usize].next
    }

    /// Redirects a link. Only tests do this, to break the ring.
    #[cfg(test)]
    pub(crate) fn set_link(&mut self, from: u32, to: u32) {
        self.ring[from as usize].next = to;
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.ring.capacity() * size_of::<Link>() + self.positions.capacity() * size_of::<Membership>()
    }
}
