//! The objects of a chunk: which bits are used, and where each object ends.
//!
//! ```text
//!   used   1 1 1 1 0 0 1 1 0 ...    one bit for 4 bytes: allocated or not
//!   ends   0 1 0 1 . . 0 1 . ...    the last bit of an object; what is left of former ones where nothing is used
//!
//!   line   | used of 256 bits | ends of the same |    64 bytes, a cache line
//! ```
//!
//! Both maps of a bit lie in one line. A word of 64 bits that one object covers is clear in both: that it is used is in
//! the block's [`Summary`] alone, and so is which words go on with the object of the word before. An object of whole
//! words so is no more than a few bits of a summary; of another of several words, the lines say what it has of its
//! first and its last one.
//!
//! An object starts where a used bit does not continue the one before: that one is free, or an end (P2).
//!
//! Cost: two bits for every four bytes of a unit, and eight bytes for every block.

mod summary;
#[cfg(test)]
mod tests;

use crate::OutOfMemory;
use crate::bitmap::{Bits, WORD, from_mask, repeated, up_to_mask};
use crate::geometry::{BLOCK_BITS, base_of, block_of, in_block};
use alloc::boxed::Box;
use core::ops::Range;
use summary::{BLOCK_WORDS, Summary};

/// Words of each map in a line.
const LINE_WORDS: u32 = 4;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    used: [u64; LINE_WORDS as usize],
    ends: [u64; LINE_WORDS as usize],
}

const _: () = assert!(size_of::<Line>() == 64 && BLOCK_WORDS.is_multiple_of(LINE_WORDS));

/// What is at a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No bit: the maps end before, or there are none.
    Outside,
    /// Nothing.
    Free,
    /// An object that starts elsewhere.
    Interior,
    /// The start of an object, and one past its last bit.
    Object(u32),
}

/// The maps of a chunk. Bits that methods take lie within.
#[derive(Clone, Debug)]
pub(crate) struct ObjectMap {
    lines: Box<[Line]>,
    blocks: Box<[Summary]>,
}

impl ObjectMap {
    /// No objects in so many bits, whole blocks.
    pub(crate) fn new(bits: u32) -> Result<Self, OutOfMemory> {
        let line = Line { used: [0; LINE_WORDS as usize], ends: [0; LINE_WORDS as usize] };
        let lines = repeated(line, bits / (LINE_WORDS * WORD))?.into_boxed_slice();
        let blocks = repeated(Summary::FREE, bits / BLOCK_BITS)?.into_boxed_slice();
        Ok(Self { lines, blocks })
    }

    /// No bits and no memory.
    pub(crate) fn empty() -> Self {
        Self { lines: Box::default(), blocks: Box::default() }
    }

    /// Whether there are any bits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.lines) + size_of_val(&*self.blocks)
    }

    /// The used bits of a block.
    #[inline]
    pub(crate) fn count(&self, block: u32) -> u16 {
        self.blocks[block as usize].count()
    }

    /// The used bits of a block, word by word.
    #[inline]
    pub(crate) fn words_of(&self, block: u32) -> [u64; BLOCK_WORDS as usize] {
        let summary = self.blocks[block as usize];
        if summary.is_all() {
            return core::array::from_fn(|at| summary.used(at as u32));
        }
        let first = (block * BLOCK_WORDS / LINE_WORDS) as usize;
        let lines = &self.lines[first..first + (BLOCK_WORDS / LINE_WORDS) as usize];
        let used = |at: usize| lines[at / LINE_WORDS as usize].used[at % LINE_WORDS as usize];
        core::array::from_fn(|at| used(at) | summary.used(at as u32))
    }

    /// Whether no bit of a block is used.
    #[inline]
    pub(crate) fn is_free(&self, block: u32) -> bool {
        self.blocks[block as usize] == Summary::FREE
    }

    #[inline]
    fn at(word: u32) -> (usize, usize) {
        ((word / LINE_WORDS) as usize, (word % LINE_WORDS) as usize)
    }

    #[inline]
    fn summary(&self, word: u32) -> Summary {
        self.blocks[(word / BLOCK_WORDS) as usize]
    }

    #[inline]
    fn is_whole(&self, word: u32) -> bool {
        self.summary(word).whole(word) & 1 != 0
    }

    /// Notes an object in bits that are free. Returns how many blocks were free as a whole until now.
    #[inline]
    pub(crate) fn take(&mut self, object: &Range<u32>) -> u32 {
        let (len, last) = (object.end - object.start, object.end - 1);
        if object.start / WORD != last / WORD || len == WORD {
            return self.take_words(object);
        }
        let mask = from_mask(object.start) & up_to_mask(last);
        let (line, at) = Self::at(last / WORD);
        let line = &mut self.lines[line];
        line.used[at] |= mask;
        line.ends[at] = line.ends[at] & !mask | 1 << (last % WORD);
        u32::from(self.blocks[block_of(last) as usize].add(Summary::in_word(len)))
    }

    /// The same of an object of several words, or of a whole one.
    #[inline(never)]
    fn take_words(&mut self, object: &Range<u32>) -> u32 {
        if !object.start.is_multiple_of(WORD) {
            let mask = from_mask(object.start);
            let (line, at) = Self::at(object.start / WORD);
            let line = &mut self.lines[line];
            line.used[at] |= mask;
            line.ends[at] &= !mask;
        }
        if !object.end.is_multiple_of(WORD) {
            let mask = up_to_mask(object.end - 1);
            let (line, at) = Self::at(object.end / WORD);
            let line = &mut self.lines[line];
            line.used[at] |= mask;
            line.ends[at] = line.ends[at] & !mask | (mask ^ mask >> 1);
        }
        self.change_summaries(object, Summary::add)
    }

    /// Forgets the object that starts at a bit, if one does; its end stays where it was. Returns one past its last bit,
    /// and how many blocks are free as a whole from now on.
    #[inline(always)]
    pub(crate) fn give(&mut self, bit: u32) -> Option<(u32, u32)> {
        let (word, shift) = (bit / WORD, bit % WORD);
        let summary = self.blocks.get_mut(block_of(bit) as usize)?;
        if summary.whole(word) & 1 == 0 {
            let (line, at) = Self::at(word);
            let line = self.lines.get_mut(line)?;
            let (used, ends) = (line.used[at], line.ends[at]);
            if starts(used, ends, *summary, word) >> shift & 1 == 0 {
                return None;
            }
            let ends = ends >> shift;
            if ends != 0 {
                let len = ends.trailing_zeros() + 1;
                // The bits up to the lowest end.
                line.used[at] = used & !((ends ^ (ends - 1)) << shift);
                let emptied = summary.subtract(Summary::in_word(len));
                return Some((bit + len, u32::from(emptied)));
            }
        } else if shift != 0 || summary.continues(word) & 1 != 0 {
            return None;
        }
        Some(self.give_words(bit))
    }

    /// The same of an object that has the end of the word that it starts in.
    #[inline(never)]
    fn give_words(&mut self, start: u32) -> (u32, u32) {
        let end = self.end_behind(start / WORD);
        if !start.is_multiple_of(WORD) {
            let (line, at) = Self::at(start / WORD);
            self.lines[line].used[at] &= !from_mask(start);
        }
        if !end.is_multiple_of(WORD) {
            let (line, at) = Self::at(end / WORD);
            self.lines[line].used[at] &= !up_to_mask(end - 1);
        }
        (end, self.change_summaries(&(start..end), Summary::subtract))
    }

    /// Changes the summaries of the blocks that an object is in by its part of each; of how many `change` is true.
    #[inline(always)]
    fn change_summaries(&mut self, object: &Range<u32>, change: impl Fn(&mut Summary, Summary) -> bool) -> u32 {
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        let mut changed = 0;
        let mut from = in_block(object.start);
        for block in first..last {
            let part = Summary::part(from, BLOCK_BITS, block > first, true);
            changed += u32::from(change(&mut self.blocks[block as usize], part));
            from = 0;
        }
        let part = Summary::part(from, object.end - base_of(last), last > first, false);
        changed + u32::from(change(&mut self.blocks[last as usize], part))
    }

    /// What is at a bit.
    pub(crate) fn find(&self, bit: u32) -> Found {
        if bit >= BLOCK_BITS * self.blocks.len() as u32 {
            return Found::Outside;
        }
        let (word, (line, at)) = (bit / WORD, Self::at(bit / WORD));
        let summary = self.summary(word);
        let used = self.word(word);
        // A whole word has no ends.
        let ends = self.lines[line].ends[at] & !summary.used(word);
        if starts(used, ends, summary, word) >> (bit % WORD) & 1 != 0 {
            Found::Object(self.end_of(bit))
        } else if self.get(bit) {
            Found::Interior
        } else {
            Found::Free
        }
    }

    /// One past the last bit of the object that the bit is of.
    #[inline]
    pub(crate) fn end_of(&self, bit: u32) -> u32 {
        let (word, (line, at)) = (bit / WORD, Self::at(bit / WORD));
        let ends = self.lines[line].ends[at] & from_mask(bit);
        if ends == 0 || self.is_whole(word) {
            return self.end_behind(word);
        }
        word * WORD + ends.trailing_zeros() + 1
    }

    /// One past the last bit of the object that has the last bit of a word, and not a mark of its end there.
    #[inline]
    fn end_behind(&self, mut word: u32) -> u32 {
        loop {
            let last = word + self.summary(word).following(word);
            if !self.is_whole(last) {
                let (line, at) = Self::at(last);
                return last * WORD + self.lines[line].ends[at].trailing_zeros() + 1;
            }
            if last == word || !last.is_multiple_of(BLOCK_WORDS) {
                return (last + 1) * WORD;
            }
            word = last;
        }
    }

    /// The first bit of the object that the bit is of.
    pub(crate) fn start_of(&self, bit: u32) -> u32 {
        let mut start = self.after_last_clear(0..bit);
        while start < bit && self.end_of(start) <= bit {
            start = self.end_of(start);
        }
        start
    }

    /// Every object, by its bits, from a bit on that is no object's interior.
    pub(crate) fn objects(&self, bits: u32) -> impl Iterator<Item = Range<u32>> {
        let mut at = 0;
        core::iter::from_fn(move || {
            let start = self.next_set(at..bits);
            if start == bits {
                return None;
            }
            at = self.end_of(start);
            Some(start..at)
        })
    }
}

impl Bits for ObjectMap {
    /// The used bits of a word.
    #[inline]
    fn word(&self, word: u32) -> u64 {
        let (line, at) = Self::at(word);
        self.lines[line].used[at] | self.summary(word).used(word)
    }
}

/// The bits of a word that an object starts at: used ones that do not continue the bit before.
#[inline(always)]
fn starts(used: u64, ends: u64, summary: Summary, word: u32) -> u64 {
    used & !((used & !ends) << 1 | summary.continues(word) & 1)
}
