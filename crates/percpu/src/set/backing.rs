//! The memory below a set of chunks.

use crate::{ChunkId, OutOfMemory};
use core::ops::Range;

/// Supplies the memory of chunks. Pages are numbered within a unit, and each call applies to those pages in the units
/// of all CPUs.
///
/// The set tracks which pages have memory: it never populates a page twice, and depopulates only populated ones (P5).
/// `()` implements the trait for sets that only hand out offsets: it does nothing and never fails. The costs in the
/// docs of a set count a call as one step.
pub trait Backing {
    /// The most chunks at one time: an allocation that needs one more is refused with [`AllocError::AtCapacity`](crate::AllocError::AtCapacity).
    fn most_chunks(&self) -> u32 {
        u32::MAX
    }

    /// Reserves addresses for all units of a chunk, without memory. The chunk's index is below [`Backing::most_chunks`].
    ///
    /// # Errors
    /// The system has no addresses. The allocation that needed the chunk fails.
    fn create(&mut self, chunk: ChunkId) -> Result<(), OutOfMemory> {
        let _ = chunk;
        Ok(())
    }

    /// Releases the addresses of a chunk, after all its pages were depopulated.
    fn destroy(&mut self, chunk: ChunkId) {
        let _ = chunk;
    }

    /// Puts zeroed memory behind pages.
    ///
    /// # Errors
    /// There is not enough memory. Then none of the pages may have memory.
    fn populate(&mut self, chunk: ChunkId, pages: Range<u32>) -> Result<(), OutOfMemory> {
        let _ = (chunk, pages);
        Ok(())
    }

    /// Releases the memory of pages, none of which has an object.
    fn depopulate(&mut self, chunk: ChunkId, pages: Range<u32>) {
        let _ = (chunk, pages);
    }
}

impl Backing for () {}
