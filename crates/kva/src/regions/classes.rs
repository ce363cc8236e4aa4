//! Which alignments inner nodes keep bounds for: one granule, and up to three larger ones.
//!
//! A request whose alignment has no class is searched for by the class of the next smaller alignment, whose rooms are
//! bounds for it too. It may then enter leaves in vain. These are counted, for all alignments without a class together.
//! Once there are as many as the tree has inner nodes, the alignment searched for last gets a class, for the price of
//! looking at each inner node: so the price is paid before, and requests that alternate between many alignments cost
//! at most twice what they cost without.

/// Classes of alignment, the first of which is that of one granule.
pub(super) const CLASSES: usize = 4;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Classes {
    /// The alignment of each class less one, in granules.
    masks: [u64; CLASSES],
    /// Classes in use; none in a tree that keeps no bounds.
    len: usize,
    /// The class that is given next.
    next: usize,
    /// Leaves entered in vain for alignments without a class.
    in_vain: usize,
}

impl Classes {
    /// No class, or the first.
    pub(super) fn new(keeps_bounds: bool) -> Self {
        Self { masks: [0; CLASSES], len: usize::from(keeps_bounds), next: 1, in_vain: 0 }
    }

    /// The class to search by: the largest alignment that is not above that of `mask`.
    #[inline]
    pub(super) fn class_for(&self, mask: u64) -> usize {
        let same = self.masks.iter().position(|&known| known == mask);
        same.unwrap_or_else(|| self.next_below(mask))
    }

    /// The class of the largest alignment below that of `mask`.
    fn next_below(&self, mask: u64) -> usize {
        let below = self.in_use().filter(|&(_, known)| known < mask);
        below.max_by_key(|&(_, known)| known).map_or(0, |(class, _)| class)
    }

    /// The alignment of a class less one, in granules.
    #[inline]
    pub(super) fn mask(&self, class: usize) -> u64 {
        self.masks[class]
    }

    /// The classes that bounds are kept for, and the alignment of each less one.
    #[inline]
    pub(super) fn in_use(&self) -> impl Iterator<Item = (usize, u64)> {
        self.masks[..self.len].iter().copied().enumerate()
    }

    /// A search by `class` for the alignment of `mask` entered so many leaves in vain. Returns the class that the
    /// alignment gets now, if it gets one at the price of looking at `price` nodes; the class given first goes for it.
    #[cold]
    pub(super) fn note_in_vain(
        &mut self,
        class: usize,
        mask: u64,
        in_vain: usize,
        price: usize,
    ) -> Option<usize> {
        if self.masks[class] == mask {
            return None;
        }
        self.in_vain += in_vain;
        if self.in_vain < price {
            return None;
        }
        self.in_vain = 0;
        let given = self.next;
        self.masks[given] = mask;
        self.len = self.len.max(given + 1);
        self.next = given % (CLASSES - 1) + 1;
        Some(given)
    }
}
