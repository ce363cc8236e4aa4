//! The memory below a set of chunks.

use crate::{ChunkId, OutOfMemory};
use core::ops::Range;

/// Supplies the memory of chunks. Pages are numbered within a unit; a call concerns those pages in the units of every CPU.
///
/// The set tracks which pages have memory: it never populates one twice, and gives back only populated ones (P5). `()`
/// implements the trait for sets that only hand out offsets: nothing is done, and nothing fails.
pub trait Backing {
    /// Reserves addresses for all units of a chunk, without memory.
    ///
    /// # Errors
    /// There are none left. The allocation that needed the chunk fails.
    fn create(&mut self, chunk: ChunkId) -> Result<(), OutOfMemory> {
        let _ = chunk;
        Ok(())
    }

    /// Releases the addresses of a chunk. All its pages were given back before.
    fn destroy(&mut self, chunk: ChunkId) {
        let _ = chunk;
    }

    /// Puts zeroed memory behind pages.
    ///
    /// # Errors
    /// There is not enough. None of the pages has memory then.
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
