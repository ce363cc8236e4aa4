//! Finds places for objects of more than a page: a run over several pages, with objects or without.

use super::{FirstFit, Longest, MOST_BITS};
use crate::geometry::{BLOCK_BITS, align_up, base_of, block_of};
use crate::placement::Chunk;
use crate::placement::Chunks;
use crate::placement::Location;
use crate::request::BitRequest;
use freehold_units::{Probe, Work};

/// The lowest place in pages that have memory. If there is none and the request may wait, the lowest in any pages.
#[cold]
pub(super) fn find(
    chunks: &mut Chunks<FirstFit>,
    request: &BitRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    let populated = in_chunks(chunks, request, true, probe);
    if populated.is_some() || request.atomic {
        return populated;
    }
    in_chunks(chunks, request, false, probe)
}

/// The lowest place; if `populated`, only in pages that have memory. Lowers the bounds of the chunks in which it finds
/// none.
fn in_chunks(
    chunks: &mut Chunks<FirstFit>,
    request: &BitRequest,
    populated: bool,
    probe: &mut impl Probe,
) -> Option<Location> {
    let (kind, least, mut next) = (usize::from(populated), request.bits as i16, 0);
    let class = request.align.trailing_zeros() as usize;
    while let Some(index) = chunks.index.wide[kind].longest.next(class, next, least) {
        probe.count(Work::ChunkVisited, 1);
        let from = chunks.index.wide[kind].from[index] as u32;
        let (found, from) = in_chunk(chunks.at(index as u32), from, request, populated, probe);
        let wide = &mut chunks.index.wide[kind];
        wide.from[index] = from as i16;
        match found {
            Ok(bit) => return Some(Location { chunk: index as u32, bit }),
            Err((longest, aligned)) => {
                wide.longest.lower(index, 0, longest as i16);
                wide.longest.lower(index, class, aligned as i16);
            }
        }
        next = index + 1;
    }
    None
}

/// The lowest place in a chunk. No run of more than a page starts below page `from`. If there is no place, returns an
/// upper bound of those runs, and of their aligned parts. Also returns the page of the first such run, which is the
/// next `from`.
fn in_chunk(
    chunk: &Chunk<Longest>,
    from: u32,
    request: &BitRequest,
    populated: bool,
    probe: &mut impl Probe,
) -> (Result<u32, (u32, u32)>, u32) {
    let (mut start, mut longest, mut aligned, mut first) = (base_of(from), BLOCK_BITS, BLOCK_BITS, None);
    for page in from..chunk.pages.count() {
        probe.count(Work::BlockVisited, 1);
        let bits = base_of(page)..base_of(page + 1);
        let begun = chunk.pages.is_begun(page);
        if !begun && populated && !chunk.pages.is_populated(page) {
            start = bits.end;
            continue;
        }
        if !begun || start < bits.start {
            let end = if begun { chunk.used.next_set(bits.clone()) } else { bits.end };
            let place = align_up(start, request.align);
            if place + request.bits <= end {
                return (Ok(place), first.unwrap_or(block_of(start)));
            }
            longest = longest.max(end - start);
            aligned = aligned.max(end.saturating_sub(place));
            if end - start > BLOCK_BITS {
                first.get_or_insert(block_of(start));
            }
        }
        if begun {
            // This page's bound includes a run that continues into a page with objects. If the bound is less than a
            // page, no run of more than a page starts here.
            let goes_on = !chunk.pages.is_begun(page + 1) || chunk.hints[page as usize] >= BLOCK_BITS as i16;
            start = if goes_on { chunk.used.after_last_set(bits) } else { bits.end };
        }
    }
    (Err((longest.min(MOST_BITS), aligned)), first.unwrap_or(chunk.pages.count()))
}
