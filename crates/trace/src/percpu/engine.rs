//! The one trait that every engine of the family is driven through.

use super::ChunkLine;
use freehold_units::{Align, Probe};

/// A chunk as its engine knows it: a small position, and how many chunks had it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkKey {
    /// The position.
    pub index: u32,
    /// Chunks that had it before.
    pub generation: u32,
}

/// Where an engine put an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The chunk.
    pub chunk: ChunkKey,
    /// Where it starts in every unit of the chunk, in bytes.
    pub offset_bytes: u32,
}

/// What an engine takes. Pages and bytes are those of one unit, but for `metadata_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Chunks, the empty ones included.
    pub chunks: u64,
    /// Live objects.
    pub objects: u64,
    /// Bytes that are not in objects.
    pub free_bytes: u64,
    /// Pages that have memory.
    pub populated_pages: u64,
    /// Of these, pages without any object that are ready for use.
    pub empty_pages: u64,
    /// Bytes held for the engine's own structures.
    pub metadata_bytes: u64,
}

/// For each chunk its number, if it ever held an object, and whether each of its pages has memory; pages behind the last
/// have none.
pub type PageMap = Vec<(Option<u32>, Vec<bool>)>;

/// A per-CPU allocator, ours or another's.
pub trait Engine {
    /// Places an object of `size_bytes`, not 0, at a multiple of `align`; if `atomic`, in pages that have memory.
    /// `None` if nothing fits, or the engine cannot place such an object.
    fn alloc(
        &mut self,
        size_bytes: u64,
        align: Align,
        atomic: bool,
        probe: &mut impl Probe,
    ) -> Option<Location>;

    /// Frees the object that starts there; whether there was one.
    fn free(&mut self, at: Location, probe: &mut impl Probe) -> bool;

    /// Whether an operation left work for later.
    fn wants_balance(&self) -> bool {
        false
    }

    /// Does that work.
    fn balance(&mut self) {}

    /// Lets it have so many pages with memory in each unit at most, or as many as it likes: requests that need more
    /// are refused. Whether it can be limited.
    fn limit_pages(&mut self, most: Option<u64>) -> bool {
        let _ = most;
        false
    }

    /// How many more it may have; `None` if there is no limit.
    fn pages_left(&self) -> Option<u64> {
        None
    }

    /// Pages that have memory in each unit; cheap, to be asked after every operation.
    fn populated_pages(&self) -> u64;

    /// What it takes now.
    fn footprint(&self) -> Footprint;

    /// A line for every chunk, in the order of the engine's own lists; `number` knows how chunks are called.
    /// `None` if it keeps nothing of the kind.
    fn chunk_lines(&self, number: &dyn Fn(ChunkKey) -> Option<u32>) -> Option<Vec<ChunkLine>> {
        let _ = number;
        None
    }

    /// Which pages of every chunk have memory, for judges; `number` knows how chunks are called. `None` if it has no
    /// pages.
    fn page_map(&self, number: &dyn Fn(ChunkKey) -> Option<u32>) -> Option<PageMap> {
        let _ = number;
        None
    }

    /// How often pages got memory or lost it.
    fn page_changes(&self) -> u64 {
        0
    }

    /// The same engine in the same state; `None` if it cannot be copied.
    fn duplicate(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Checks its invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}
