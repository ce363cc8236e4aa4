//! The default placement: the lowest place in a page that has objects already.
//!
//! ```text
//!   page      | used ..########..##### | ......##........###### | no object | #####.......... |
//!   longest     8, or more               8, or more               0           10, or more
//!   chunk                         `most`: no page's `longest` is more
//!
//!   key                             ^ cursor of requests for 4 bits aligned to 2: there is no place for one below
//! ```
//!
//! A page with objects has a bound, `longest`: no free run that starts in it is longer. A free raises bounds at once; a search
//! that fails in a page lowers the page's. The last sizes and alignments asked for are kept as keys, each with a cursor below
//! which no page has a place for it (`keys.rs`), so that most requests look at one word.
//!
//! A request of up to 64 bits searches its cursor's page, then pages whose bound allows it, by ascending chunk and page
//! (`find.rs`, `fit.rs`). A larger one searches the chunks with the smallest sufficient bound first, for which chunks are
//! listed by bound: that keeps long runs whole, so that a churn of random sizes needs less memory (`freehold bench percpu`).
//! If no page with objects has a place, the request begins the lowest page that has memory and no object, else the lowest
//! without memory, at the page's first bit. So no run has to cross from a page with objects
//! into one without: it counts as ending there, and a place in a page with objects always has memory. Objects of more than a page take a run over
//! several pages, with objects or without (`wide.rs`).
//!
//! Cost: one word of the map for a request whose cursor has a place; else linear in pages, 16 bounds at a time. A free finds
//! the ends of the run that it makes, at most a page to either side. `freehold replay --instructions` counts both.

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

/// The most bits that a request can ask for. Bounds go no higher.
const MOST_BITS: u32 = MIN_UNIT_BYTES / BIT_BYTES;

/// Bits of bound from one list of chunks to the next.
const LIST_BITS: u32 = 32;

/// The default placement: first fit in pages with objects, then the lowest page without.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstFit;

impl Placement for FirstFit {
    const NAME: &'static str = "first-fit";
}

/// For each page of a chunk, an upper bound in bits of the free runs that start in it, at most 1024. A run counts as ending
/// where a page without objects begins. 0 for a page without objects.
type Longest = Vec<i16>;

/// The list for chunks whose bound is `most` bits.
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

    /// An upper bound: there is no longer run.
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
