//! How free addresses are spread over blocks.

use crate::Span;

/// The number of free blocks, or of gaps, by size, and how fragmented they are.
///
/// Class `k` has the blocks of `2^k` to `2^(k + 1) - 1` bytes. The last class, 64, has the one block of 2^64 bytes. It is made from
/// the spans of the blocks, so it serves every map that has an iterator of gaps.
///
/// ```
/// use freehold_units::{FreeSizes, Span};
/// let gaps = [0x1000..0x2000, 0x8000..0xb000].map(|gap| Span::try_from(gap).unwrap());
/// let sizes: FreeSizes = gaps.into_iter().collect();
/// assert_eq!((sizes.blocks()[12], sizes.blocks()[13], sizes.blocks_from(0)), (1, 1, 2));
/// assert_eq!((sizes.bytes(), sizes.largest_bytes(), sizes.fragmentation()), (0x4000, 0x3000, 0.25));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSizes {
    blocks: [usize; Self::CLASSES],
    bytes: u128,
    largest_bytes: u128,
}

impl FreeSizes {
    /// The number of classes.
    pub const CLASSES: usize = 65;

    /// The number of free blocks of each class. Cost: constant.
    #[must_use]
    pub fn blocks(&self) -> &[usize; Self::CLASSES] {
        &self.blocks
    }

    /// The number of free blocks that have at least `2^class` bytes; 0 for a class that does not exist. Cost: constant.
    #[must_use]
    pub fn blocks_from(&self, class: usize) -> usize {
        self.blocks.get(class..).unwrap_or_default().iter().sum()
    }

    /// Bytes of all blocks. Cost: constant.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        self.bytes
    }

    /// Bytes of the largest block; 0 if there is none. Cost: constant.
    #[must_use]
    pub fn largest_bytes(&self) -> u128 {
        self.largest_bytes
    }

    /// The fragmentation, from 0 to 1: the part of the free bytes that lies outside the largest block. 0 if all are in one block, or
    /// if nothing is free; near 1 if no block has a large part of them. Cost: constant.
    #[must_use]
    pub fn fragmentation(&self) -> f64 {
        let outside = self.bytes - self.largest_bytes;
        if outside == 0 { 0.0 } else { outside as f64 / self.bytes as f64 }
    }
}

impl Default for FreeSizes {
    /// Nothing is free.
    fn default() -> Self {
        Self { blocks: [0; Self::CLASSES], bytes: 0, largest_bytes: 0 }
    }
}

impl<S: Into<Span>> FromIterator<S> for FreeSizes {
    /// Of blocks that do not overlap. Cost: O(n).
    fn from_iter<I: IntoIterator<Item = S>>(blocks: I) -> Self {
        let mut sizes = Self::default();
        for block in blocks {
            let bytes = block.into().size_bytes();
            sizes.blocks[bytes.ilog2() as usize] += 1;
            sizes.bytes += bytes;
            sizes.largest_bytes = sizes.largest_bytes.max(bytes);
        }
        sizes
    }
}
