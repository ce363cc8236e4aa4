//! Where the memory of chunks comes from.

use crate::{ChunkId, OutOfMemory};
use core::ops::Range;

/// What a set of chunks needs of the memory below it. Pages are numbered within a unit, and each call is about
/// them in the units of every CPU.
///
/// The set keeps track of which pages have memory: none is populated twice, and only populated ones are given
/// back. The unit type has all memory there is, for those who only want offsets.
pub trait Backing {
    /// Makes place for a chunk: addresses for all its units, no memory yet.
    ///
    /// # Errors
    /// There is none; the allocation that needed it fails.
    fn create(&mut self, chunk: ChunkId) -> Result<(), OutOfMemory> {
        let _ = chunk;
        Ok(())
    }

    /// Gives up the place of a chunk, whose pages were all given back.
    fn destroy(&mut self, chunk: ChunkId) {
        let _ = chunk;
    }

    /// Puts zeroed memory behind pages.
    ///
    /// # Errors
    /// There is not enough; then it was put behind none of them.
    fn populate(&mut self, chunk: ChunkId, pages: Range<u32>) -> Result<(), OutOfMemory> {
        let _ = (chunk, pages);
        Ok(())
    }

    /// Takes the memory from behind pages that no object is in.
    fn depopulate(&mut self, chunk: ChunkId, pages: Range<u32>) {
        let _ = (chunk, pages);
    }
}

impl Backing for () {}
