//! Updates bounds and cursors when objects are placed or freed.

use super::index::{ALIGNMENTS, usable};
use super::{FirstFit, Longest};
use crate::geometry::{BLOCK_BITS, base_of, block_of};
use crate::object_map::{BLOCK_WORDS, WORD};
use crate::placement::Change;
use crate::placement::Chunk;
use crate::placement::Chunks;
use core::ops::Range;

/// Updates after an object was placed in pages that had none. The free rest of the last page is a new run.
#[cold]
pub(super) fn begun(chunks: &mut Chunks<FirstFit>, &Change { chunk: index, ref object, .. }: &Change) {
    if object.end - object.start > BLOCK_BITS {
        let (first, behind) = (block_of(object.start), block_of(object.end));
        chunks.index.wide.iter_mut().for_each(|wide| wide.pass(index, first..behind));
    }
    let chunk = chunks.at(index);
    let page = block_of(object.end - 1);
    let part = object.end - object.start.max(base_of(page));
    if part < BLOCK_BITS && chunk.pages.used_bits(page) == part {
        let run = object.end..run_around(chunk, object).end;
        record(chunks, index, &run);
    }
    pages(chunks, index, false);
    chunks.relocate(index);
}

/// Updates after an object was freed.
// `inline(always)`: 323 instructions an operation, 332 without (`freehold replay --instructions` of forkshell.pcpu).
#[inline(always)]
pub(super) fn freed(chunks: &mut Chunks<FirstFit>, freed: &Change) {
    let Change { chunk: index, ref object, pages } = *freed;
    if pages > 0 || block_of(object.start) != block_of(object.end - 1) {
        return freed_in_pages(chunks, freed);
    }
    let run = run_around(chunks.at(index), object);
    record(chunks, index, &run);
}

/// As [`freed`], for an object of several pages, or for the last object of its page. The first and the last page may
/// have other objects.
#[inline(never)]
fn freed_in_pages(chunks: &mut Chunks<FirstFit>, freed: &Change) {
    let Change { chunk: index, ref object, pages: emptied } = *freed;
    let (first, last) = (block_of(object.start), block_of(object.end - 1));
    let chunk = chunks.at_mut(index);
    for page in (first..=last).filter(|&page| !chunk.pages.is_begun(page)) {
        chunk.hints[page as usize] = 0;
    }
    let run = run_around(chunk, object);
    if emptied == 0 {
        return record(chunks, index, &run);
    }
    let begun = [first, last].map(|page| chunk.pages.is_begun(page));
    if begun[0] {
        record(chunks, index, &(run.start..base_of(first + 1)));
    }
    if begun[1] {
        record(chunks, index, &(base_of(last)..run.end));
    }
    let before = block_of(run.start).saturating_sub(1);
    chunks.index.wide.iter_mut().for_each(|wide| wide.raise(index, before));
    pages(chunks, index, false);
    chunks.relocate(index);
}

/// The free run around a freed object. It ends at pages without objects.
#[inline]
fn run_around(chunk: &Chunk<Longest>, object: &Range<u32>) -> Range<u32> {
    let (words, last) = (chunk.used.words(), object.end - 1);
    let (first_word, last_word) = (object.start / WORD, last / WORD);
    let below = words[first_word as usize].used & !(!0 << (object.start % WORD));
    let above = words[last_word as usize].used & (!1 << (last % WORD));
    let start = match below {
        0 => start_before_word(chunk, first_word),
        _ => (first_word + 1) * WORD - below.leading_zeros(),
    };
    let end = match above {
        0 => end_behind_word(chunk, last_word),
        _ => last_word * WORD + above.trailing_zeros(),
    };
    start..end
}

/// The start of a free run that continues below a word.
#[inline(never)]
fn start_before_word(chunk: &Chunk<Longest>, at: u32) -> u32 {
    let page = at / BLOCK_WORDS;
    let start = chunk.used.after_last_set(base_of(page)..at * WORD);
    if start == base_of(page) && page > 0 && chunk.pages.is_begun(page - 1) {
        return chunk.used.after_last_set(base_of(page - 1)..start);
    }
    start
}

/// The end of a free run that continues after a word.
#[inline(never)]
fn end_behind_word(chunk: &Chunk<Longest>, at: u32) -> u32 {
    let page = at / BLOCK_WORDS;
    let end = chunk.used.next_set((at + 1) * WORD..base_of(page + 1));
    if end == base_of(page + 1) && chunk.pages.is_begun(page + 1) {
        return chunk.used.next_set(end..base_of(page + 2));
    }
    end
}

/// Records a free run: raises the bounds of its page and chunk, and lowers the cursors of keys that fit in it.
// `inline(always)`: 323 instructions an operation, 330 without (`freehold replay --instructions` of forkshell.pcpu).
#[inline(always)]
fn record(chunks: &mut Chunks<FirstFit>, index: u32, run: &Range<u32>) {
    let page = block_of(run.start);
    if run.start.is_multiple_of(BLOCK_BITS) || run.end >= base_of(page + 1) {
        record_at_edge(chunks, index, run);
    }
    let bits = (run.end - run.start).min(BLOCK_BITS) as i16;
    raise(&mut chunks.at_mut(index).hints[page as usize], bits);
    let known = &mut chunks.index;
    let base = known.base(index);
    known.keys.lower(base, run);
    let [longest, .., least] = *known.most.row(index as usize);
    if least < bits {
        // All bounds are equal until a search lowers one below another, and then most runs raise none.
        let equal = longest == least;
        known.most.raise(index as usize, if equal { [bits; ALIGNMENTS] } else { usable(run) });
    }
    if longest < bits {
        chunks.relocate(index);
    }
}

/// Records a free run that touches the edge of a page. The part in the next page is a run of that page, too. If the run
/// is longer than a page, or continues in a page without objects, it raises the chunk's `wide`.
#[inline(never)]
fn record_at_edge(chunks: &mut Chunks<FirstFit>, index: u32, run: &Range<u32>) {
    let edge = base_of(block_of(run.start) + 1);
    if run.end > edge {
        raise(&mut chunks.at_mut(index).hints[block_of(edge) as usize], (run.end - edge) as i16);
    }
    let (chunk, first) = (chunks.at(index), block_of(run.start));
    let joins = |bit: u32, page: u32, populated: bool| {
        let inside = bit.is_multiple_of(BLOCK_BITS) && page < chunk.pages.count();
        inside && !chunk.pages.is_begun(page) && (!populated || chunk.pages.is_populated(page))
    };
    let raised = [false, true].map(|populated| {
        let below = joins(run.start, first.wrapping_sub(1), populated);
        let long = below || run.end - run.start > BLOCK_BITS || joins(run.end, block_of(run.end), populated);
        long.then_some(first - u32::from(below))
    });
    for (wide, page) in chunks.index.wide.iter_mut().zip(raised) {
        page.into_iter().for_each(|page| wide.raise(index, page));
    }
}

#[inline]
fn raise(bound: &mut i16, to: i16) {
    *bound = (*bound).max(to);
}

/// Updates the row of a chunk that was added or removed, or whose counts of pages changed. `ready` if it may have
/// gained empty pages by something other than a free.
pub(super) fn pages(chunks: &mut Chunks<FirstFit>, index: u32, ready: bool) {
    let chunk = chunks.at(index);
    let (empty, bare) = (chunk.empty_pages, chunk.pages.count() - chunk.populated_pages);
    let (live, free) = (chunk.is_live(), chunk.objects == 0);
    let known = &mut chunks.index;
    let at = index as usize;
    known.reach(index);
    known.pages.set(at, [empty, bare].map(|count| count as i16));
    if free {
        known.most.set(at, [0; ALIGNMENTS]);
        known.wide[0].raise(index, 0);
    }
    if ready && empty > 0 {
        known.wide[1].raise(index, 0);
    } else if empty == 0 {
        // A run over two pages with objects is shorter than both: each has a used bit.
        known.wide[1].longest.lower(at, 0, 2 * (BLOCK_BITS as i16 - 1));
    }
    if !live {
        known.wide.iter_mut().for_each(|wide| wide.longest.set(at, [0; ALIGNMENTS]));
    }
}
