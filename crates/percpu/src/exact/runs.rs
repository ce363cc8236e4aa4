//! The longest free run of a part of a block: by walking from run to run where they are few, and by shifting all of
//! its words at once where they are many.
//!
//! ```text
//!   free             1 1 1 0 1 1 0 1      a run of 1 or more starts here
//!   free & free>>1   1 1 0 0 1 0 0 0      of 2 or more
//!   ... & ...>>2     0 0 0 0 0 0 0 0      of 4 or more: none, so try 2 + 1
//!   ... & free>>2    1 0 0 0 0 0 0 0      of 3: the longest
//! ```

use super::record::Run;
use crate::bitmap::Bits as _;
use crate::geometry::{BLOCK_BITS, base_of};
use crate::object_map::ObjectMap;
use core::ops::Range;

const WORD: usize = u64::BITS as usize;
const WORDS: usize = BLOCK_BITS as usize / WORD;
/// Doublings to the length of a block.
const DOUBLINGS: usize = BLOCK_BITS.ilog2() as usize;
/// Up to so many runs are walked: one costs about as much as a shift of the whole block.
const WALKED: u32 = 16;
/// Starts that are multiples of 16, 8, 4, 2 and 1 bits: what objects ask for.
const EVEN: [u64; 5] =
    [0x0001_0001_0001_0001, 0x0101_0101_0101_0101, 0x1111_1111_1111_1111, 0x5555_5555_5555_5555, !0];

type Words = [u64; WORDS];

/// The best aligned of the longest free runs in `part`, bits of the block, and a bound for all the others.
pub(super) fn longest(used: &ObjectMap, block: u32, part: Range<u32>) -> (Run, u32) {
    let free = free_words(used, block, &part);
    if starts(&free) <= WALKED { walk(used, base_of(block), part) } else { shift(&free) }
}

/// The free bits of the block that lie in `part`.
fn free_words(used: &ObjectMap, block: u32, part: &Range<u32>) -> Words {
    let mut free = [0; WORDS];
    let first = block * WORDS as u32;
    for (at, (free, word)) in free.iter_mut().zip(first..).enumerate() {
        *free = !used.word(word) & below(part.end, at) & !below(part.start, at);
    }
    free
}

/// The bits of word `at` that are below bit `end` of the block.
fn below(end: u32, at: usize) -> u64 {
    match (end as usize).saturating_sub(at * WORD) {
        0 => 0,
        bits if bits < WORD => (1 << bits) - 1,
        _ => !0,
    }
}

/// The number of runs.
fn starts(free: &Words) -> u32 {
    let (mut count, mut carry) = (0, 0);
    for &word in free {
        count += (word & !(word << 1 | carry)).count_ones();
        carry = word >> (WORD - 1);
    }
    count
}

fn walk(used: &ObjectMap, base: u32, part: Range<u32>) -> (Run, u32) {
    let (mut best, mut rest) = (Run::NONE, 0);
    let (mut at, end) = (base + part.start, base + part.end);
    while at < end {
        let start = used.next_clear(at..end);
        at = used.next_set(start..end);
        let run = Run::new(start - base, at - start);
        let lesser = if run.beats(best) { core::mem::replace(&mut best, run) } else { run };
        rest = rest.max(lesser.len());
    }
    (best, rest)
}

/// The words, moved down by `by` bits.
fn down(words: &Words, by: usize) -> Words {
    let (whole, bits) = (by / WORD, by % WORD);
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    core::array::from_fn(|at| {
        let low = word(at + whole) >> bits;
        if bits == 0 { low } else { low | word(at + whole + 1) << (WORD - bits) }
    })
}

fn and(a: &Words, b: &Words) -> Words {
    core::array::from_fn(|at| a[at] & b[at])
}

fn some(words: &Words) -> bool {
    words.iter().fold(0, |all, word| all | word) != 0
}

fn shift(free: &Words) -> (Run, u32) {
    // Where runs of 1, 2, 4, ... start.
    let mut powers = [[0; WORDS]; DOUBLINGS];
    let mut doublings = 0;
    powers[0] = *free;
    while doublings + 1 < DOUBLINGS {
        let longer = and(&powers[doublings], &down(&powers[doublings], 1 << doublings));
        if !some(&longer) {
            break;
        }
        doublings += 1;
        powers[doublings] = longer;
    }
    let (mut longest, mut len) = (powers[doublings], 1 << doublings);
    for (power, runs) in powers[..doublings].iter().enumerate().rev() {
        let longer = and(&longest, &down(runs, len));
        if some(&longer) {
            (longest, len) = (longer, len + (1 << power));
        }
    }
    let several = longest.iter().map(|word| word.count_ones()).sum::<u32>() > 1;
    let len = len as u32;
    (Run::new(evenest(&longest), len), if several { len } else { len - 1 })
}

/// The lowest of the best aligned starts.
fn evenest(starts: &Words) -> u32 {
    let lowest = |mask: u64| {
        let found = (0..).zip(starts).find(|(_, word)| **word & mask != 0);
        found.map(|(at, word)| at * u64::BITS + (word & mask).trailing_zeros())
    };
    EVEN.iter().find_map(|&mask| lowest(mask)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn walking_and_shifting_agree(
            holes in prop::collection::vec((0u32..2048, 1u32..40), 0..200),
            low in 0u32..=1024,
            high in 0u32..=1024,
        ) {
            let mut used = ObjectMap::new(2048).unwrap();
            for bit in (0..2048).filter(|bit| holes.iter().all(|(start, len)| !(*start..start + len).contains(bit))) {
                used.take(&(bit..bit + 1));
            }
            for block in 0..2 {
                let part = low.min(high)..low.max(high);
                let free = free_words(&used, block, &part);
                let (walked, rest) = walk(&used, base_of(block), part.clone());
                if some(&free) {
                    let (shifted, bound) = shift(&free);
                    prop_assert_eq!(shifted.len(), walked.len());
                    prop_assert!(!walked.beats(shifted) && !shifted.beats(walked));
                    prop_assert!(bound >= rest && bound <= walked.len());
                    let base = base_of(block) + shifted.start();
                    prop_assert_eq!(used.next_set(base..base + shifted.len()), base + shifted.len());
                }
                prop_assert_eq!(longest(&used, block, part).0.len(), walked.len());
            }
        }
    }
}
