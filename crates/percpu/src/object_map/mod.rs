//! The objects of a chunk: where each starts and ends, and so which bits are used.
//!
//! ```text
//!   objects  |a a a a|. .|b|c c|. ...       one bit for 4 bytes, lowest first
//!   starts    1 0 0 0 0 0 1 1 0 0 ...       the first bit of an object
//!   ends      0 0 0 1 0 0 1 0 1 0 ...       the last bit of an object
//!   used      1 1 1 1 0 0 1 1 1 0 ...       2 * ends - starts
//!
//!   line     | starts of 256 bits | ends of the same |    64 bytes, a cache line
//! ```
//!
//! An object from bit `s` to bit `e` takes 2^(e+1) - 2^s of a word's value, so a subtraction finds the used bits of all
//! objects of a word. So to place an object of up to a kilobyte or to free it mostly touches a line, two bits of it.
//!
//! A word of 64 bits that one object covers has no bits in its line. That it is used is in the block's [`Summary`]
//! alone, and so is whether a word goes on with the object of the word before, which is 1 less for the subtraction. An
//! object of whole words so is no more than a few bits of a summary; of another of several words, the lines say where
//! in its first and its last word it starts and ends.
//!
//! Cost: two bits for every four bytes of a unit, and eight bytes for every block.

mod summary;
#[cfg(test)]
mod tests;

use crate::OutOfMemory;
use crate::bitmap::{Bits, WORD, from_mask, repeated};
use crate::geometry::{BLOCK_BITS, base_of, block_of, in_block};
use alloc::boxed::Box;
use core::ops::Range;
use summary::{BLOCK_WORDS, Summary};

/// Words of each map in a line.
const LINE_WORDS: u32 = 4;

type Words = [u64; LINE_WORDS as usize];

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    starts: Words,
    ends: Words,
}

const _: () = assert!(size_of::<Line>() == 64 && BLOCK_WORDS.is_multiple_of(LINE_WORDS));

impl Line {
    const EMPTY: Self = Self { starts: [0; LINE_WORDS as usize], ends: [0; LINE_WORDS as usize] };

    /// The used bits of a word of the unit, in this line.
    #[inline(always)]
    fn used(&self, word: u32, summary: Summary) -> u64 {
        let at = ObjectMap::at(word).1;
        (self.ends[at] << 1).wrapping_sub(self.starts[at]).wrapping_sub(summary.begin_within(word) & 1)
    }
}

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
        let lines = repeated(Line::EMPTY, bits / (LINE_WORDS * WORD))?.into_boxed_slice();
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
            return core::array::from_fn(|at| (summary.begin_within(at as u32) & 1).wrapping_neg());
        }
        let first = block * BLOCK_WORDS;
        let lines = &self.lines[Self::at(first).0..Self::at(first + BLOCK_WORDS).0];
        core::array::from_fn(|at| lines[at / LINE_WORDS as usize].used(at as u32, summary))
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

    /// Notes an object in bits that are free. Returns how many blocks were free as a whole until now.
    #[inline]
    pub(crate) fn take(&mut self, object: &Range<u32>) -> u32 {
        let (len, last) = (object.end - object.start, object.end - 1);
        if object.start / WORD != last / WORD || len == WORD {
            return self.take_words(object);
        }
        let (line, at) = Self::at(last / WORD);
        let line = &mut self.lines[line];
        line.starts[at] |= bit_of(object.start);
        line.ends[at] |= bit_of(last);
        u32::from(self.blocks[block_of(last) as usize].add(Summary::in_word(len)))
    }

    /// The same of an object of several words, or of a whole one.
    #[inline(never)]
    fn take_words(&mut self, object: &Range<u32>) -> u32 {
        if !object.start.is_multiple_of(WORD) {
            let (line, at) = Self::at(object.start / WORD);
            self.lines[line].starts[at] |= bit_of(object.start);
        }
        if !object.end.is_multiple_of(WORD) {
            let (line, at) = Self::at(object.end / WORD);
            self.lines[line].ends[at] |= bit_of(object.end - 1);
        }
        self.change_summaries(object, Summary::add)
    }

    /// Forgets the object that starts at a bit, if one does. Returns its number of bits, and how many blocks are free as
    /// a whole from now on.
    #[inline(always)]
    pub(crate) fn give(&mut self, bit: u32) -> Option<(u32, u32)> {
        let (word, shift) = (bit / WORD, bit % WORD);
        let summary = self.blocks.get_mut(block_of(bit) as usize)?;
        if summary.is_whole(word) {
            return self.starts_whole(bit).then(|| self.give_words(bit));
        }
        let (line, at) = Self::at(word);
        let line = self.lines.get_mut(line)?;
        let (starts, ends) = (line.starts[at], line.ends[at] >> shift);
        if starts & bit_of(bit) == 0 {
            return None;
        }
        if ends == 0 {
            return Some(self.give_words(bit));
        }
        let last = ends.trailing_zeros();
        line.starts[at] = starts & !bit_of(bit);
        line.ends[at] &= !bit_of(bit + last);
        let emptied = summary.subtract(Summary::in_word(last + 1));
        Some((last + 1, u32::from(emptied)))
    }

    /// The same of an object that has the end of the word that it starts in, or the whole of it.
    #[inline(never)]
    fn give_words(&mut self, start: u32) -> (u32, u32) {
        let end = self.end_behind(start / WORD);
        if !start.is_multiple_of(WORD) {
            let (line, at) = Self::at(start / WORD);
            self.lines[line].starts[at] &= !bit_of(start);
        }
        if !end.is_multiple_of(WORD) {
            let (line, at) = Self::at(end / WORD);
            self.lines[line].ends[at] &= !bit_of(end - 1);
        }
        (end - start, self.change_summaries(&(start..end), Summary::subtract))
    }

    /// Whether an object starts at a bit with a word that it covers.
    #[inline]
    fn starts_whole(&self, bit: u32) -> bool {
        let summary = self.summary(bit / WORD);
        bit.is_multiple_of(WORD) && summary.is_whole(bit / WORD) && !summary.continues(bit / WORD)
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
        let (line, at) = Self::at(bit / WORD);
        if self.lines[line].starts[at] & bit_of(bit) != 0 || self.starts_whole(bit) {
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
        if ends == 0 { self.end_behind(word) } else { word * WORD + ends.trailing_zeros() + 1 }
    }

    /// One past the last bit of the object that has the last bit of a word, if its end is not in the word's line.
    #[inline]
    fn end_behind(&self, mut word: u32) -> u32 {
        loop {
            let last = word + self.summary(word).following(word);
            if !self.summary(last).is_whole(last) {
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
    const LINE_WORDS: u32 = LINE_WORDS;

    /// A line in which nothing starts or ends is used as far as its words are marked.
    #[inline]
    fn is_line_of(&self, line: u32, word: u64) -> bool {
        let Line { starts, ends } = &self.lines[line as usize];
        let plain = starts.iter().chain(ends).fold(0, |all, word| all | word) == 0;
        let first = line * LINE_WORDS;
        let marks = self.summary(first).begin_within(first) % (1 << LINE_WORDS);
        plain && marks == word % (1 << LINE_WORDS)
    }

    /// The used bits of a word.
    #[inline]
    fn word(&self, word: u32) -> u64 {
        self.lines[Self::at(word).0].used(word, self.summary(word))
    }
}

/// The bit in its word.
#[inline]
const fn bit_of(bit: u32) -> u64 {
    1 << (bit % WORD)
}
