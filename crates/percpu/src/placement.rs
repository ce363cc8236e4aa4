//! What a placement decides, and what it keeps for that.
//!
//! A set of chunks knows which bits are used, which pages have memory and which chunk is on which list. Where an
//! object goes is the placement's: which chunks to look at, where in them, and what to remember of their free
//! runs. [`Strategy`] is all that passes between the two; it cannot be named outside this crate.

use crate::chunk::Chunk;
use crate::chunks::Chunks;
use crate::geometry::Config;
use crate::request::Want;
use crate::slots::Slots;
use crate::{Broken, OutOfMemory};
use core::fmt::Debug;
use core::ops::Range;
use freehold_units::Probe;

/// Where objects go: [`Exact`](crate::Exact), [`Linux`](crate::Linux), [`LinuxFixed`](crate::LinuxFixed) or
/// [`Linux2017`](crate::Linux2017).
pub trait Placement: Strategy {
    /// The name, as the lab has it.
    const NAME: &'static str;
}

/// A place for an object: the chunk's position and the first bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub(crate) chunk: u32,
    pub(crate) bit: u32,
}

/// What is known of the free runs of a chunk, for those who look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// The longest free run that is known; empty, wherever it was last, if there is none.
    pub(crate) longest: Range<u32>,
    /// No bit below is free.
    pub(crate) first_free: u32,
}

/// What a free leaves to be done for its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gave {
    /// Nothing.
    Done,
    /// It may belong on another list now.
    Moves,
    /// It is to be looked at before the next request is placed.
    Unsettled,
}

/// What a set of chunks leaves to its placement.
pub trait Strategy: Sized {
    /// What a chunk knows of its free runs.
    type Hints: Clone + Debug;

    /// Whether chunks with many empty pages are set aside and emptied.
    const ISOLATES: bool;

    /// Whether each free in a chunk with empty pages may set it aside, and puts it before others that were. Otherwise
    /// only one that leaves a page empty may.
    const ASIDE_BY_EACH_FREE: bool;

    /// Whether pages are kept ready in chunks that were set aside, too, where they do not count as ready.
    const READIES_ASIDE: bool;

    /// The number of lists that chunks with room are kept on; list 0 is for those that nothing fits in.
    fn lists(config: &Config) -> u32;

    /// The hints of a chunk without objects.
    fn hints(config: &Config) -> Result<Self::Hints, OutOfMemory>;

    /// The list that a chunk belongs on by what is known of it.
    fn slot(chunk: &Chunk<Self::Hints>, slots: &Slots) -> u32;

    /// The list for chunks whose longest free run has so many bits.
    fn slot_of_run(bits: u32) -> u32;

    /// A place for the request among the chunks that are there. May move chunks between lists.
    fn find(chunks: &mut Chunks<Self::Hints>, want: &Want, probe: &mut impl Probe) -> Option<Spot>;

    /// `object` was placed where `find` said; the maps have it already. Returns whether the chunk may belong on another
    /// list now.
    fn took(chunk: &mut Chunk<Self::Hints>, object: &Range<u32>, probe: &mut impl Probe) -> bool;

    /// Something will be freed: what was put off until then is done.
    #[inline]
    fn pause(chunks: &mut Chunks<Self::Hints>, probe: &mut impl Probe) {
        let _ = (chunks, probe);
    }

    /// `object` was freed; the maps have it already.
    fn gave(chunk: &mut Chunk<Self::Hints>, object: &Range<u32>, probe: &mut impl Probe) -> Gave;

    /// Chunks will be looked at, filled with pages or destroyed: all that was put off is done.
    fn catch_up(chunks: &mut Chunks<Self::Hints>) {
        let _ = chunks;
    }

    /// What the next request would find known of the chunk's free runs.
    fn room(chunk: &Chunk<Self::Hints>) -> Room;

    /// Bytes that the hints hold outside themselves.
    fn hint_bytes(hints: &Self::Hints) -> usize;

    /// Recomputes every hint from the maps. `waits` says whether the chunk is one of those to be looked at.
    fn validate(chunk: &Chunk<Self::Hints>, waits: bool) -> Result<(), Broken>;
}
