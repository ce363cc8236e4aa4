//! Placements: the interface between a set of chunks and the policy that chooses the place of an object.
//!
//! ```text
//!   ChunkSet    checks requests, asks the placement for a place, marks objects, populates pages, balances
//!   Placement   which chunks to search, in which order, by which hints
//!   Chunks      every chunk, by position, and the lists that they are on
//!     Chunk       its maps (exact): which bits objects have, which pages have memory; its counts; the placement's hints
//!     ChunkLists  a list for each class of free room, and special ones
//! ```
//!
//! [`FirstFit`](crate::FirstFit) is the default. Another placement implements [`Placement`]; its hints decide which
//! places it finds and how fast. [`ChunkSet::validate`](crate::ChunkSet::validate) calls the placement's own check of
//! every hint.

mod chunk;
mod chunks;
mod lists;

use crate::config::Config;
use crate::{Broken, OutOfMemory};
use core::fmt::Debug;
use core::ops::Range;
use freehold_units::Probe;

pub use crate::geometry::{align_up, base_of, block_of, in_block};
pub use crate::object_map::ObjectMap;
pub use crate::pages::Pages;
pub use crate::request::BitRequest;
pub use chunk::{Chunk, NONE};
pub use chunks::Chunks;
pub use lists::{ChunkLists, End};

/// A place for an object: the chunk's position and the first bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The chunk's position.
    pub chunk: u32,
    /// The first bit.
    pub bit: u32,
}

/// An object that was placed or freed.
#[derive(Clone, Debug)]
pub struct Change {
    /// The chunk's position.
    pub chunk: u32,
    /// The object's bits.
    pub object: Range<u32>,
    /// Number of pages that had no object before it was placed, or have none after it was freed.
    pub pages: u32,
}

/// A placement's record of a chunk's free runs, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The longest run known to the placement, in bits.
    pub longest: u32,
    /// The start of that run, if the placement knows it.
    pub start: Option<u32>,
    /// No bit below is free.
    pub first_free: u32,
}

/// A policy that chooses the place of an object: [`FirstFit`](crate::FirstFit), or one of your own.
pub trait Placement: Sized {
    /// The placement's data for each chunk.
    type Hints: Clone + Debug;

    /// The placement's data for all chunks together.
    type Index: Clone + Debug;

    /// Whether chunks with many empty pages are set aside and emptied.
    const ISOLATES: bool;

    /// Whether balancing also populates pages of chunks that are set aside, whose pages do not count as ready.
    const READIES_ASIDE: bool;

    /// The number of lists for chunks with objects: at most 59, since one word marks all lists that have a chunk.
    fn list_count(config: &Config) -> u32;

    /// The hints of a chunk without objects.
    fn hints(config: &Config) -> Result<Self::Hints, OutOfMemory>;

    /// The index of a set without chunks, whose chunks will have `bits` bits each.
    fn index(bits: u32) -> Self::Index;

    /// Reserves memory in the index for one more chunk.
    fn reserve(index: &mut Self::Index) -> Result<(), OutOfMemory> {
        let _ = index;
        Ok(())
    }

    /// The list that a chunk belongs on by its hints.
    fn slot(chunks: &Chunks<Self>, chunk: u32) -> u32;

    /// The first list whose chunks may have pages without objects.
    fn first_list_with_pages() -> u32;

    /// A chunk on a list that has pages without memory, for balancing.
    fn unpopulated(chunks: &mut Chunks<Self>, slot: u32) -> Option<u32> {
        let has_bare = |&index: &u32| chunks.at(index).populated_pages < chunks.at(index).pages.count();
        chunks.lists.list(slot).find(has_bare)
    }

    /// Finds a place for the request in the chunks that exist. May move chunks between lists.
    fn find(chunks: &mut Chunks<Self>, request: &BitRequest, probe: &mut impl Probe) -> Option<Location>;

    /// Updates the hints and the chunk's list for an object that was placed. The maps already contain it.
    fn update_hint_alloc(chunks: &mut Chunks<Self>, taken: &Change, probe: &mut impl Probe);

    /// Updates the hints and the chunk's list for an object that was freed. The maps no longer contain it.
    fn update_hint_free(chunks: &mut Chunks<Self>, freed: &Change, probe: &mut impl Probe);

    /// Updates the data of a chunk that was added or removed, or whose pages were populated or depopulated. `ready` if
    /// pages may have been populated other than for an object.
    #[inline]
    fn update_pages(chunks: &mut Chunks<Self>, chunk: u32, ready: bool) {
        let _ = (chunks, chunk, ready);
    }

    /// The placement's present record of the chunk's free runs.
    fn room(chunks: &Chunks<Self>, chunk: u32) -> Room;

    /// Bytes that the hints hold outside themselves.
    fn hint_bytes(hints: &Self::Hints) -> usize;

    /// Bytes that the index holds outside itself.
    fn index_bytes(index: &Self::Index) -> usize {
        let _ = index;
        0
    }

    /// Checks every hint of a position against the maps; a vacant position is checked as one without objects.
    fn validate(chunks: &Chunks<Self>, chunk: u32) -> Result<(), Broken>;
}
