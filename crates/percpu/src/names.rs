//! Names of chunks and places of objects.

use core::fmt;

/// The name of a chunk. A name is never reused, but the chunk's position is (P4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl ChunkId {
    /// The name with the parts that [`ChunkId::index`] and [`ChunkId::generation`] returned. A set refuses the name of
    /// a chunk that it does not have. Cost: constant.
    #[must_use]
    pub const fn from_parts(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// The chunk's position in the set: small, and reused once the chunk is gone. Cost: constant.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The number of chunks that had the position before. Cost: constant.
    #[must_use]
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunk {}.{}", self.index, self.generation)
    }
}

/// The place of an object: its chunk, and its offset in every unit of the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset {
    /// The chunk.
    pub chunk: ChunkId,
    /// The object's start in each unit, in bytes.
    pub offset_bytes: u32,
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:#x}", self.chunk, self.offset_bytes)
    }
}
