//! The figures of a space.

use super::AddressSpace;
use crate::sizes::Sizes;
use freehold_units::FreeSizes;

/// The figures of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Allocated regions.
    pub regions: usize,
    /// Bytes in regions and guards, and in the new places of regions that are moving.
    pub busy_bytes: u128,
    /// Free blocks.
    pub free_blocks: usize,
    /// Bytes in free blocks.
    pub free_bytes: u128,
    /// Bytes of the largest free block; `u64::MAX` for 2^64.
    pub largest_free_bytes: u64,
    /// Bytes of memory of the free blocks by size, including spare nodes. 0 until the first request for [best
    /// fit](crate::Placement::BestFit).
    pub free_index_bytes: usize,
    /// Bytes of memory of the tree of regions, including values, marks of carved regions, pending moves and spare
    /// nodes.
    pub busy_index_bytes: usize,
}

impl Stats {
    /// The fragmentation of the free addresses, from 0 to 1: the part of them that lies outside the largest free block.
    ///
    /// It is `1 - largest_free_bytes / free_bytes`: 0 if all free addresses are in one block, and near 1 if no block has
    /// a large part of them. It is 0 if nothing is free. [`AddressSpace::free_sizes`] counts the blocks by size.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn fragmentation(&self) -> f64 {
        // With one block, the largest size may be 2^64, which does not fit `largest_free_bytes`.
        if self.free_blocks < 2 { 0.0 } else { 1.0 - self.largest_free_bytes as f64 / self.free_bytes as f64 }
    }
}

impl<V> AddressSpace<V> {
    /// The figures of the space.
    ///
    /// # Cost
    /// Constant, except for the largest free block: O(log n) amortized, O(n) in the worst case. It visits each leaf
    /// whose largest gap was cut since the last search there.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let bytes = [self.regions.bytes(), self.carved.bytes(), self.moves.bytes()];
        Stats {
            regions: self.len(),
            busy_bytes: self.total_bytes - self.free_bytes,
            free_blocks: self.regions.block_count(),
            free_bytes: self.free_bytes,
            largest_free_bytes: self.regions.largest_bytes(&mut ()),
            free_index_bytes: self.sizes.as_ref().map_or(0, Sizes::bytes),
            busy_index_bytes: bytes.into_iter().fold(0, usize::saturating_add),
        }
    }

    /// A histogram of the free blocks by powers of two.
    ///
    /// # Cost
    /// O(n): it visits every leaf. It is apart from [`AddressSpace::stats`] for that reason, and because counts that are
    /// always right would cost every allocation and free.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement};
    /// use freehold_units::{Align, Span};
    /// let mut space = AddressSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest)?;
    /// space.alloc_at(Span::new(0x4000, 0x7fff).unwrap(), "in the middle")?;
    /// // 16 KiB and 32 KiB are free.
    /// let sizes = space.free_sizes();
    /// assert_eq!((sizes.blocks()[14], sizes.blocks()[15]), (1, 1));
    /// assert_eq!((sizes.blocks_from(15), sizes.blocks_from(0)), (1, 2));
    /// assert!((space.stats().fragmentation() - 1.0 / 3.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn free_sizes(&self) -> FreeSizes {
        self.regions.blocks().collect()
    }
}
