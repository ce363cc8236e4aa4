//! Where a request fits in a page, word by word.

use crate::geometry::{BLOCK_BITS, align_up};
use crate::object_map::{BLOCK_WORDS, WORD, Word, ones};
use crate::request::CheckedRequest;

/// The multiples of 1, 2, 4, .. 64 in a word.
const MULTIPLES: [u64; 7] = [!0, !0 / 0x3, !0 / 0xf, !0 / 0xff, !0 / 0xffff, !0 / 0xffff_ffff, 1];

/// The bits of a word at which the request fits in the word. `at` is the word's place in its page or chunk.
#[inline]
pub(super) fn starts_in_word(free: u64, at: u32, request: &CheckedRequest) -> u64 {
    let CheckedRequest { bits, align, .. } = *request;
    if bits > WORD {
        return 0;
    }
    let starts = run_starts(free, bits);
    if align <= WORD {
        starts & MULTIPLES[align.ilog2() as usize % MULTIPLES.len()]
    } else {
        starts & u64::from((at * WORD) & (align - 1) == 0)
    }
}

/// The first place in a page for the request, in bits, from word `from` on. `words` are the page's, and the next one's if
/// that has objects, too.
#[inline]
pub(super) fn first_place(words: &[Word], from: u32, request: &CheckedRequest) -> Option<u32> {
    let CheckedRequest { bits, align, .. } = *request;
    let mut at = from;
    while at < BLOCK_WORDS {
        let free = !words[at as usize].used;
        if free == 0 {
            at += 1;
            continue;
        }
        let starts = starts_in_word(free, at, request);
        if starts != 0 {
            return Some(at * WORD + starts.trailing_zeros());
        }
        let place = align_up((at + 1) * WORD - free.leading_ones(), align);
        at += 1;
        if place < at * WORD {
            match is_free(words, at, place + bits) {
                Ok(()) => return Some(place),
                Err(word) => at = word,
            }
        }
    }
    None
}

/// The bits of a word at which so many bits that are set begin.
#[inline]
fn run_starts(mut free: u64, bits: u32) -> u64 {
    let mut known = 1;
    while known < bits {
        let step = known.min(bits - known);
        free &= free >> step;
        known += step;
    }
    free
}

/// Whether all bits from a word on and up to bit `end` are free; the first word that has others, if not.
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

/// A bound over the free runs that start in a page in which the request has no place. `words` are as above.
pub(super) fn longest_after(words: &[Word], request: &CheckedRequest) -> u32 {
    if request.bits > WORD {
        return longest_over_words(words);
    }
    let unaligned = CheckedRequest { align: 1, ..*request };
    if request.align > 1 && first_place(words, 0, &unaligned).is_some() {
        return request.bits + request.align - 2;
    }
    request.bits - 1
}

/// The longest free run that starts in a page and reaches over the end of a word; at least a word's bits, which no run
/// within one exceeds.
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
