//! The objects of a chunk: a map of used bits and a map of object starts.
//!
//! ```text
//!   objects  |a a a a|. .|b|c c|. ...       one bit for 4 bytes, lowest first
//!   used      1 1 1 1 0 0 1 1 1 0 ...
//!   starts    1 0 0 0 0 0 1 1 0 0 ...       an object ends before the next start or the next unused bit
//!
//!   memory   | used of 64 bits | starts of the same | used of the next 64 | ...
//! ```
//!
//! Words of both maps alternate, so that most allocations and frees change one cache line. Words exist only up to the
//! last page that ever held an object. The rest of a chunk costs neither zeroing nor page faults, and counts as free.
//!
//! Cost: two bits for every four bytes of a unit.

#[cfg(test)]
mod tests;

use crate::OutOfMemory;
use crate::geometry::{BLOCK_BITS, block_of};
use crate::memory::with_room;
use alloc::vec::Vec;
use core::ops::Range;

/// Bits of a word.
pub(crate) const WORD: u32 = u64::BITS;
/// Words of a block.
pub(crate) const BLOCK_WORDS: u32 = BLOCK_BITS / WORD;

/// The two maps for 64 bits of a unit.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(crate) struct Word {
    pub(crate) used: u64,
    pub(crate) starts: u64,
}

impl Word {
    /// The bits after `bit` at which its object has ended: free bits, and starts of other objects.
    #[inline]
    fn ends_behind(self, bit: u32) -> u64 {
        (self.starts | !self.used) & (!1 << bit)
    }
}

/// The state of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The bit is beyond the chunk, or the chunk is gone.
    Outside,
    /// A free bit.
    Free,
    /// A bit of an object that starts elsewhere.
    Interior,
    /// The start of an object. The value is one past its last bit.
    Object(u32),
}

/// The maps of a chunk. All ranges lie within its bits.
#[derive(Debug)]
pub struct ObjectMap {
    /// The words up to the last page that ever held an object. Capacity for all pages is reserved from the start.
    words: Vec<Word>,
    bits: u32,
}

impl Clone for ObjectMap {
    fn clone(&self) -> Self {
        let mut words = Vec::with_capacity(self.words.capacity());
        words.extend_from_slice(&self.words);
        Self { words, bits: self.bits }
    }
}

impl ObjectMap {
    /// A map of `bits` bits, which are whole blocks, without objects.
    pub(crate) fn new(bits: u32) -> Result<Self, OutOfMemory> {
        Ok(Self { words: with_room(bits / WORD)?, bits })
    }

    /// No bits and no memory.
    pub(crate) const fn empty() -> Self {
        Self { words: Vec::new(), bits: 0 }
    }

    /// Whether there are any bits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<Word>()
    }

    /// The words up to the last page that ever held an object.
    #[inline]
    pub(crate) fn words(&self) -> &[Word] {
        &self.words
    }

    /// The word at a position. A missing word counts as free.
    #[inline]
    fn word(&self, at: u32) -> Word {
        self.words.get(at as usize).copied().unwrap_or_default()
    }

    /// Marks an object in free bits.
    #[inline]
    pub(crate) fn take(&mut self, object: &Range<u32>) {
        let (at, bit) = (object.start / WORD, object.start % WORD);
        match self.words.get_mut(at as usize) {
            Some(word) if (object.end - 1) / WORD == at => {
                word.starts |= 1 << bit;
                word.used |= ones(object.end - object.start) << bit;
            }
            _ => self.take_words(object),
        }
    }

    /// As [`ObjectMap::take`], for an object of several words, or in a page that never held one.
    #[inline(never)]
    fn take_words(&mut self, object: &Range<u32>) {
        let (first, last) = ((object.start / WORD) as usize, ((object.end - 1) / WORD) as usize);
        if last >= self.words.len() {
            self.grow(object.end - 1);
        }
        self.words[first].starts |= 1 << (object.start % WORD);
        for (at, word) in (first..).zip(&mut self.words[first..=last]) {
            let head = if at == first { !0 << (object.start % WORD) } else { !0 };
            word.used |= head & if at == last { up_to_mask(object.end - 1) } else { !0 };
        }
    }

    /// Splits an object: marks every `spacing`-th bit from `first` up to `end` as a start.
    pub(crate) fn start_each(&mut self, first: u32, end: u32, spacing: u32) {
        let mut bit = first;
        while bit < end {
            let (at, low) = ((bit / WORD) as usize, bit % WORD);
            // Sets every `spacing`-th bit of a word, by doubling.
            let (mut each, mut shift) = (1_u64, spacing);
            while shift < WORD {
                each |= each << shift;
                shift *= 2;
            }
            let word_end = (at as u32 + 1) * WORD;
            let within = if end < word_end { ones(end % WORD) } else { !0 };
            self.words[at].starts |= (each << low) & within;
            bit += (word_end - bit).div_ceil(spacing) * spacing;
        }
    }

    /// Adds words up to the end of a bit's block. Their memory was reserved with the chunk.
    #[cold]
    fn grow(&mut self, bit: u32) {
        self.words.resize(((block_of(bit) + 1) * BLOCK_WORDS) as usize, Word::default());
    }

    /// Clears the object that starts at a bit, if there is one. Returns one past its last bit.
    #[inline]
    pub(crate) fn give(&mut self, start: u32) -> Option<u32> {
        let (at, bit) = (start / WORD, start % WORD);
        let word = self.words.get_mut(at as usize)?;
        if word.starts >> bit & 1 == 0 {
            return None;
        }
        word.starts ^= 1 << bit;
        let ends = word.ends_behind(bit);
        if ends != 0 {
            let len = ends.trailing_zeros() - bit;
            word.used ^= ones(len) << bit;
            return Some(start + len);
        }
        word.used &= !(!0 << bit);
        Some(self.give_words(at + 1))
    }

    /// Clears the rest of an object that continues at a word. Returns one past its last bit.
    #[inline(never)]
    fn give_words(&mut self, first: u32) -> u32 {
        let mut at = first;
        for word in self.words.iter_mut().skip(first as usize) {
            let ends = word.starts | !word.used;
            if ends != 0 {
                word.used &= !0 << ends.trailing_zeros();
                return at * WORD + ends.trailing_zeros();
            }
            word.used = 0;
            at += 1;
        }
        at * WORD
    }

    /// The state of a bit.
    pub(crate) fn find(&self, bit: u32) -> Found {
        if bit >= self.bits {
            return Found::Outside;
        }
        let word = self.word(bit / WORD);
        if word.starts >> (bit % WORD) & 1 != 0 {
            Found::Object(self.end_of(bit))
        } else if word.used >> (bit % WORD) & 1 != 0 {
            Found::Interior
        } else {
            Found::Free
        }
    }

    /// The end of the object that contains a bit: one past its last bit.
    fn end_of(&self, bit: u32) -> u32 {
        let mut at = bit / WORD;
        let mut ends = self.words[at as usize].ends_behind(bit % WORD);
        while ends == 0 {
            at += 1;
            match self.words.get(at as usize) {
                Some(word) => ends = word.starts | !word.used,
                None => return at * WORD,
            }
        }
        at * WORD + ends.trailing_zeros()
    }

    /// The first bit of the object that contains a bit.
    #[allow(clippy::expect_used, reason = "only a broken invariant stops it, and is named")]
    pub(crate) fn start_of(&self, bit: u32) -> u32 {
        let mut at = bit / WORD;
        let mut starts = self.words[at as usize].starts & up_to_mask(bit);
        while starts == 0 {
            at = at.checked_sub(1).expect("P2: an object starts at or below each of its bits");
            starts = self.words[at as usize].starts;
        }
        at * WORD + starts.ilog2()
    }

    /// The bits of every object.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Range<u32>> {
        let next = |bit| {
            let start = self.next_set(bit..self.bits);
            (start < self.bits).then(|| start..self.end_of(start))
        };
        core::iter::successors(next(0), move |object| next(object.end))
    }

    /// The number of used bits of a range of whole words.
    pub(crate) fn count(&self, range: Range<u32>) -> u32 {
        (range.start / WORD..range.end / WORD).map(|at| self.word(at).used.count_ones()).sum()
    }

    /// Whether every start bit is also used, and there are no words after the chunk's last bit.
    pub(crate) fn starts_are_used(&self) -> bool {
        self.words.len() <= (self.bits / WORD) as usize
            && self.words.iter().all(|word| word.starts & !word.used == 0)
    }

    /// Flips a used bit or a start bit. Only tests do this, to break the map.
    #[cfg(test)]
    pub(crate) fn flip(&mut self, bit: u32, start: bool) {
        self.words.resize((self.bits / WORD) as usize, Word::default());
        let word = &mut self.words[(bit / WORD) as usize];
        let map = if start { &mut word.starts } else { &mut word.used };
        *map ^= 1 << (bit % WORD);
    }

    /// The first used bit of the range; its end if there is none. Cost: a step for every 64 bits.
    #[inline]
    pub fn next_set(&self, range: Range<u32>) -> u32 {
        self.next(range, 0)
    }

    /// The first free bit of the range; its end if there is none. Cost: a step for every 64 bits.
    #[inline]
    pub fn next_clear(&self, range: Range<u32>) -> u32 {
        self.next(range, !0)
    }

    /// The first bit of the range that is set in the used bits, each word XORed with `flip`; its end if there is none.
    #[inline]
    fn next(&self, range: Range<u32>, flip: u64) -> u32 {
        if range.is_empty() {
            return range.end;
        }
        let mut at = range.start / WORD;
        let mut word = (self.word(at).used ^ flip) & (!0 << (range.start % WORD));
        while word == 0 {
            at += 1;
            if at * WORD >= range.end {
                return range.end;
            }
            word = self.word(at).used ^ flip;
        }
        (at * WORD + word.trailing_zeros()).min(range.end)
    }

    /// The end of the last used bit of the range; the range's start if there is none. Cost: a step for every 64 bits.
    #[inline]
    pub fn after_last_set(&self, range: Range<u32>) -> u32 {
        if range.is_empty() {
            return range.start;
        }
        let last = range.end - 1;
        let mut at = last / WORD;
        let mut word = self.word(at).used & up_to_mask(last);
        while word == 0 {
            if at * WORD <= range.start {
                return range.start;
            }
            at -= 1;
            word = self.word(at).used;
        }
        ((at + 1) * WORD - word.leading_zeros()).max(range.start)
    }
}

/// A word whose lowest `count` bits are set; `count` is 1 to 64.
#[inline]
pub(crate) const fn ones(count: u32) -> u64 {
    !0 >> (WORD - count)
}

/// A word whose bits up to and including that of `last` are set.
#[inline]
const fn up_to_mask(last: u32) -> u64 {
    !0 >> (WORD - 1 - last % WORD)
}
