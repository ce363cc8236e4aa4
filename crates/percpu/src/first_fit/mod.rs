//! The default placement: the lowest place in a page that has objects already.
//!
//! ```text
//!   page      | used ..########..##### | ......##........###### | no object | #####.......... |
//!   longest     8, or more               8, or more               0           10, or more
//!   chunk                         `most`: no page's `longest` is more
//!
//!   key       4 bits aligned to 2:  from here on ^ there may be a place for such requests; below there is none
//! ```
//!
//! A page with objects has a bound, `longest`: no free run that starts in it is longer. Bounds are raised at once when an
//! object is freed and lowered when a page was searched in vain (`bounds.rs`). The last sizes and alignments that were asked
//! for are remembered, each with a cursor below which no page has a place for it (`keys.rs`): most requests look at
//! one word.
//!
//! A request of up to 64 bits looks at its cursor's page, then at pages whose bound allows it, in the order of their places
//! (`find.rs`, `fit.rs`). A larger one goes to the chunk whose bound is little more than it asks for: chunks are listed by
//! bounds. With random sizes of 4 to 1024 bytes that leaves 5 % of the memory in holes, where the lowest place leaves 11 %.
//! If no page with objects has a place it takes the lowest page that has memory and no object, then the lowest
//! without memory; such a page is begun at its first bit. So a run never needs to go on from a page with objects into one
//! without: it counts as cut there, and where objects go there is memory. Objects of more than a page take a run over
//! several pages (`wide.rs`).
//!
//! Cost: a request some 100 instructions where its cursor has a place; else 16 pages are passed over in a dozen. A free looks
//! for the ends of the run that it makes, at most a page to either side.

mod bounds;
mod find;
mod fit;
mod index;
mod keys;
#[cfg(test)]
mod tests;
mod update;
mod validate;
mod wide;

use crate::chunks::Chunks;
use crate::geometry::{BIT_BYTES, BLOCK_BITS, Config, MIN_UNIT_BYTES};
use crate::memory::repeated;
use crate::placement::{Change, Location, Placement, Room, Strategy};
use crate::request::CheckedRequest;
use crate::{Broken, OutOfMemory};
use alloc::vec::Vec;
use freehold_units::Probe;
use index::Index;

/// The most bits that can be asked for; longer runs are not told apart.
const MOST_BITS: u32 = MIN_UNIT_BYTES / BIT_BYTES;

/// Chunks are listed by their bounds, in steps of so many bits.
const LIST_BITS: u32 = 32;

/// The lowest place in a page with objects; then the lowest page without.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstFit;

impl Placement for FirstFit {
    const NAME: &'static str = "first-fit";
}

/// A bound for each page of a chunk, in bits: no free run that starts in it is longer, each counted up to the next page
/// without objects; at most 1024, 0 for a page without objects.
type Longest = Vec<i16>;

/// The list of chunks whose bound is so many bits.
#[inline]
fn slot_of_bound(most: i16) -> u32 {
    most as u32 / LIST_BITS
}

impl Strategy for FirstFit {
    type Hints = Longest;

    type Index = Index;

    const ISOLATES: bool = true;

    const READIES_ASIDE: bool = false;

    fn lists(_: &Config) -> u32 {
        slot_of_bound(BLOCK_BITS as i16) + 1
    }

    fn hints(config: &Config) -> Result<Longest, OutOfMemory> {
        repeated(0, config.blocks())
    }

    fn index(bits: u32) -> Index {
        Index::new(bits)
    }

    fn reserve(index: &mut Index) -> Result<(), OutOfMemory> {
        index.reserve()
    }

    #[inline]
    fn slot(chunks: &Chunks<Self>, chunk: u32) -> u32 {
        if chunks.at(chunk).objects == 0 {
            chunks.slots.free()
        } else {
            slot_of_bound(chunks.index.most[chunk as usize])
        }
    }

    fn first_slot_with_pages() -> u32 {
        0
    }

    #[inline]
    fn find(chunks: &mut Chunks<Self>, request: &CheckedRequest, probe: &mut impl Probe) -> Option<Location> {
        find::find(chunks, request, probe)
    }

    #[inline]
    fn update_hint_alloc(chunks: &mut Chunks<Self>, taken: &Change, _: &mut impl Probe) {
        if taken.pages > 0 {
            update::begun(chunks, taken);
        }
    }

    #[inline]
    fn update_hint_free(chunks: &mut Chunks<Self>, freed: &Change, _: &mut impl Probe) {
        update::freed(chunks, freed);
    }

    fn update_pages(chunks: &mut Chunks<Self>, chunk: u32) {
        update::pages(chunks, chunk);
    }

    /// Bounds: a run as long as that may be there, a longer one is not.
    fn room(chunks: &Chunks<Self>, chunk: u32) -> Room {
        Room { longest: chunks.index.longest(chunk), start: None, first_free: 0 }
    }

    fn hint_bytes(longest: &Longest) -> usize {
        longest.capacity() * size_of::<i16>()
    }

    fn index_bytes(index: &Index) -> usize {
        index.bytes()
    }

    fn validate(chunks: &Chunks<Self>, chunk: u32) -> Result<(), Broken> {
        validate::validate(chunks, chunk)
    }
}
