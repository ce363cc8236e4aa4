//! What a placement decides, and what it keeps for that.
//!
//! A set of chunks knows which bits are used, which pages have memory and which chunk is on which list. Where an
//! object goes is the placement's: which chunks to look at, where in them, and what to remember of their free
//! runs. [`Strategy`] is all that passes between the two; it cannot be named outside this crate.

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

/// What is known of the free runs of a chunk, for those who look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The longest run in bits, as far as the placement knows.
    pub(crate) longest: u32,
    /// Where that starts, if the placement knows.
    pub(crate) start: Option<u32>,
    /// No bit below is free.
    pub(crate) first_free: u32,
}

/// What a set of chunks leaves to its placement.
pub trait Strategy: Sized {
    /// What a chunk knows of its free runs.
    type Hints: Clone + Debug;

    /// What is known of all chunks together.
    type Index: Clone + Debug;

    /// Whether chunks with many empty pages are set aside and emptied.
    const ISOLATES: bool;

    /// Whether pages are kept ready in chunks that were set aside, too, where they do not count as ready.
    const READIES_ASIDE: bool;

    /// The number of lists that chunks with objects are kept on.
    fn lists(config: &Config) -> u32;

    /// The hints of a chunk without objects.
    fn hints(config: &Config) -> Result<Self::Hints, OutOfMemory>;

    /// What is known of no chunks, of so many bits each.
    fn index(bits: u32) -> Self::Index;

    /// Makes room in the index for one more chunk.
    fn reserve(index: &mut Self::Index) -> Result<(), OutOfMemory> {
        let _ = index;
        Ok(())
    }

    /// The list that a chunk belongs on by what is known of it.
    fn slot(chunks: &Chunks<Self>, chunk: u32) -> u32;

    /// The first list whose chunks may have pages without objects.
    fn first_slot_with_pages() -> u32;

    /// A place for the request among the chunks that are there. May move chunks between lists.
    fn find(chunks: &mut Chunks<Self>, request: &CheckedRequest, probe: &mut impl Probe) -> Option<Location>;

    /// An object was placed where `find` said; the maps have it already. Puts the hints and the chunk's list right.
    fn update_hint_alloc(chunks: &mut Chunks<Self>, taken: &Change, probe: &mut impl Probe);

    /// An object was freed; the maps have it no more. Puts the hints and the chunk's list right.
    fn update_hint_free(chunks: &mut Chunks<Self>, freed: &Change, probe: &mut impl Probe);

    /// A chunk came, is gone, or has other pages with memory and without objects than before.
    #[inline]
    fn update_pages(chunks: &mut Chunks<Self>, chunk: u32) {
        let _ = (chunks, chunk);
    }

    /// What the next request would find known of the chunk's free runs.
    fn room(chunks: &Chunks<Self>, chunk: u32) -> Room;

    /// Bytes that the hints hold outside themselves.
    fn hint_bytes(hints: &Self::Hints) -> usize;

    /// Bytes that the index holds outside itself.
    fn index_bytes(index: &Self::Index) -> usize {
        let _ = index;
        0
    }

    /// Checks every hint of a chunk against the maps.
    fn validate(chunks: &Chunks<Self>, chunk: u32) -> Result<(), Broken>;
}
