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
//! starts where a used bit does not continue the one before: that one is free, or an end (P2).
//!
//! Cost: two bits for every four bytes of a unit.

use crate::OutOfMemory;
use crate::bitmap::{Bits, WORD, from_mask, up_to_mask};
use crate::geometry::BLOCK_BITS;
use alloc::vec::Vec;
use core::ops::Range;

/// Words of each map in a line.
const LINE_WORDS: u32 = 4;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    used: [u64; LINE_WORDS as usize],
    ends: [u64; LINE_WORDS as usize],
}

const _: () = assert!(size_of::<Line>() == 64 && BLOCK_BITS.is_multiple_of(LINE_WORDS * WORD));

/// What is at a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
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
    lines: Vec<Line>,
}

impl ObjectMap {
    /// No objects in so many bits, whole blocks.
    pub(crate) fn new(bits: u32) -> Result<Self, OutOfMemory> {
        let count = bits.div_ceil(LINE_WORDS * WORD) as usize;
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        lines.resize(count, Line { used: [0; LINE_WORDS as usize], ends: [0; LINE_WORDS as usize] });
        Ok(Self { lines })
    }

    /// No bits and no memory.
    pub(crate) const fn empty() -> Self {
        Self { lines: Vec::new() }
    }

    /// Whether there are any bits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>()
    }

    #[inline]
    fn at(word: u32) -> (usize, usize) {
        ((word / LINE_WORDS) as usize, (word % LINE_WORDS) as usize)
    }

    /// The used and the end bits of a word.
    #[inline]
    fn both(&self, word: u32) -> (u64, u64) {
        let (line, at) = Self::at(word);
        let line = &self.lines[line];
        (line.used[at], line.ends[at])
    }

    /// Notes an object in bits that are free.
    #[inline]
    pub(crate) fn take(&mut self, object: &Range<u32>) {
        let last = object.end - 1;
        self.change(object, |used, ends, mask| {
            *used |= mask;
            *ends &= !mask;
        });
        let (line, at) = Self::at(last / WORD);
        self.lines[line].ends[at] |= 1 << (last % WORD);
    }

    /// Forgets an object; its end stays where it was.
    #[inline]
    pub(crate) fn give(&mut self, object: &Range<u32>) {
        self.change(object, |used, _, mask| *used &= !mask);
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

    /// What is at a bit. No branch depends on the bit's neighbours, which are in any order.
    #[inline]
    pub(crate) fn find(&self, bit: u32) -> Found {
        let (word, shift) = (bit / WORD, bit % WORD);
        let (used, ends) = self.both(word);
        if used >> shift & 1 == 0 {
            return Found::Free;
        }
        let (used_before, ends_before) = self.both(word.saturating_sub(1));
        let carried = (used_before & !ends_before) >> (WORD - 1) & u64::from(word > 0);
        let continued = (used & !ends) << 1 | carried;
        if continued >> shift & 1 != 0 {
            return Found::Interior;
        }
        Found::Object(self.end_of(bit))
    }

    /// One past the last bit of the object that the bit is of.
    #[inline]
    pub(crate) fn end_of(&self, bit: u32) -> u32 {
        let mut word = bit / WORD;
        let mut ends = self.both(word).1 & from_mask(bit);
        while ends == 0 {
            word += 1;
            ends = self.both(word).1;
        }
        word * WORD + ends.trailing_zeros() + 1
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
        self.both(at).0
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
                    map.give(&(start..end));
                } else if map.next_set(start..end) == end {
                    map.take(&(start..end));
                    model.insert(start, end);
                }
            }
            let all: Vec<_> = map.objects(BITS).map(|object| (object.start, object.end)).collect();
            prop_assert_eq!(all, model.iter().map(|(&start, &end)| (start, end)).collect::<Vec<_>>());
            for bit in 0..BITS {
                let around = model.range(..=bit).next_back().filter(|(_, end)| bit < **end);
                let wanted = match around {
                    None => Found::Free,
                    Some((&start, &end)) if start == bit => Found::Object(end),
                    Some((&start, _)) => {
                        prop_assert_eq!(map.start_of(bit), start);
                        Found::Interior
                    }
                };
                prop_assert_eq!(map.find(bit), wanted);
            }
        }
    }
}
