//! All chunks of a set, by position, and the lists they are on.

use crate::memory::reserve_one;
use crate::placement::Placement;
use crate::placement::{Chunk, NONE};
use crate::placement::{ChunkLists, End};
use crate::{ChunkId, FreeError, OutOfMemory};
use alloc::vec::Vec;
use core::iter::FusedIterator;

/// Chunks and vacant positions, the lists, the count of empty pages, and the placement's index.
#[derive(Clone, Debug)]
pub struct Chunks<P: Placement> {
    chunks: Vec<Chunk<P::Hints>>,
    /// Number of positions that have a chunk.
    pub(crate) live: u32,
    /// The lists of the positions.
    pub lists: ChunkLists,
    /// Bits of a unit.
    pub(crate) bits: u32,
    /// Number of populated pages without any object, except those of isolated chunks.
    pub(crate) empty_pages: u32,
    pub(crate) index: P::Index,
}

impl<P: Placement> Chunks<P> {
    pub(crate) fn new(lists: ChunkLists, bits: u32) -> Self {
        Self { chunks: Vec::new(), live: 0, lists, bits, empty_pages: 0, index: P::index(bits) }
    }

    /// The chunk at a position. Cost: constant.
    ///
    /// # Panics
    /// There is no such position.
    #[inline]
    #[must_use]
    pub fn at(&self, index: u32) -> &Chunk<P::Hints> {
        &self.chunks[index as usize]
    }

    /// The chunk at a position, to change its hints. Cost: constant.
    ///
    /// # Panics
    /// There is no such position.
    #[inline]
    pub fn at_mut(&mut self, index: u32) -> &mut Chunk<P::Hints> {
        &mut self.chunks[index as usize]
    }

    /// The position that `chunk` names. It may be vacant: a caller can construct the next name of a vacant position.
    #[inline]
    pub(crate) fn find(&self, chunk: ChunkId) -> Result<&Chunk<P::Hints>, FreeError> {
        let known = self.chunks.get(chunk.index as usize);
        known.filter(|known| known.generation == chunk.generation).ok_or(FreeError::UnknownChunk { chunk })
    }

    /// [`Chunks::find`], mutable.
    #[inline]
    pub(crate) fn find_mut(&mut self, chunk: ChunkId) -> Result<&mut Chunk<P::Hints>, FreeError> {
        let known = self.chunks.get_mut(chunk.index as usize);
        known.filter(|known| known.generation == chunk.generation).ok_or(FreeError::UnknownChunk { chunk })
    }

    /// The name of the chunk at a position.
    #[inline]
    pub(crate) fn id(&self, index: u32) -> ChunkId {
        ChunkId { index, generation: self.at(index).generation }
    }

    /// All positions, including those without a chunk.
    pub(crate) fn positions(&self) -> &[Chunk<P::Hints>] {
        &self.chunks
    }

    /// The positions of all chunks.
    pub(crate) fn indexes(&self) -> impl FusedIterator<Item = u32> {
        (0..).zip(&self.chunks).filter(|(_, chunk)| chunk.is_live()).map(|(index, _)| index)
    }

    /// Bytes of memory of the list of chunks and of the index, without the chunks' own maps and hints.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<Chunk<P::Hints>>() + P::index_bytes(&self.index)
    }

    /// Reserves memory for one more chunk. Returns the name that it will have.
    pub(crate) fn reserve(&mut self) -> Result<ChunkId, OutOfMemory> {
        let vacant = self.lists.first(self.lists.vacant());
        if vacant != NONE {
            return Ok(self.id(vacant));
        }
        self.lists.reserve()?;
        P::reserve(&mut self.index)?;
        reserve_one(&mut self.chunks)?;
        let index =
            u32::try_from(self.chunks.len()).ok().filter(|&index| index != NONE).ok_or(OutOfMemory)?;
        Ok(ChunkId { index, generation: 0 })
    }

    /// Adds a chunk without objects, under the name that [`Chunks::reserve`] returned.
    pub(crate) fn add(&mut self, id: ChunkId, chunk: Chunk<P::Hints>) {
        let free = self.lists.free();
        if let Some(vacant) = self.chunks.get_mut(id.index as usize) {
            *vacant = chunk;
            self.lists.move_to(id.index, free, End::Head);
        } else {
            self.chunks.push(chunk);
            self.lists.add(free);
        }
        self.lists.set_by_room(id.index, free);
        self.live += 1;
        P::update_pages(self, id.index, true);
    }

    /// Removes a chunk without objects. Its position becomes vacant, or is retired after the last generation, so that
    /// no name is used twice (P4).
    pub(crate) fn remove(&mut self, index: u32) {
        let chunk = self.at_mut(index);
        chunk.vacate();
        let next = chunk.generation.checked_add(1);
        chunk.generation = next.unwrap_or(chunk.generation);
        let slot = if next.is_some() { self.lists.vacant() } else { self.lists.retired() };
        self.lists.move_to(index, slot, End::Head);
        self.live -= 1;
        P::update_pages(self, index, false);
    }

    /// Relinks a chunk whose size class changed: at the head if its free area grew, at the tail if it shrank. A chunk
    /// that is set aside stays on its list. A chunk that was demoted since the last change stays on the list of full
    /// chunks. Cost: constant.
    #[doc(alias = "pcpu_chunk_relocate")]
    #[inline]
    pub fn relocate(&mut self, index: u32) {
        let (slot, was) = (P::slot(self, index), self.lists.by_room(index));
        if slot == was {
            return;
        }
        self.lists.set_by_room(index, slot);
        if !self.at(index).isolated {
            self.lists.move_to(index, slot, if slot > was { End::Head } else { End::Tail });
        }
    }
}
