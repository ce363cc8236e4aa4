//! Finding a place: at the key's cursor, then in pages with objects whose bounds allow it, then in one without.

use super::bounds::{first_at_least, highest};
use super::fit::{first_place, longest_after};
use super::keys::NOWHERE;
use super::{FirstFit, Longest, slot_of_bound, wide};
use crate::chunk::{Chunk, NONE};
use crate::chunks::Chunks;
use crate::geometry::{BLOCK_BITS, base_of};
use crate::object_map::{BLOCK_WORDS, WORD};
use crate::pages::POPULATED;
use crate::placement::Location;
use crate::request::CheckedRequest;
use freehold_units::{Probe, Work};

/// The place for a request, if there is one.
#[inline]
pub(super) fn find(
    chunks: &mut Chunks<FirstFit>,
    request: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    if request.bits > BLOCK_BITS {
        return wide::find(chunks, request, probe);
    }
    let begun = if request.bits > WORD {
        in_tight_chunk(chunks, request, probe)
    } else {
        from_cursor(chunks, request, probe)
    };
    begun.or_else(|| in_other_page(chunks, request))
}

/// The lowest place in a page with objects, from the cursor of the request's key on. In most cases the cursor's own page
/// has it.
#[inline]
fn from_cursor(
    chunks: &mut Chunks<FirstFit>,
    request: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    let key = chunks.index.keys.of(request);
    let from = *chunks.index.keys.cursor(key);
    let (index, word) = chunks.index.split(from);
    let chunk = chunks.positions().get(index as usize);
    let longest = |chunk: &&Chunk<Longest>| chunk.hints.get((word / BLOCK_WORDS) as usize).copied();
    if let Some(chunk) = chunk.filter(|chunk| longest(chunk) >= Some(request.bits as i16))
        && let Some(bit) = first_place(chunk, word, request)
    {
        *chunks.index.keys.cursor(key) = chunks.index.base(index) + bit / WORD;
        return Some(Location { chunk: index, bit });
    }
    in_begun_page(chunks, key, from, request, probe)
}

/// The lowest place in a page with objects. The key's cursor comes to be there.
#[inline(never)]
fn in_begun_page(
    chunks: &mut Chunks<FirstFit>,
    key: usize,
    from: u32,
    request: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    let (mut index, mut word) = chunks.index.split(from);
    let least = request.bits as i16;
    while let Some(known) = chunks.index.most.get(index as usize) {
        if *known >= least
            && let Some(found) = in_known_chunk(chunks, index, word, request, probe)
        {
            *chunks.index.keys.cursor(key) = chunks.index.base(index) + found.bit / WORD;
            return Some(found);
        }
        word = 0;
        match first_at_least(&chunks.index.most, index as usize + 1, least) {
            Some(next) => index = next as u32,
            None => break,
        }
    }
    *chunks.index.keys.cursor(key) = NOWHERE;
    None
}

/// A place for a request of more than a word in a chunk whose bound is little more, so that long runs stay whole; else in
/// one that is set aside.
#[inline(never)]
fn in_tight_chunk(
    chunks: &mut Chunks<FirstFit>,
    request: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    let least = request.bits as i16;
    let mut slot = slot_of_bound(least);
    while let Some(occupied) = chunks.slots.next_occupied(slot, chunks.slots.count()) {
        let mut index = chunks.slots.first(occupied);
        while index != NONE {
            let next = chunks.slots.next(index);
            if chunks.index.most[index as usize] >= least
                && let Some(found) = in_known_chunk(chunks, index, 0, request, probe)
            {
                return Some(found);
            }
            index = next;
        }
        slot = occupied + 1;
    }
    None
}

/// The lowest place in a chunk's pages with objects, from a word on. If there is none, the chunk's bound is lowered.
#[inline]
fn in_known_chunk(
    chunks: &mut Chunks<FirstFit>,
    index: u32,
    word: u32,
    request: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    probe.count(Work::ChunkVisited, 1);
    let bit = in_chunk(chunks.at_mut(index), word, request, probe);
    if bit.is_none() {
        chunks.index.most[index as usize] = highest(&chunks.at(index).hints);
        chunks.relocate(index);
    }
    bit.map(|bit| Location { chunk: index, bit })
}

/// The lowest place in a chunk's pages with objects, from a word on.
#[inline]
fn in_chunk(
    chunk: &mut Chunk<Longest>,
    mut word: u32,
    request: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<u32> {
    let least = request.bits as i16;
    let mut page = word / BLOCK_WORDS;
    loop {
        if chunk.hints.get(page as usize).is_none_or(|&longest| longest < least) {
            page = first_at_least(&chunk.hints, page as usize + 1, least)? as u32;
            word = page * BLOCK_WORDS;
        }
        probe.count(Work::BlockVisited, 1);
        if let Some(bit) = first_place(chunk, word, request) {
            return Some(bit);
        }
        probe.count(Work::BlockRescanned, 1);
        let bound = longest_after(chunk, page, request) as i16;
        chunk.hints[page as usize] = chunk.hints[page as usize].min(bound);
        page = first_at_least(&chunk.hints, page as usize + 1, least)? as u32;
        word = page * BLOCK_WORDS;
    }
}

/// The lowest page with memory and no object; else, if the request may wait, the lowest without memory.
#[cold]
fn in_other_page(chunks: &Chunks<FirstFit>, request: &CheckedRequest) -> Option<Location> {
    let (chunk, state) = match first_at_least(&chunks.index.empty, 0, 1) {
        Some(chunk) => (chunk as u32, POPULATED),
        None if request.atomic => return None,
        None => (first_at_least(&chunks.index.bare, 0, 1)? as u32, 0),
    };
    chunks.at(chunk).pages.first(state).map(|page| Location { chunk, bit: base_of(page) })
}
