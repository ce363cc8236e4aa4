//! The alignments that inner nodes keep bounds for: no alignment, and each one that was ever requested.
//!
//! A new alignment gets a class, which is permanent. Its bounds start as those of the next smaller alignment. They are
//! valid for it, too, since the usable part of a gap never grows with the alignment. Searches then lower them to the
//! exact values. So a tree pays only for alignments that were requested, at most 64.

use super::{Key, LeafNode, LeafPath, Tree};
use alloc::vec::Vec;
use freehold_units::{OutOfMemory, Probe, Work};

/// The alignment of each class minus one, in the tree's unit of length. Ascending; the first is 0.
#[derive(Clone, Debug)]
pub(crate) struct Classes(Vec<u64>);

impl Classes {
    /// The first class alone, which is for no alignment.
    pub(crate) fn new() -> Result<Self, OutOfMemory> {
        let mut masks = Vec::new();
        masks.try_reserve(1)?;
        masks.push(0);
        Ok(Self(masks))
    }

    #[inline]
    pub(crate) fn masks(&self) -> &[u64] {
        &self.0
    }

    /// The class for a search: the largest alignment not above that of `mask`.
    #[inline]
    pub(crate) fn class_for(&self, mask: u64) -> usize {
        self.0.iter().rposition(|&known| known <= mask).unwrap_or(0)
    }
}

/// The usable length of a gap that starts at `start` and is `gap` long: from its first multiple of the alignment on.
#[inline]
pub(crate) fn usable_gap(start: u64, gap: u64, mask: u64) -> u64 {
    gap.saturating_sub(start.wrapping_neg() & mask)
}

impl<L: LeafNode, K: Key> Tree<L, K> {
    /// The class for `mask`, made now if there is none. Without memory for it, the result is the class of the next
    /// smaller alignment, and the next call tries again.
    #[inline]
    pub(crate) fn class_made_for(&mut self, mask: u64) -> usize {
        if mask == 0 {
            return 0;
        }
        let class = self.classes.class_for(mask);
        if self.classes.0[class] == mask { class } else { self.add_class(class + 1, mask) }
    }

    /// Cost: linear in the inner nodes.
    #[cold]
    fn add_class(&mut self, class: usize, mask: u64) -> usize {
        let classes = self.classes.0.len() + 1;
        let has_memory = self.classes.0.try_reserve(1).is_ok()
            && self.inners.iter_mut().try_for_each(|inner| inner.reserve_rows(classes)).is_ok();
        if !has_memory {
            return class - 1;
        }
        self.inners.iter_mut().for_each(|inner| inner.add_row(class));
        self.classes.0.insert(class, mask);
        class
    }

    /// Raises the bounds above the leaf at the end of `path` for a gap in it that starts at `start` and is now `gap`
    /// long.
    #[inline]
    pub(crate) fn raise(&self, path: &LeafPath, start: u64, gap: u64, probe: &mut impl Probe) {
        if self.height == 0 {
            return;
        }
        let (parent, slot) = (&self.inners[path.steps[0].inner()], path.steps[0].slot());
        for (class, &mask) in self.classes.masks().iter().enumerate() {
            let usable = usable_gap(start, gap, mask);
            if usable == 0 {
                // Larger alignments have no usable part either.
                break;
            }
            probe.count(Work::MaxRecomputed, 1);
            if parent.row(class).raise(slot, usable) {
                self.raise_above(path, class, usable, probe);
            }
        }
    }

    #[inline(never)]
    fn raise_above(&self, path: &LeafPath, class: usize, usable: u64, probe: &mut impl Probe) {
        for &step in &path.steps[1..self.height] {
            probe.count(Work::MaxRecomputed, 1);
            if !self.inners[step.inner()].row(class).raise(step.slot(), usable) {
                break;
            }
        }
    }
}
