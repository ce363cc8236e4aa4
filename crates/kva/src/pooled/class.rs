//! Size classes: the sizes of slots, in granules, four for each doubling.
//!
//! ```text
//!   1 2 3 4 | 5 6 7 8 | 10 12 14 16 | 20 24 28 32 | ... | 160 192 224 256
//! ```
//!
//! A slot is at most a quarter larger than what was asked for.

/// Slots of a slab.
pub(super) const SLOTS: u32 = u32::BITS;
/// Size classes.
pub(super) const CLASSES: usize = 28;
/// The largest slot, in granules.
pub(super) const MAX_GRANULES: u64 = 256;

/// A size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u8);

impl Class {
    /// The smallest class whose slots have `granules`, which are 1 or more; `None` if none is so large.
    #[inline]
    pub(super) fn of(granules: u64) -> Option<Self> {
        if granules > MAX_GRANULES {
            return None;
        }
        let below = granules as u32 - 1;
        if below < 4 {
            return Some(Self(below as u8));
        }
        // Of the leading bit and the two behind it.
        let shift = below.ilog2() - 2;
        Some(Self((4 * shift + (below >> shift)) as u8))
    }

    /// The class of a number below [`CLASSES`].
    pub(super) fn at(number: usize) -> Self {
        debug_assert!(number < CLASSES);
        Self(number as u8)
    }

    /// All classes, the smallest first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..CLASSES).map(Self::at)
    }

    pub(super) fn number(self) -> usize {
        usize::from(self.0)
    }

    /// Granules of a slot.
    #[inline]
    pub(super) fn granules(self) -> u32 {
        let number = u32::from(self.0);
        if number < 4 {
            return number + 1;
        }
        let shift = number / 4 - 1;
        (number % 4 + 5) << shift
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_the_smallest_that_is_large_enough() {
        let sizes: std::vec::Vec<u64> = Class::all().map(|class| class.granules().into()).collect();
        assert!(sizes.is_sorted());
        assert_eq!((sizes[0], sizes[4], sizes[CLASSES - 1]), (1, 5, MAX_GRANULES));
        for granules in 1..=MAX_GRANULES {
            let smallest = *sizes.iter().find(|&&size| size >= granules).unwrap();
            assert_eq!(u64::from(Class::of(granules).unwrap().granules()), smallest);
            assert!(4 * smallest <= 5 * granules.next_multiple_of(4));
        }
        assert_eq!(Class::of(MAX_GRANULES + 1), None);
    }
}
