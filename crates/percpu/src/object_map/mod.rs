//! The objects of a chunk: where each starts and ends, and so which bits are used.
//!
//! ```text
//!   objects  |a a a a|. .|b|c c|. ...       one bit for 4 bytes, lowest first
//!   starts    1 0 0 0 0 0 1 1 0 0 ...       the first bit of an object
//!   ends      0 0 0 1 0 0 1 0 1 0 ...       the last bit of an object
//!   used      1 1 1 1 0 0 1 1 1 0 ...       2 * ends - starts
//!
//!   memory   | starts of 64 bits | ends of the same | starts of the next 64 | ...
//! ```
//!
//! The bits `s` to `e` of a word are worth 2^(e+1) - 2^s, so that one subtraction finds the used bits of all objects in
//! it. To place an object or to free it changes two bits, mostly in one cache line.
//!
//! A word of 64 bits that one object covers has no bounds: that it is used is in the block's [`Summary`] alone. So is
//! whether a word goes on with the object of the word before, whose bits in it are worth 2^(e+1) - 1. An object of whole
//! words is nothing but a few bits of a summary then; of another of several words, the first and the last one have the
//! bounds.
//!
//! Cost: two bits for every four bytes of a unit, and eight bytes for every block.

mod summary;
#[cfg(test)]
mod tests;

use crate::OutOfMemory;
use crate::bitmap::{Bits, WORD, from_mask, repeated};
use crate::geometry::{BLOCK_BITS, block_of, in_block};
use alloc::boxed::Box;
use core::num::NonZeroU64;
use core::ops::Range;
use summary::{BLOCK_WORDS, Summary};

/// Words that are passed over together where nothing starts or ends.
const LINE_WORDS: u32 = 4;

/// Where objects start and end in a word that no object covers.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Bounds {
    starts: u64,
    ends: u64,
}

impl Bounds {
    const NONE: Self = Self { starts: 0, ends: 0 };

    /// The used bits, given whether the first of them is of an object that has no bounds here, or only its end.
    #[inline(always)]
    fn used(self, begins_within: bool) -> u64 {
        (self.ends << 1).wrapping_sub(self.starts).wrapping_sub(u64::from(begins_within))
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
    /// By word.
    bounds: Box<[Bounds]>,
    blocks: Box<[Summary]>,
}

impl ObjectMap {
    /// No objects in so many bits, whole blocks.
    pub(crate) fn new(bits: u32) -> Result<Self, OutOfMemory> {
        let bounds = repeated(Bounds::NONE, bits / WORD)?.into_boxed_slice();
        let blocks = repeated(Summary::FREE, bits / BLOCK_BITS)?.into_boxed_slice();
        Ok(Self { bounds, blocks })
    }

    /// No bits and no memory.
    pub(crate) fn empty() -> Self {
        Self { bounds: Box::default(), blocks: Box::default() }
    }

    /// Whether there are any bits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.bounds) + size_of_val(&*self.blocks)
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
            return core::array::from_fn(|at| if summary.begins_within(at as u32) { !0 } else { 0 });
        }
        let first = (block * BLOCK_WORDS) as usize;
        let bounds = &self.bounds[first..first + BLOCK_WORDS as usize];
        core::array::from_fn(|at| bounds[at].used(summary.begins_within(at as u32)))
    }

    /// Whether no bit of a block is used.
    #[inline]
    pub(crate) fn is_free(&self, block: u32) -> bool {
        self.blocks[block as usize] == Summary::FREE
    }

    /// The bounds in the word of a bit.
    #[inline]
    fn bounds_of(&mut self, bit: u32) -> &mut Bounds {
        &mut self.bounds[(bit / WORD) as usize]
    }

    #[inline]
    fn summary(&self, word: u32) -> Summary {
        self.blocks[(word / BLOCK_WORDS) as usize]
    }

    #[inline]
    fn is_whole(&self, word: u32) -> bool {
        self.summary(word).is_whole(word)
    }

    /// Notes an object in bits that are free. Returns how many blocks were free as a whole until now.
    #[inline]
    pub(crate) fn take(&mut self, object: &Range<u32>) -> u32 {
        let (len, last) = (object.end - object.start, object.end - 1);
        if object.start / WORD != last / WORD || len == WORD {
            return self.take_words(object);
        }
        let bounds = self.bounds_of(last);
        bounds.starts |= bit_of(object.start);
        bounds.ends |= bit_of(last);
        u32::from(self.blocks[block_of(last) as usize].add(Summary::in_word(len)))
    }

    /// The same of an object of several words, or of a whole one.
    #[inline(never)]
    fn take_words(&mut self, object: &Range<u32>) -> u32 {
        if !object.start.is_multiple_of(WORD) {
            self.bounds_of(object.start).starts |= bit_of(object.start);
        }
        if !object.end.is_multiple_of(WORD) {
            self.bounds_of(object.end).ends |= bit_of(object.end - 1);
        }
        self.change_summaries(object, Summary::add)
    }

    /// Forgets the object that starts at a bit, if one does. Returns its number of bits, and how many blocks are free as
    /// a whole from now on.
    #[inline(always)]
    pub(crate) fn give(&mut self, bit: u32) -> Option<(u32, u32)> {
        let word = bit / WORD;
        let summary = self.blocks.get_mut(block_of(bit) as usize)?;
        if summary.is_whole(word) {
            return (bit.is_multiple_of(WORD) && !summary.continues(word)).then(|| self.give_whole(bit));
        }
        let bounds = self.bounds.get_mut(word as usize)?;
        if bounds.starts & bit_of(bit) == 0 {
            return None;
        }
        let Some(ends) = NonZeroU64::new(bounds.ends >> (bit % WORD)) else {
            return Some(self.give_words(bit));
        };
        let last = ends.trailing_zeros();
        // Both bits are set. Cleared in the same way, a compiler would take both words in one wide register.
        bounds.starts ^= bit_of(bit);
        bounds.ends &= !bit_of(bit + last);
        let emptied = summary.subtract(Summary::in_word(last + 1));
        Some((last + 1, u32::from(emptied)))
    }

    /// The same of an object that starts with a whole word.
    #[inline(never)]
    fn give_whole(&mut self, start: u32) -> (u32, u32) {
        let word = start / WORD;
        let summary = &mut self.blocks[(word / BLOCK_WORDS) as usize];
        match summary.whole_object(word) {
            Some(part) => (part.count().into(), u32::from(summary.subtract(part))),
            None => self.give_words(start),
        }
    }

    /// The same of any object that does not lie within a word.
    #[inline(never)]
    fn give_words(&mut self, start: u32) -> (u32, u32) {
        let end = self.end_behind(start / WORD);
        if !self.is_whole(start / WORD) {
            self.bounds_of(start).starts &= !bit_of(start);
        }
        if !self.is_whole((end - 1) / WORD) {
            self.bounds_of(end - 1).ends &= !bit_of(end - 1);
        }
        (end - start, self.change_summaries(&(start..end), Summary::subtract))
    }

    /// Changes the summaries of the blocks that an object is in by its part of each; of how many `change` is true.
    #[inline(always)]
    fn change_summaries(
        &mut self,
        object: &Range<u32>,
        change: impl Fn(&mut Summary, Summary) -> bool,
    ) -> u32 {
        let (first, last) = (block_of(object.start), block_of(object.end - 1));
        let (mut from, to) = (in_block(object.start), in_block(object.end - 1) + 1);
        if first == last {
            let part = Summary::part(from, to, false, false);
            return u32::from(change(&mut self.blocks[first as usize], part));
        }
        let mut changed = 0;
        for block in first..last {
            let part = Summary::part(from, BLOCK_BITS, block > first, true);
            changed += u32::from(change(&mut self.blocks[block as usize], part));
            from = 0;
        }
        changed + u32::from(change(&mut self.blocks[last as usize], Summary::part(0, to, true, false)))
    }

    /// What is at a bit.
    pub(crate) fn find(&self, bit: u32) -> Found {
        let word = bit / WORD;
        if word as usize >= self.bounds.len() {
            return Found::Outside;
        }
        let starts = if self.is_whole(word) {
            bit.is_multiple_of(WORD) && !self.summary(word).continues(word)
        } else {
            self.bounds[word as usize].starts & bit_of(bit) != 0
        };
        if starts {
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
        let word = bit / WORD;
        let ends = if self.is_whole(word) { 0 } else { self.bounds[word as usize].ends & from_mask(bit) };
        if ends == 0 { self.end_behind(word) } else { word * WORD + ends.trailing_zeros() + 1 }
    }

    /// One past the last bit of the object that has the last bit of a word, unless its end is marked there.
    #[inline]
    fn end_behind(&self, mut word: u32) -> u32 {
        loop {
            let last = word + self.summary(word).following(word);
            if !self.is_whole(last) {
                return last * WORD + self.bounds[last as usize].ends.trailing_zeros() + 1;
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

    /// Words in which nothing starts or ends are used as their block's summary says.
    #[inline]
    fn is_line_of(&self, line: u32, word: u64) -> bool {
        let first = line * LINE_WORDS;
        let bounds = &self.bounds[first as usize..(first + LINE_WORDS) as usize];
        let plain = bounds.iter().fold(0, |all, word| all | word.starts | word.ends) == 0;
        plain && self.summary(first).begin_within(first) % (1 << LINE_WORDS) == word % (1 << LINE_WORDS)
    }

    /// The used bits of a word.
    #[inline]
    fn word(&self, word: u32) -> u64 {
        self.bounds[word as usize].used(self.summary(word).begins_within(word))
    }
}

/// The bit in its word.
#[inline]
const fn bit_of(bit: u32) -> u64 {
    1 << (bit % WORD)
}
