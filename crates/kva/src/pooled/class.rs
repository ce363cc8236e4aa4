//! Size classes: the sizes of slots, in granules, four for each doubling.
//!
//! ```text
//!   1 2 3 4 | 5 6 7 8 | 10 12 14 16 | 20 24 28 32 | ... | 160 192 224 256
//! ```
//!
//! A slot is at most a quarter larger than the requested size. A slab has 32 slots of up to 16 granules. For larger
//! slots it has as many as fit in 512 granules, so one held slot keeps at most 512 granules from other classes.

use super::CELL_GRANULES;

/// Number of free slots at which a slab goes into a list, so that a refill serves several allocations. Lower for slabs
/// with few slots.
pub(super) const LIST_AT: u32 = 8;

/// The most slots that a slab has.
pub(super) const MOST_SLOTS: u32 = u32::BITS;
/// The most granules that a slab has.
pub(super) const SLAB_GRANULES: u32 = 512;
/// Size classes.
pub(super) const CLASSES: usize = 28;
/// The largest slot, in granules.
pub(super) const MAX_GRANULES: u64 = 256;

/// A size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u8);

impl Class {
    /// The smallest class whose slots have at least `granules`, which is 1 or more. `None` if no class is so large.
    #[inline]
    pub(super) fn of(granules: u64) -> Option<Self> {
        if granules > MAX_GRANULES {
            return None;
        }
        let below = granules as u32 - 1;
        if below < 4 {
            return Some(Self(below as u8));
        }
        // The class follows from the leading bit and the next two.
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

    /// Slots of a slab. Their total size is a whole number of cells.
    pub(super) fn slots(self) -> u32 {
        let granules = self.granules();
        let most = (SLAB_GRANULES / granules).min(MOST_SLOTS);
        // A multiple of this many slots is a whole number of cells.
        let step = CELL_GRANULES as u32 >> granules.trailing_zeros().min(CELL_GRANULES.trailing_zeros());
        most - most % step
    }

    /// Number of free slots at which a slab of this class is put into a list.
    pub(super) fn list_at(self) -> u32 {
        (self.slots() / 4).clamp(1, LIST_AT)
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_whole_cells_and_bounded() {
        for class in Class::all() {
            let (slots, granules) = (class.slots(), class.slots() * class.granules());
            assert!(granules <= SLAB_GRANULES && granules.is_multiple_of(CELL_GRANULES as u32), "{class:?}");
            assert!((2..=MOST_SLOTS).contains(&slots) && (1..slots).contains(&class.list_at()), "{class:?}");
            assert!(slots == MOST_SLOTS || granules > SLAB_GRANULES * 3 / 4 - 1, "{class:?}");
        }
    }

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
