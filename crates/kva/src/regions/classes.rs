//! Which alignments inner nodes keep bounds for: one granule, and each that was ever asked for.
//!
//! An alignment that is new gets a class for good. Its bounds start as those of the next smaller alignment, which hold
//! for it too, as the usable part of a gap never grows with the alignment; searches lower them to what there is. So a
//! space pays for the alignments that it is asked for, of which there are at most 64.

use super::RegionTree;
use super::leaf::Leaf;
use crate::bplus::Measures;
use alloc::vec::Vec;
use freehold_units::OutOfMemory;

/// The alignment of each class less one, in granules: ascending, the first 0. None in a tree that keeps no bounds.
#[derive(Clone, Debug)]
pub(super) struct Classes(Vec<u64>);

impl Classes {
    /// No class, or the first.
    pub(super) fn new(keeps_bounds: bool) -> Result<Self, OutOfMemory> {
        let mut masks = Vec::new();
        if keeps_bounds {
            masks.try_reserve(1)?;
            masks.push(0);
        }
        Ok(Self(masks))
    }

    pub(super) fn masks(&self) -> &[u64] {
        &self.0
    }

    /// The class to search by: the largest alignment that is not above that of `mask`.
    #[inline]
    pub(super) fn class_for(&self, mask: u64) -> usize {
        self.0.iter().rposition(|&known| known <= mask).unwrap_or(0)
    }
}

impl<V> Measures<Leaf<V>> for Classes {
    #[inline]
    fn count(&self) -> usize {
        self.0.len()
    }

    fn of(&self, leaf: &Leaf<V>, class: usize) -> u64 {
        leaf.largest_room(self.0[class])
    }
}

impl<V> RegionTree<V> {
    /// The class for `mask`, which it gets now if it has none. Where there is no memory for it, searches go by the class of
    /// the next smaller alignment, until they ask again.
    #[inline]
    pub(super) fn class_made_for(&mut self, mask: u64) -> usize {
        if mask == 0 {
            return 0;
        }
        let class = self.tree.measures.class_for(mask);
        if self.tree.measures.0[class] == mask { class } else { self.add_class(class + 1, mask) }
    }

    #[cold]
    fn add_class(&mut self, class: usize, mask: u64) -> usize {
        let masks = &mut self.tree.measures.0;
        let added = masks.try_reserve(1).is_ok()
            && self.tree.add_measure(class, |Classes(masks)| masks.insert(class, mask)).is_ok();
        if added { class } else { class - 1 }
    }
}
