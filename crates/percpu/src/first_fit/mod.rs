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
//! Upper bounds and a cursor say where to search:
//!
//! - `longest` of a page: an upper bound of the free runs that start in the page (P7). A free raises it at once. A
//!   search that finds no place in the page lowers it.
//! - `most` of a chunk: for each alignment, an upper bound of the bits that fit in a page of the chunk. A table of
//!   maxima over all chunks (`maxima.rs`) finds the next chunk whose bound is high enough.
//! - The cursor of a key, which is a size and an alignment: no page below it has a place for the key (P8). There are 24
//!   keys (`keys.rs`), so that most requests find their place in the one word at their cursor. Requests of up to 64
//!   bits have a key, and aligned ones of up to a page.
//!
//! A request takes the first place that these steps find:
//!
//! 1. With a key: its cursor's page, then pages by ascending chunk and page, except those whose bound is too low
//!    (`find.rs`, `fit.rs`).
//! 2. Up to a page without a key: chunks by ascending bound. Chunks are on lists by bound, in steps of 4, 8 and 32
//!    bits. Tight chunks come first so that long runs stay whole: a churn of random sizes then needs less memory
//!    (`freehold bench percpu --workload churn`).
//! 3. The lowest populated page without objects, in the first chunk that has one; else a page without memory. The
//!    object goes to the page's first bit.
//!
//! A page without objects ends a run, so a place found in steps 1 and 2 always has memory. An object of more than a
//! page takes a run over several pages, with objects or without. Each chunk has a bound of such runs, and a page below
//! which none starts (`wide.rs`).
//!
//! Cost of a request: amortized O(log n) steps in the tables of n chunks, and a constant number of pages visited. A request
//! for more than a page, or with an alignment, visits the pages of the chunk up to its place, which may be all: a page's
//! bound is that of any alignment, so a free below misaligned holes sends the next aligned request past them again.
//!
//! A fruitless visit of a chunk makes its bound for that alignment exact; one for up to 64 bits without an alignment lowers
//! it by at least a bit. So each free is charged a bounded number of such visits: 10 by aligned requests, one for each
//! alignment; 32 by others; and 22 by requests for more than a page, for each alignment over any pages and over those with
//! memory. A single request may visit all chunks that had a free since the last request of its alignment.
//!
//! Cost of a free: the search for the ends of the resulting run, at most a page to either side. `freehold replay
//! --instructions` counts both.

mod bounds;
mod find;
mod fit;
mod index;
mod keys;
mod maxima;
#[cfg(test)]
mod tests;
mod update;
mod validate;
mod wide;

use crate::config::Config;
use crate::geometry::{BIT_BYTES, BLOCK_BITS, MIN_UNIT_BYTES};
use crate::memory::repeated;
use crate::object_map::WORD;
use crate::placement::Chunks;
use crate::placement::{Change, Location, Placement, Room};
use crate::request::BitRequest;
use crate::{Broken, OutOfMemory};
use alloc::vec::Vec;
use freehold_units::Probe;
use index::{BARE, Index};

/// The most bits of a request, and the highest bound.
const MOST_BITS: u32 = MIN_UNIT_BYTES / BIT_BYTES;

/// The default placement: first fit in pages with objects, then the lowest page without objects.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstFit;

/// For each page of a chunk, an upper bound in bits of the free runs that start in it, at most 1024. A page without
/// objects ends a run, and its own bound is 0.
type Longest = Vec<i16>;

/// The list for chunks whose bound is `most` bits: in steps of 64 bits up to 64, of 4 up to 128, of 8 up to 256, then
/// of 32.
#[inline]
fn slot_of_bound(most: i16) -> u32 {
    match most as u32 {
        most @ ..=WORD => most / (WORD + 1),
        most @ ..=128 => 1 + (most - 65) / 4,
        most @ ..=256 => 17 + (most - 129) / 8,
        most => 33 + (most - 257) / 32,
    }
}

impl Placement for FirstFit {
    type Hints = Longest;

    type Index = Index;

    const ISOLATES: bool = true;

    const READIES_ASIDE: bool = false;

    fn list_count(_: &Config) -> u32 {
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
            chunks.lists.free()
        } else {
            slot_of_bound(chunks.index.most.row(chunk as usize)[0])
        }
    }

    fn first_list_with_pages() -> u32 {
        0
    }

    /// Returns the first such chunk of all lists: the index finds it without passing populated chunks.
    fn unpopulated(chunks: &mut Chunks<Self>, _: u32) -> Option<u32> {
        chunks.index.first_with(BARE)
    }

    #[inline]
    fn find(chunks: &mut Chunks<Self>, request: &BitRequest, probe: &mut impl Probe) -> Option<Location> {
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

    fn update_pages(chunks: &mut Chunks<Self>, chunk: u32, ready: bool) {
        update::pages(chunks, chunk, ready);
    }

    /// An upper bound: no run is longer.
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
