//! The ranges that maps are filled with, and what reads of them must find.
//!
//! ```text
//!   range 0            range 1                    value   low half    the range's number
//!   [0 ... 11] 12..15  [16 ... 27] 28..31  ...            above it    how often the range was stored, in 16 bits
//! ```

use crate::workload::SplitMix;

/// From one range to the next, in bits.
const STRIDE_BITS: u32 = 4;
/// Indexes of a range.
const LENGTH: u64 = 12;
/// Reads that are made before the same come again.
const READS: usize = 8192;
/// Stores that are made before the same come again.
const STORES: usize = 4096;
/// The part of a value that is the range's number.
pub const NUMBER: u64 = u32::MAX as u64;

/// First and last index of a range.
pub fn bounds(number: u32) -> (u64, u64) {
    let first = u64::from(number) << STRIDE_BITS;
    (first, first + LENGTH - 1)
}

/// The value of a range that was stored so often.
pub fn value(number: u32, version: u16) -> u64 {
    u64::from(version) << 32 | u64::from(number)
}

/// Which range an index is in, or in front of the gap that it is in.
#[inline]
pub fn number_of(index: u64) -> u64 {
    index >> STRIDE_BITS
}

/// What reads saw, of indexes that are within ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Bits in which a number that was read differs from the range's.
    pub wrong: u64,
    /// Reads that found nothing.
    pub missed: u64,
}

impl Seen {
    /// Notes what was read at an index.
    #[inline]
    pub fn note(&mut self, index: u64, value: Option<u64>) {
        match value {
            Some(value) => self.wrong |= (value & NUMBER) ^ number_of(index),
            None => self.missed += 1,
        }
    }
}

/// Indexes within random ones of the ranges; their first ones if `first`.
pub fn reads(numbers: std::ops::Range<u32>, first: bool, seed: u64) -> Vec<u64> {
    let mut random = SplitMix::new(seed);
    let number = |random: &mut SplitMix| numbers.start + random.uniform(numbers.len() as u64) as u32;
    let offset = |random: &mut SplitMix| if first { 0 } else { random.uniform(LENGTH) };
    (0..READS).map(|_| bounds(number(&mut random)).0 + offset(&mut random)).collect()
}

/// Random ones of the ranges.
pub fn stores(numbers: std::ops::Range<u32>, seed: u64) -> Vec<u32> {
    let mut random = SplitMix::new(seed);
    (0..STORES).map(|_| numbers.start + random.uniform(numbers.len() as u64) as u32).collect()
}

/// An index in the gap behind each range.
pub fn gaps(count: u32) -> impl Iterator<Item = u64> {
    (0..count).map(|number| bounds(number).1 + 2)
}
