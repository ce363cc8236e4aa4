//! Every chunk of a set by position, and their lists.
//!
//! Invariant P1: a chunk is on exactly one list, linked both ways, and a list's ends and occupied bit agree with
//! its links.

use crate::chunk::{Chunk, NONE};
use crate::exact::Front;
use crate::slots::{Ends, Slots};
use crate::{ChunkId, FreeError, OutOfMemory};
use alloc::vec::Vec;

/// Chunks and vacant positions, the lists, and the count of empty pages.
#[derive(Clone, Debug)]
pub struct Chunks<H> {
    chunks: Vec<Chunk<H>>,
    /// The first vacant position.
    vacant: u32,
    live: u32,
    pub(crate) slots: Slots,
    /// Bits of a unit.
    pub(crate) bits: u32,
    /// Populated pages without any object, but for those of isolated chunks.
    pub(crate) empty_pages: u32,
    /// Where the default placement puts requests like the last one; others leave it alone.
    pub(crate) front: Front,
}

/// Where in a list a chunk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Head,
    Tail,
}

impl<H> Chunks<H> {
    pub(crate) fn new(slots: Slots, bits: u32) -> Self {
        Self { chunks: Vec::new(), vacant: NONE, live: 0, slots, bits, empty_pages: 0, front: Front::NONE }
    }

    #[inline]
    pub(crate) fn at(&self, index: u32) -> &Chunk<H> {
        &self.chunks[index as usize]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, index: u32) -> &mut Chunk<H> {
        &mut self.chunks[index as usize]
    }

    /// What is at the position that `chunk` names. It is vacant if the name was made up.
    #[inline]
    pub(crate) fn find(&self, chunk: ChunkId) -> Result<&Chunk<H>, FreeError> {
        let known = self.chunks.get(chunk.index as usize);
        known.filter(|known| known.generation == chunk.generation).ok_or(FreeError::UnknownChunk { chunk })
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn find_mut(&mut self, chunk: ChunkId) -> Result<&mut Chunk<H>, FreeError> {
        let known = self.chunks.get_mut(chunk.index as usize);
        known.filter(|known| known.generation == chunk.generation).ok_or(FreeError::UnknownChunk { chunk })
    }

    /// The name of the chunk at a position.
    #[inline]
    pub(crate) fn id(&self, index: u32) -> ChunkId {
        ChunkId { index, generation: self.at(index).generation }
    }

    /// The positions of all chunks.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.chunks).filter(|(_, chunk)| chunk.is_live()).map(|(index, _)| index)
    }

    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// Bytes held for chunks themselves, not for what they point at.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<Chunk<H>>()
    }

    /// The position that the next chunk will have, and the generation it must carry; room for it is made.
    pub(crate) fn reserve(&mut self) -> Result<ChunkId, OutOfMemory> {
        if self.vacant != NONE {
            return Ok(self.id(self.vacant));
        }
        let len = self.chunks.len();
        if len == self.chunks.capacity() {
            self.chunks.try_reserve_exact((len / 16).max(4)).map_err(|_| OutOfMemory)?;
        }
        let index = u32::try_from(len).ok().filter(|&index| index != NONE).ok_or(OutOfMemory)?;
        Ok(ChunkId { index, generation: 0 })
    }

    /// Adds a chunk, on no list yet, where [`Chunks::reserve`] said.
    pub(crate) fn add(&mut self, id: ChunkId, chunk: Chunk<H>) {
        if id.index == self.vacant {
            self.vacant = self.at(id.index).next;
            *self.at_mut(id.index) = chunk;
        } else {
            self.chunks.push(chunk);
        }
        self.live += 1;
    }

    /// Makes the position of a chunk, which is on no list, vacant.
    pub(crate) fn remove(&mut self, index: u32) {
        let vacant = core::mem::replace(&mut self.vacant, index);
        let chunk = self.at_mut(index);
        chunk.vacate();
        chunk.next = vacant;
        self.live -= 1;
    }

    /// The chunks of a list, the first one first.
    pub(crate) fn list(&self, slot: u32) -> impl Iterator<Item = u32> {
        let chunk = |index: u32| (index != NONE).then_some(index);
        let first = chunk(self.slots.ends(slot).first);
        core::iter::successors(first, move |&index| chunk(self.at(index).next))
    }

    /// Puts a chunk that is on no list on one.
    pub(crate) fn link(&mut self, index: u32, slot: u32, end: End) {
        let Ends { first, last } = self.slots.ends(slot);
        let (previous, next) = if end == End::Head { (NONE, first) } else { (last, NONE) };
        let chunk = self.at_mut(index);
        (chunk.slot, chunk.previous, chunk.next) = (slot, previous, next);
        if previous != NONE {
            self.at_mut(previous).next = index;
        }
        if next != NONE {
            self.at_mut(next).previous = index;
        }
        let first = if previous == NONE { index } else { first };
        let last = if next == NONE { index } else { last };
        self.slots.set_ends(slot, Ends { first, last });
    }

    /// Takes a chunk off its list.
    pub(crate) fn unlink(&mut self, index: u32) {
        let &Chunk { slot, previous, next, .. } = self.at(index);
        let Ends { mut first, mut last } = self.slots.ends(slot);
        if previous == NONE {
            first = next;
        } else {
            self.at_mut(previous).next = next;
        }
        if next == NONE {
            last = previous;
        } else {
            self.at_mut(next).previous = previous;
        }
        self.slots.set_ends(slot, Ends { first, last });
    }

    /// Moves a chunk to an end of a list, which may be its own.
    pub(crate) fn move_to(&mut self, index: u32, slot: u32, end: End) {
        self.unlink(index);
        self.link(index, slot, end);
    }

    /// Moves a chunk whose room changed to the list it belongs on now: to the head of one of more room, to the tail
    /// of one of less. One whose list by its room is what it was stays, wherever it was put meanwhile, and so does
    /// one that is set aside.
    #[doc(alias = "pcpu_chunk_relocate")]
    #[inline]
    pub(crate) fn relocate(&mut self, index: u32, slot: u32) {
        let chunk = self.at_mut(index);
        let was = core::mem::replace(&mut chunk.slot_by_room, slot);
        if slot != was && !chunk.isolated {
            self.move_to(index, slot, if slot > was { End::Head } else { End::Tail });
        }
    }
}
