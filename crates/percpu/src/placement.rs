//! The interface between a set of chunks and its placement.
//!
//! The set keeps the maps: which bits are used, which pages have memory, which chunk is on which list. The placement decides
//! where an object goes: which chunks to search, in which order, with which hints. [`Strategy`] is the whole interface; it
//! cannot be named outside this crate.

use crate::chunks::Chunks;
use crate::geometry::Config;
use crate::request::CheckedRequest;
use crate::{Broken, OutOfMemory};
use core::fmt::Debug;
use core::ops::Range;
use freehold_units::Probe;

/// Where objects go: [`FirstFit`](crate::FirstFit), [`Linux`](crate::Linux), [`LinuxFixed`](crate::LinuxFixed) or
/// [`Linux2017`](crate::Linux2017).
pub trait Placement: Strategy {
    /// The name, as the lab has it.
    const NAME: &'static str;
}

/// A place for an object: the chunk's position and the first bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    pub(crate) chunk: u32,
    pub(crate) bit: u32,
}

/// An object that came or went.
#[derive(Clone, Debug)]
pub struct Change {
    /// The chunk's position.
    pub(crate) chunk: u32,
    /// Its bits.
    pub(crate) object: Range<u32>,
    /// Pages that had no object before it came, or have none now that it is gone.
    pub(crate) pages: u32,
}

/// What a placement knows of a chunk's free runs, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The longest run in bits, as far as the placement knows.
    pub(crate) longest: u32,
    /// Where that starts, if the placement knows.
    pub(crate) start: Option<u32>,
    /// No bit below is free.
    pub(crate) first_free: u32,
}

/// What a placement does for a set of chunks.
pub trait Strategy: Sized {
    /// What the placement keeps for each chunk.
    type Hints: Clone + Debug;

    /// What the placement keeps for all chunks together.
    type Index: Clone + Debug;

    /// Whether chunks with many empty pages are set aside and emptied.
    const ISOLATES: bool;

    /// Whether balancing also populates pages of chunks that are set aside, where they do not count as ready.
    const READIES_ASIDE: bool;

    /// The number of lists for chunks with objects.
    fn lists(config: &Config) -> u32;

    /// The hints of a chunk without objects.
    fn hints(config: &Config) -> Result<Self::Hints, OutOfMemory>;

    /// The index of a set without chunks, whose chunks will have so many bits each.
    fn index(bits: u32) -> Self::Index;

    /// Reserves room in the index for one more chunk.
    fn reserve(index: &mut Self::Index) -> Result<(), OutOfMemory> {
        let _ = index;
        Ok(())
    }

    /// The list that a chunk belongs on by its hints.
    fn slot(chunks: &Chunks<Self>, chunk: u32) -> u32;

    /// The first list whose chunks may have pages without objects.
    fn first_slot_with_pages() -> u32;

    /// A chunk on a list that has pages without memory, for balancing.
    fn unpopulated(chunks: &mut Chunks<Self>, slot: u32) -> Option<u32> {
        let has_bare = |&index: &u32| chunks.at(index).populated_pages < chunks.at(index).pages.count();
        chunks.slots.list(slot).find(has_bare)
    }

    /// Finds a place for the request in the chunks that exist. May move chunks between lists.
    fn find(chunks: &mut Chunks<Self>, request: &CheckedRequest, probe: &mut impl Probe) -> Option<Location>;

    /// Updates the hints and the chunk's list for an object that was placed. The maps have it already.
    fn update_hint_alloc(chunks: &mut Chunks<Self>, taken: &Change, probe: &mut impl Probe);

    /// Updates the hints and the chunk's list for an object that was freed. The maps have it no longer.
    fn update_hint_free(chunks: &mut Chunks<Self>, freed: &Change, probe: &mut impl Probe);

    /// Updates what is known of a chunk that was added or removed, or whose pages gained or lost memory. `ready` if pages may
    /// have gained memory for no object in particular.
    #[inline]
    fn update_pages(chunks: &mut Chunks<Self>, chunk: u32, ready: bool) {
        let _ = (chunks, chunk, ready);
    }

    /// What is known of the chunk's free runs now.
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
