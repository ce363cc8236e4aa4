//! Size classes: a length gets whole pages in a slab, or a large block of a size that is reused.

/// Pages of the largest block in a slab.
const SLAB_PAGES: usize = 256;

/// Computes whole pages without a division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    page_mask: usize,
}

impl Sizes {
    pub(super) fn new(page_bytes: usize) -> Self {
        debug_assert!(page_bytes.is_power_of_two());
        Self { page_mask: page_bytes - 1 }
    }

    /// `len` rounded up to whole pages; `None` beyond the address space.
    #[inline]
    pub(crate) fn pages(self, len: usize) -> Option<usize> {
        Some(len.checked_add(self.page_mask)? & !self.page_mask)
    }

    /// Whether a length of whole pages needs a large block.
    #[inline]
    pub(crate) fn is_large(self, len: usize) -> bool {
        len > SLAB_PAGES * (self.page_mask + 1)
    }

    /// The size of the large block for a length: the next of four sizes for each doubling, so that similar lengths
    /// reuse its memory.
    pub(crate) fn large_bytes(self, len: usize) -> u64 {
        let step = 1u64 << ((len as u64 - 1).ilog2() - 2);
        // A length that cannot be rounded up is too long in any case.
        (len as u64).checked_next_multiple_of(step).unwrap_or(!(step - 1))
    }

    /// The number of the largest such size that is at most `bytes`, the length of a large block.
    pub(crate) fn large_class(self, bytes: u64) -> usize {
        let log = bytes.ilog2();
        let least = (SLAB_PAGES * (self.page_mask + 1)).ilog2();
        (4 * (log - least)) as usize + (bytes >> (log - 2) & 3) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sizes_are_four_for_each_doubling() {
        let sizes = Sizes::new(4096);
        let mib = 1 << 20;
        assert!(!sizes.is_large(mib) && sizes.is_large(mib + 4096));
        for (len, bytes) in
            [(mib + 4096, 5 * mib / 4), (5 * mib / 4, 5 * mib / 4), (2 * mib, 2 * mib), (1 << 45, 1 << 45)]
        {
            assert_eq!(sizes.large_bytes(len), bytes as u64);
            assert!(sizes.large_class(bytes as u64) < crate::residency::LARGE_CLASSES);
        }
        let classes: Vec<usize> = [5, 6, 7, 8, 10, 12, 14, 16].map(|mib| sizes.large_class(mib << 20)).into();
        assert!(classes.windows(2).all(|two| two[0] + 1 == two[1]), "{classes:?}");
        assert_eq!(sizes.large_class((5 << 20) - 4096) + 1, classes[0]);
    }
}
