//! The objects of a chunk: which bits are used, and where each object ends.
//!
//! ```text
//!   used   1 1 1 1 0 0 1 1 0 ...    one bit for 4 bytes: allocated or not
//!   ends   0 1 0 1 . . 0 1 . ...    the last bit of an object; what is left of former ones where nothing is used
//!
//!   line   | used of 256 bits | ends of the same |    64 bytes, a cache line
//! ```
//!
//! Both maps of a bit lie in one line, so that to free an object of up to a kilobyte mostly touches one. An object
//! starts where a used bit does not continue the one before: that one is free, or an end (P2). Whether a line's first
//! bit, if used, continues the line before is noted beside the count of used bits of its block, in two bytes:
//!
//! ```text
//!   block  | lines 3 2 1 0 continue | 0 | used bits, up to 1024 |
//! ```
//!
//! Cost: two bits for every four bytes of a unit, and two bytes for every block.

use crate::OutOfMemory;
use crate::bitmap::{Bits, WORD, from_mask, repeated, up_to_mask};
use crate::geometry::{BLOCK_BITS, base_of, block_of};
use alloc::boxed::Box;
use core::ops::Range;

/// Words of each map in a line.
const LINE_WORDS: u32 = 4;
/// Bits of a line.
const LINE_BITS: u32 = LINE_WORDS * WORD;
/// Lines of a block.
const BLOCK_LINES: u32 = BLOCK_BITS / LINE_BITS;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    used: [u64; LINE_WORDS as usize],
    ends: [u64; LINE_WORDS as usize],
}

const _: () = assert!(size_of::<Line>() == 64 && BLOCK_BITS.is_multiple_of(LINE_BITS));

impl Line {
    /// Whether an object starts at a bit of the line. Whether the bit is the first of its line decides no branch, as
    /// objects are freed in any order.
    #[inline(always)]
    fn starts_object(&self, bit: u32, summary: Summary) -> bool {
        let before = bit.wrapping_sub(1);
        let at = ObjectMap::at(before / WORD).1;
        let in_line = (self.used[at] & !self.ends[at]) >> (before % WORD);
        let continued =
            if bit.is_multiple_of(LINE_BITS) { summary.over_edge(bit / LINE_BITS) } else { in_line };
        let used = self.used[ObjectMap::at(bit / WORD).1] >> (bit % WORD);
        used & !continued & 1 != 0
    }
}

/// Of a block: the number of used bits, and which of its lines continue an object from the line before.
#[derive(Clone, Copy, Debug)]
struct Summary(u16);

/// The bits of the count.
const COUNT: u16 = 2 * BLOCK_BITS as u16 - 1;

const _: () = assert!(COUNT.leading_zeros() >= BLOCK_LINES, "the marks of the lines are above the count");

impl Summary {
    #[inline]
    fn count(self) -> u16 {
        self.0 & COUNT
    }

    /// Which bit is the line's.
    #[inline]
    fn bit_of(line: u32) -> u32 {
        u16::BITS - BLOCK_LINES + line % BLOCK_LINES
    }

    #[inline]
    fn mark(line: u32) -> u16 {
        1 << Self::bit_of(line)
    }

    /// In the lowest bit, whether the line continues an object.
    #[inline]
    fn over_edge(self, line: u32) -> u64 {
        u64::from(self.0) >> Self::bit_of(line)
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
        let line = Line { used: [0; LINE_WORDS as usize], ends: [0; LINE_WORDS as usize] };
        let lines = repeated(line, bits / LINE_BITS)?.into_boxed_slice();
        let blocks = repeated(Summary(0), bits / BLOCK_BITS)?.into_boxed_slice();
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
    pub(crate) fn words_of(&self, block: u32) -> [u64; (BLOCK_BITS / WORD) as usize] {
        let first = (block * BLOCK_LINES) as usize;
        let lines = &self.lines[first..first + BLOCK_LINES as usize];
        core::array::from_fn(|at| lines[at / LINE_WORDS as usize].used[at % LINE_WORDS as usize])
    }

    /// Whether no bit of a block is used.
    #[inline]
    pub(crate) fn is_free(&self, block: u32) -> bool {
        self.count(block) == 0
    }

    #[inline]
    fn at(word: u32) -> (usize, usize) {
        ((word / LINE_WORDS) as usize, (word % LINE_WORDS) as usize)
    }

    /// Notes an object in bits that are free. Returns how many blocks were free as a whole until now.
    #[inline]
    pub(crate) fn take(&mut self, object: &Range<u32>) -> u32 {
        let last = object.end - 1;
        self.change(object, |used, ends, mask| {
            *used |= mask;
            *ends &= !mask;
        });
        let (line, at) = Self::at(last / WORD);
        self.lines[line].ends[at] |= 1 << (last % WORD);
        if object.start.is_multiple_of(LINE_BITS) {
            self.blocks[block_of(object.start) as usize].0 &= !Summary::mark(object.start / LINE_BITS);
        }
        for line in object.start / LINE_BITS + 1..last / LINE_BITS + 1 {
            self.blocks[(line / BLOCK_LINES) as usize].0 |= Summary::mark(line);
        }
        self.recount(object, |count, bits| {
            *count += bits;
            *count & COUNT == bits
        })
    }

    /// Forgets the object that starts at a bit, if one does; its end stays where it was. Returns one past its last bit,
    /// and how many blocks are free as a whole from now on.
    #[inline(always)]
    pub(crate) fn give(&mut self, bit: u32) -> Option<(u32, u32)> {
        let ((line, at), shift) = (Self::at(bit / WORD), bit % WORD);
        let (line, summary) = (self.lines.get_mut(line)?, self.blocks.get_mut(block_of(bit) as usize)?);
        if !line.starts_object(bit, *summary) {
            return None;
        }
        let ends = line.ends[at] >> shift;
        if ends == 0 {
            return Some(self.give_words(bit));
        }
        let len = ends.trailing_zeros() + 1;
        // The bits up to the lowest end.
        line.used[at] &= !((ends ^ (ends - 1)) << shift);
        summary.0 -= len as u16;
        Some((bit + len, u32::from(summary.count() == 0)))
    }

    /// The same of an object that goes on into the next word.
    #[inline(never)]
    fn give_words(&mut self, start: u32) -> (u32, u32) {
        let end = self.end_in(start / WORD + 1);
        self.change(&(start..end), |used, _, mask| *used &= !mask);
        let emptied = self.recount(&(start..end), |count, bits| {
            *count -= bits;
            *count & COUNT == 0
        });
        (end, emptied)
    }

    /// Changes the counts of the blocks of a range, given its bits in each; of how many `change` is true.
    #[inline(always)]
    fn recount(&mut self, range: &Range<u32>, change: impl Fn(&mut u16, u16) -> bool) -> u32 {
        let (first, last) = (block_of(range.start), block_of(range.end - 1));
        let mut changed = 0;
        let mut start = range.start;
        for block in first..last {
            let end = base_of(block + 1);
            changed += u32::from(change(&mut self.blocks[block as usize].0, (end - start) as u16));
            start = end;
        }
        changed + u32::from(change(&mut self.blocks[last as usize].0, (range.end - start) as u16))
    }

    /// Changes the words of a range that is not empty, given the bits of it in each.
    #[inline(always)]
    fn change(&mut self, range: &Range<u32>, change: impl Fn(&mut u64, &mut u64, u64)) {
        let last = range.end - 1;
        let (low, high) = (range.start / WORD, last / WORD);
        let (mut mask, tail) = (from_mask(range.start), up_to_mask(last));
        for word in low..high {
            let (line, at) = Self::at(word);
            let line = &mut self.lines[line];
            change(&mut line.used[at], &mut line.ends[at], mask);
            mask = !0;
        }
        let (line, at) = Self::at(high);
        let line = &mut self.lines[line];
        change(&mut line.used[at], &mut line.ends[at], mask & tail);
    }

    /// What is at a bit.
    pub(crate) fn find(&self, bit: u32) -> Found {
        let (line, block) = (Self::at(bit / WORD).0, block_of(bit) as usize);
        match (self.lines.get(line), self.blocks.get(block)) {
            (Some(line), Some(&summary)) if line.starts_object(bit, summary) => {
                Found::Object(self.end_of(bit))
            }
            (Some(_), Some(_)) => {
                if self.get(bit) {
                    Found::Interior
                } else {
                    Found::Free
                }
            }
            _ => Found::Outside,
        }
    }

    /// One past the last bit of the object that the bit is of.
    #[inline]
    pub(crate) fn end_of(&self, bit: u32) -> u32 {
        let (line, at) = Self::at(bit / WORD);
        match self.lines[line].ends[at] & from_mask(bit) {
            0 => self.end_in(bit / WORD + 1),
            ends => bit / WORD * WORD + ends.trailing_zeros() + 1,
        }
    }

    /// The same of an object that covers the start of a word.
    fn end_in(&self, mut word: u32) -> u32 {
        loop {
            let (line, at) = Self::at(word);
            match self.lines[line].ends[at] {
                0 => word += 1,
                ends => return word * WORD + ends.trailing_zeros() + 1,
            }
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
    fn word(&self, at: u32) -> u64 {
        let (line, at) = Self::at(at);
        self.lines[line].used[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    const BITS: u32 = 2 * BLOCK_BITS;

    proptest! {
        #[test]
        fn objects_are_found_as_they_were_noted(
            steps in prop::collection::vec((0u32..BITS, prop_oneof![1u32..40, 1u32..700]), 0..120),
        ) {
            let mut map = ObjectMap::new(BITS).unwrap();
            let mut model: BTreeMap<u32, u32> = BTreeMap::new();
            for (start, len) in steps {
                let end = (start + len).min(BITS);
                if let Some(end) = model.remove(&start) {
                    let (found, emptied) = map.give(start).unwrap();
                    prop_assert_eq!(found, end);
                    let blocks = block_of(start)..block_of(end - 1) + 1;
                    let free = |block: &u32| map.next_set(base_of(*block)..base_of(*block + 1)) == base_of(*block + 1);
                    prop_assert_eq!(emptied, blocks.filter(free).count() as u32);
                } else if map.next_set(start..end) == end {
                    map.take(&(start..end));
                    model.insert(start, end);
                }
            }
            let all: Vec<_> = map.objects(BITS).map(|object| (object.start, object.end)).collect();
            prop_assert_eq!(all, model.iter().map(|(&start, &end)| (start, end)).collect::<Vec<_>>());
            for block in 0..block_of(BITS) {
                let used = (base_of(block)..base_of(block + 1)).filter(|&bit| map.get(bit)).count();
                prop_assert_eq!(usize::from(map.count(block)), used);
            }
            for bit in 0..BITS {
                let around = model.range(..=bit).next_back().filter(|(_, end)| bit < **end);
                let wanted = match around {
                    None => Found::Free,
                    Some((&start, &end)) if start == bit => Found::Object(end),
                    Some((&start, _)) => {
                        prop_assert_eq!(map.start_of(bit), start);
                        prop_assert_eq!(map.clone().give(bit), None);
                        Found::Interior
                    }
                };
                prop_assert_eq!(map.find(bit), wanted);
            }
        }
    }
}
