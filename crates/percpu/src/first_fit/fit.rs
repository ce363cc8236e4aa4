//! Finds the place for a request in a page, word by word. If there is none, computes a new bound of the page's runs.

use super::Longest;
use crate::geometry::{BLOCK_BITS, align_up};
use crate::object_map::{BLOCK_WORDS, WORD, Word, ones};
use crate::placement::Chunk;
use crate::request::BitRequest;
use freehold_units::{Probe, Work};

/// The multiples of 1, 2, 4, .. 64 in a word. The last entry makes the length a power of two, so that `%` is a mask.
const MULTIPLES: [u64; 8] = [!0, !0 / 0x3, !0 / 0xf, !0 / 0xff, !0 / 0xffff, !0 / 0xffff_ffff, 1, 1];

/// The bits of a word at which the request fits in the word. `at` is the word's position in its chunk.
#[inline]
fn starts_in_word(free: u64, at: u32, request: &BitRequest) -> u64 {
    let BitRequest { bits, align, .. } = *request;
    if bits > WORD {
        return 0;
    }
    let starts = run_starts(free, bits);
    if align <= WORD {
        starts & MULTIPLES[align.trailing_zeros() as usize % MULTIPLES.len()]
    } else {
        starts & u64::from((at * WORD) & (align - 1) == 0)
    }
}

/// The first place for the request that starts in a page with objects, from one of the page's words on.
// `inline(always)`: 323 instructions an operation, 336 without (`freehold replay --instructions` of forkshell.pcpu).
#[inline(always)]
pub(super) fn first_place(chunk: &Chunk<Longest>, from: u32, request: &BitRequest) -> Option<u32> {
    let page_end = (from / BLOCK_WORDS + 1) * BLOCK_WORDS;
    let words = &chunk.used.words()[..page_end as usize];
    let mut at = from;
    while let Some(word) = words.get(at as usize) {
        let free = !word.used;
        let starts = starts_in_word(free, at, request);
        if starts != 0 {
            return Some(at * WORD + starts.trailing_zeros());
        }
        at += 1;
        if free.leading_ones() > 0 {
            match over_edge(chunk, at * WORD - free.leading_ones(), at, request) {
                Ok(place) => return Some(place),
                Err(word) => at = word,
            }
        }
    }
    None
}

/// The place for the request in a run that starts at `start` and continues in word `at`. If there is none, returns the
/// word to search next.
#[inline(never)]
fn over_edge(chunk: &Chunk<Longest>, start: u32, at: u32, request: &BitRequest) -> Result<u32, u32> {
    let place = align_up(start, request.align);
    if place >= at * WORD {
        return Err(at);
    }
    let words = &chunk.used.words()[..end_of_runs(chunk, (at - 1) / BLOCK_WORDS)];
    is_free(words, at, place + request.bits).map(|()| place)
}

/// The end of the words of runs that start in a page: a run may continue in the next page if that has objects.
#[inline]
fn end_of_runs(chunk: &Chunk<Longest>, page: u32) -> usize {
    ((page + 1 + u32::from(chunk.pages.is_begun(page + 1))) * BLOCK_WORDS) as usize
}

/// The bits at which runs of at least `bits` set bits start in a word.
#[inline]
fn run_starts(mut free: u64, bits: u32) -> u64 {
    // Quick exit: most words of a full page have no two free bits this far apart.
    if free & free >> (bits - 1) == 0 {
        return 0;
    }
    let mut known = 1;
    while known < bits {
        let step = known.min(bits - known);
        free &= free >> step;
        known += step;
    }
    free
}

/// Whether all bits from word `at` up to bit `end` are free. If not, returns the first word with a used bit.
#[inline]
fn is_free(words: &[Word], mut at: u32, end: u32) -> Result<(), u32> {
    while let Some(word) = words.get(at as usize) {
        let left = end - at * WORD;
        if left <= WORD {
            return if word.used & ones(left) == 0 { Ok(()) } else { Err(at) };
        }
        if word.used != 0 {
            return Err(at);
        }
        at += 1;
    }
    Err(at)
}

/// An upper bound of the free runs that start in a page, for a page in which the request has no place. The caller
/// searched from the request's cursor on, and below the cursor there is no place either (P8).
pub(super) fn longest_after(chunk: &Chunk<Longest>, page: u32, request: &BitRequest) -> u32 {
    if request.bits > WORD {
        let first = (page * BLOCK_WORDS) as usize;
        return longest_over_words(&chunk.used.words()[first..end_of_runs(chunk, page)]);
    }
    let has_run =
        |bits| first_place(chunk, page * BLOCK_WORDS, &BitRequest { bits, align: 1, ..*request }).is_some();
    if request.align == 1 || !has_run(request.bits) {
        // Halved if possible, so that a page is not searched again for each smaller size.
        let half = request.bits / 2 + 1;
        return if request.bits > 2 && !has_run(half) { half - 1 } else { request.bits - 1 };
    }
    // A run of `bits + align - 1` would hold an aligned place. If that place is in the next page, the search continues
    // to that page and finds it; the object placed there then ends the run.
    request.bits + request.align - 2
}

/// The most bits that have an aligned place in a chunk's pages with objects, for a request that has none there.
#[cold]
pub(super) fn longest_aligned(chunk: &Chunk<Longest>, request: &BitRequest, probe: &mut impl Probe) -> i16 {
    let mut longest = 0;
    for page in 0..chunk.pages.count() {
        if chunk.hints[page as usize] as u32 <= longest {
            continue;
        }
        probe.count(Work::BlockVisited, 1);
        let (mut word, end) = (page * BLOCK_WORDS, end_of_runs(chunk, page) as u32 * WORD);
        while let Some(place) = first_place(chunk, word, &BitRequest { bits: longest + 1, ..*request }) {
            longest = chunk.used.next_set(place..end) - place;
            word = place / WORD;
        }
    }
    longest as i16
}

/// An upper bound of the free runs that start in a page: the longest run that crosses the end of a word, and at least
/// 64, since a run within one word is not longer. `words` are the page's words, and also the next page's if that has
/// objects.
fn longest_over_words(words: &[Word]) -> u32 {
    let (mut longest, mut run) = (WORD, 0);
    for (at, word) in (0..).zip(words) {
        if word.used == 0 {
            run += WORD;
            continue;
        }
        longest = longest.max(run + word.used.trailing_zeros());
        if at >= BLOCK_WORDS {
            return longest.min(BLOCK_BITS);
        }
        run = word.used.leading_zeros();
    }
    longest.max(run).min(BLOCK_BITS)
}
