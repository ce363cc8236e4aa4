//! Finds a place: at the key's cursor, else in a page with objects and a high enough bound, else in a page without
//! objects.

use super::bounds::{first_at_least, highest};
use super::fit::{first_place, longest_after, longest_aligned};
use super::index::{BARE, EMPTY};
use super::keys::NOWHERE;
use super::{FirstFit, Longest, slot_of_bound, wide};
use crate::geometry::{BLOCK_BITS, base_of};
use crate::object_map::{BLOCK_WORDS, WORD};
use crate::pages::POPULATED;
use crate::placement::Chunks;
use crate::placement::Location;
use crate::placement::{Chunk, NONE};
use crate::request::BitRequest;
use freehold_units::{Probe, Work};

/// Number of chunks of a request's own list that are examined first.
const PEEKED: usize = 2;

/// Finds a place for a request.
#[inline]
pub(super) fn find(
    chunks: &mut Chunks<FirstFit>,
    request: &BitRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    if request.bits > WORD && (request.align == 1 || request.bits > BLOCK_BITS) {
        return find_long(chunks, request, probe);
    }
    let key = chunks.index.keys.of(request);
    let from = *chunks.index.keys.cursor(key);
    let (index, word) = chunks.index.split(from);
    if let Some(bit) = in_page(chunks, index, word, request) {
        *chunks.index.keys.cursor(key) = chunks.index.base(index) + bit / WORD;
        return Some(Location { chunk: index, bit });
    }
    in_begun_page(chunks, key, from, request, probe).or_else(|| in_other_page(chunks, request))
}

/// The lowest place in a word's page, from the word on. `None` without a search if the page's bound is too low.
// `inline(always)`: 323 instructions an operation, 339 without (`freehold replay --instructions` of forkshell.pcpu).
#[inline(always)]
fn in_page(chunks: &Chunks<FirstFit>, index: u32, word: u32, request: &BitRequest) -> Option<u32> {
    // A cursor may be past the last chunk, and a new set has no chunk. A vacant chunk's bounds are 0 (P7).
    let chunk = chunks.positions().get(index as usize)?;
    if chunk.hints[(word / BLOCK_WORDS) as usize] < request.bits as i16 {
        return None;
    }
    first_place(chunk, word, request)
}

/// The lowest place in the pages with objects, from position `from` on. Moves the key's cursor to it, or past all
/// chunks if there is none.
#[inline(never)]
fn in_begun_page(
    chunks: &mut Chunks<FirstFit>,
    key: usize,
    from: u32,
    request: &BitRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    let (mut index, mut word) = chunks.index.split(from);
    let least = request.bits as i16;
    let class = request.align.trailing_zeros() as usize;
    while let Some(next) = chunks.index.most.next(class, index as usize, least) {
        word = if next as u32 == index { word } else { 0 };
        index = next as u32;
        if let Some(found) = in_known_chunk(chunks, index, word, request, probe) {
            *chunks.index.keys.cursor(key) = chunks.index.base(index) + found.bit / WORD;
            return Some(found);
        }
        if chunks.index.most.row(next)[class] >= least {
            let bound = longest_aligned(chunks.at(index), request, probe);
            chunks.index.most.lower(next, class, bound);
        }
        (index, word) = (index + 1, 0);
    }
    *chunks.index.keys.cursor(key) = NOWHERE;
    None
}

/// Finds a place for a request without a key: of more than 64 bits and not aligned, or of more than a page.
#[inline(never)]
fn find_long(
    chunks: &mut Chunks<FirstFit>,
    request: &BitRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    if request.bits > BLOCK_BITS {
        return wide::find(chunks, request, probe);
    }
    in_tight_chunk(chunks, request, probe).or_else(|| in_other_page(chunks, request))
}

/// A place for a request of more than 64 bits in a page with objects: by ascending bound, so that long runs stay whole.
/// It tries the first chunks of the request's own list, whose bounds may be too low. Then it tries the lists on which
/// all bounds are high enough, and last all chunks, including those set aside. A fruitless visit lowers the chunk's
/// bound.
fn in_tight_chunk(
    chunks: &mut Chunks<FirstFit>,
    request: &BitRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    let least = request.bits as i16;
    let own = slot_of_bound(least);
    let mut peeked = [NONE; PEEKED];
    peeked.iter_mut().zip(chunks.lists.list(own)).for_each(|(peeked, index)| *peeked = index);
    for index in peeked.into_iter().take_while(|&index| index != NONE) {
        if chunks.index.most.row(index as usize)[0] < least {
            probe.count(Work::ChunkVisited, 1);
        } else if let Some(found) = in_known_chunk(chunks, index, 0, request, probe) {
            return Some(found);
        }
    }
    while let Some(slot) = chunks.lists.next_occupied(own + 1, chunks.lists.sidelined()) {
        let index = chunks.lists.first(slot);
        if let Some(found) = in_known_chunk(chunks, index, 0, request, probe) {
            return Some(found);
        }
    }
    let mut from = 0;
    while let Some(next) = chunks.index.most.next(0, from, least) {
        if let Some(found) = in_known_chunk(chunks, next as u32, 0, request, probe) {
            return Some(found);
        }
        from = next + 1;
    }
    None
}

/// The lowest place in a chunk's pages with objects, from a word on. If there is none, lowers the chunk's bound and
/// moves the chunk to the list of its new bound.
#[inline]
fn in_known_chunk(
    chunks: &mut Chunks<FirstFit>,
    index: u32,
    word: u32,
    request: &BitRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    probe.count(Work::ChunkVisited, 1);
    let bit = in_chunk(chunks.at_mut(index), word, request, probe);
    if bit.is_none() {
        let bound = highest(&chunks.at(index).hints);
        chunks.index.most.lower(index as usize, 0, bound);
        chunks.relocate(index);
    }
    bit.map(|bit| Location { chunk: index, bit })
}

/// The lowest place in a chunk's pages with objects, from a word on. Lowers the bounds of the pages in which it finds
/// none.
#[inline]
fn in_chunk(
    chunk: &mut Chunk<Longest>,
    mut word: u32,
    request: &BitRequest,
    probe: &mut impl Probe,
) -> Option<u32> {
    loop {
        let from = (word / BLOCK_WORDS) as usize;
        let page = first_at_least(&chunk.hints, from, request.bits as i16)? as u32;
        word = word.max(page * BLOCK_WORDS);
        probe.count(Work::BlockVisited, 1);
        if let Some(bit) = first_place(chunk, word, request) {
            return Some(bit);
        }
        probe.count(Work::BlockRescanned, 1);
        let bound = longest_after(chunk, page, request) as i16;
        chunk.hints[page as usize] = chunk.hints[page as usize].min(bound);
        word = (page + 1) * BLOCK_WORDS;
    }
}

/// The first bit of the lowest populated page without objects; else, if the request may wait, of the lowest page
/// without memory.
#[cold]
#[allow(clippy::expect_used, reason = "only a broken invariant stops it, and is named")]
fn in_other_page(chunks: &mut Chunks<FirstFit>, request: &BitRequest) -> Option<Location> {
    let (chunk, state) = match chunks.index.first_with(EMPTY) {
        Some(chunk) => (chunk, POPULATED),
        None if request.atomic => return None,
        None => (chunks.index.first_with(BARE)?, 0),
    };
    let page = chunks.at(chunk).pages.first(state).expect("P9: a chunk has the pages that the index counts");
    Some(Location { chunk, bit: base_of(page) })
}
