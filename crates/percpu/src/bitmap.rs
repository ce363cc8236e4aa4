//! Bits, searched a word at a time, and a fixed number of them.

use crate::OutOfMemory;
use alloc::vec::Vec;
use core::ops::Range;

/// Bits of a word.
pub(crate) const WORD: u32 = u64::BITS;

/// A list of so many of the same, for which there may be no memory.
pub(crate) fn repeated<T: Clone>(item: T, count: u32) -> Result<Vec<T>, OutOfMemory> {
    let mut items = Vec::new();
    items.try_reserve_exact(count as usize).map_err(|_| OutOfMemory)?;
    items.resize(count as usize, item);
    Ok(items)
}

/// Makes room for one more item, and for a few beyond.
pub(crate) fn reserve_one<T>(items: &mut Vec<T>) -> Result<(), OutOfMemory> {
    if items.len() < items.capacity() {
        return Ok(());
    }
    items.try_reserve_exact((items.len() / 16).max(4)).map_err(|_| OutOfMemory)
}

/// Bits that lie in words, the lowest first. Ranges that methods take lie within.
pub(crate) trait Bits {
    /// So many words can be looked at together.
    const LINE_WORDS: u32;

    /// The word at a position.
    fn word(&self, at: u32) -> u64;

    /// Whether all words of a line are `word`, 0 or all ones.
    fn is_line_of(&self, line: u32, word: u64) -> bool;

    /// Whether the bit is set.
    #[inline]
    fn get(&self, bit: u32) -> bool {
        self.word(bit / WORD) >> (bit % WORD) & 1 != 0
    }

    /// The first set bit of the range; its end if there is none.
    #[inline]
    fn next_set(&self, range: Range<u32>) -> u32 {
        self.next(range, 0)
    }

    /// The first clear bit of the range; its end if there is none.
    #[inline]
    fn next_clear(&self, range: Range<u32>) -> u32 {
        self.next(range, !0)
    }

    /// The first bit that is set in the words, each turned over by `flip`. Mostly it is in the first word.
    #[inline(always)]
    fn next(&self, range: Range<u32>, flip: u64) -> u32 {
        if range.is_empty() {
            return range.end;
        }
        let at = range.start / WORD;
        let word = (self.word(at) ^ flip) & from_mask(range.start);
        if word != 0 {
            return (at * WORD + word.trailing_zeros()).min(range.end);
        }
        self.next_words(at + 1, range.end, flip)
    }

    /// The same from a whole word on.
    fn next_words(&self, first: u32, end: u32, flip: u64) -> u32 {
        let mut at = first;
        while at < end.div_ceil(WORD) {
            if at.is_multiple_of(Self::LINE_WORDS) && self.is_line_of(at / Self::LINE_WORDS, flip) {
                at += Self::LINE_WORDS;
                continue;
            }
            let word = self.word(at) ^ flip;
            if word != 0 {
                return (at * WORD + word.trailing_zeros()).min(end);
            }
            at += 1;
        }
        end
    }

    /// One past the last set bit of the range; its start if there is none.
    #[inline]
    fn after_last_set(&self, range: Range<u32>) -> u32 {
        self.after_last(range, 0)
    }

    /// One past the last clear bit of the range; its start if there is none.
    #[inline]
    fn after_last_clear(&self, range: Range<u32>) -> u32 {
        self.after_last(range, !0)
    }

    #[inline(always)]
    fn after_last(&self, range: Range<u32>, flip: u64) -> u32 {
        if range.is_empty() {
            return range.start;
        }
        let last = range.end - 1;
        let at = last / WORD;
        let word = (self.word(at) ^ flip) & up_to_mask(last);
        if word != 0 {
            return ((at + 1) * WORD - word.leading_zeros()).max(range.start);
        }
        self.after_last_words(range.start, at, flip)
    }

    /// The same in the words before word `end`.
    fn after_last_words(&self, start: u32, mut end: u32, flip: u64) -> u32 {
        while end > start / WORD {
            if end.is_multiple_of(Self::LINE_WORDS) && self.is_line_of(end / Self::LINE_WORDS - 1, flip) {
                end -= Self::LINE_WORDS;
                continue;
            }
            let word = self.word(end - 1) ^ flip;
            if word != 0 {
                return (end * WORD - word.leading_zeros()).max(start);
            }
            end -= 1;
        }
        start
    }
}

/// Bits `0..len`, all clear at first. Ranges that methods take lie within.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
}

/// The bits of a word from `from` on.
pub(crate) const fn from_mask(from: u32) -> u64 {
    !0 << (from % WORD)
}

/// The bits of a word up to `last`, which is one of them.
pub(crate) const fn up_to_mask(last: u32) -> u64 {
    !0 >> (WORD - 1 - last % WORD)
}

impl Bitmap {
    /// `len` clear bits.
    pub(crate) fn new(len: u32) -> Result<Self, OutOfMemory> {
        let words = repeated(0, len.div_ceil(WORD))?;
        Ok(Self { words })
    }

    /// No bits and no memory.
    pub(crate) const fn empty() -> Self {
        Self { words: Vec::new() }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    #[inline]
    pub(crate) fn set(&mut self, bit: u32) {
        self.words[(bit / WORD) as usize] |= 1 << (bit % WORD);
    }

    #[inline]
    pub(crate) fn clear(&mut self, bit: u32) {
        self.words[(bit / WORD) as usize] &= !(1 << (bit % WORD));
    }

    #[inline]
    pub(crate) fn set_range(&mut self, range: Range<u32>) {
        self.apply(range, |word, mask| *word |= mask);
    }

    #[inline]
    pub(crate) fn clear_range(&mut self, range: Range<u32>) {
        self.apply(range, |word, mask| *word &= !mask);
    }

    /// Changes the bits of a range, given as a mask of each word.
    #[inline(always)]
    fn apply(&mut self, range: Range<u32>, change: impl Fn(&mut u64, u64)) {
        if range.is_empty() {
            return;
        }
        let last = range.end - 1;
        let (low, high) = ((range.start / WORD) as usize, (last / WORD) as usize);
        let (head, tail) = (from_mask(range.start), up_to_mask(last));
        if low == high {
            return change(&mut self.words[low], head & tail);
        }
        change(&mut self.words[low], head);
        // Were it known that these words become all ones or zeros, `memset` would be called for them, and the next
        // read of a word beside them would wait until its wide store is done.
        let all = core::hint::black_box(!0);
        for word in &mut self.words[low + 1..high] {
            change(word, all);
        }
        change(&mut self.words[high], tail);
    }
}

impl Bits for Bitmap {
    const LINE_WORDS: u32 = 1;

    #[inline]
    fn is_line_of(&self, line: u32, word: u64) -> bool {
        self.word(line) == word
    }

    #[inline]
    fn word(&self, at: u32) -> u64 {
        self.words[at as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{Bitmap, Bits as _};
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn searches_agree_with_one_bit_at_a_time(
            changes in prop::collection::vec((any::<bool>(), 0u32..300, 0u32..300), 0..20),
            low in 0u32..300,
            high in 0u32..300,
        ) {
            let mut map = Bitmap::new(300).unwrap();
            let mut model = [false; 300];
            for (set, a, b) in changes {
                let range = a.min(b)..a.max(b);
                model[range.start as usize..range.end as usize].fill(set);
                if set { map.set_range(range) } else { map.clear_range(range) }
            }
            let got: Vec<bool> = (0..300).map(|bit| map.get(bit)).collect();
            prop_assert_eq!(&got[..], &model[..]);
            let range = low.min(high)..low.max(high);
            let bits = || range.clone().zip(&model[range.start as usize..range.end as usize]);
            let first = |wanted| bits().find(|(_, bit)| **bit == wanted).map_or(range.end, |(at, _)| at);
            let last = |wanted| bits().rfind(|(_, bit)| **bit == wanted).map_or(range.start, |(at, _)| at + 1);
            prop_assert_eq!(map.next_set(range.clone()), first(true));
            prop_assert_eq!(map.next_clear(range.clone()), first(false));
            prop_assert_eq!(map.after_last_set(range.clone()), last(true));
            prop_assert_eq!(map.after_last_clear(range.clone()), last(false));
        }
    }
}
