//! Free blocks: the search for a request, and the index by size as blocks are cut and merged.

use super::AddressSpace;
use crate::regions::{EntryHandle, GranuleRequest, Order, Searched, search};
use crate::request::CheckedRequest;
use crate::sizes::Sizes;
use crate::{Fit, Merge, OutOfMemory};
use freehold_units::{Probe, Span, Work};

impl<V> AddressSpace<V> {
    /// [`AddressSpace::best_fit`]. The first call builds the index of blocks by size.
    #[inline(never)]
    pub(super) fn prepare_best_fit(
        &mut self,
        checked: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Result<Option<(EntryHandle, Span)>, OutOfMemory> {
        let mask = self.mask(checked);
        if let Some(sizes) = &mut self.sizes {
            sizes.learn(mask);
        } else {
            // Reserves one change for this request, and one for each pending move.
            let mut sizes = Sizes::of(self.regions.blocks(), 1 + self.moves.len())?;
            sizes.learn(mask);
            self.sizes = Some(sizes);
        }
        Ok(self.best_fit(checked, probe))
    }

    /// The place for a request: the entry before it, and the addresses to take.
    pub(super) fn best_fit(
        &self,
        checked: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<(EntryHandle, Span)> {
        let block = self.smallest_block(checked, probe)?;
        let (entry, _) = self.regions.block_over(block).expect("K11: every key has its block");
        Some((entry, checked.lowest_in(block)?))
    }

    /// The smallest block that has a place for a request; of equally small ones, the lowest.
    fn smallest_block(&self, checked: &CheckedRequest, probe: &mut impl Probe) -> Option<Span> {
        let mut by_size =
            self.sizes.as_ref().map(|sizes| sizes.ascending(checked.size_bytes, self.mask(checked), probe));
        if checked.window.covers(self.hull)
            && let Some(by_size) = &mut by_size
        {
            return by_size.next(probe);
        }
        // Two walks alternate, and the first to finish decides. One visits all blocks in the window. The other visits
        // blocks by size; its first block with a place in the window is the answer.
        let mut smallest: Option<Span> = None;
        for block in self.regions.blocks_in(checked.window) {
            probe.count(Work::NodeVisited, 1);
            let is_smaller = smallest.is_none_or(|known| block.size_bytes() < known.size_bytes());
            if is_smaller && checked.lowest_in(block).is_some() {
                smallest = Some(block);
            }
            if let Some(by_size) = &mut by_size {
                let block = by_size.next(probe)?;
                if checked.lowest_in(block).is_some() {
                    return Some(block);
                }
            }
        }
        smallest
    }

    /// The request's alignment minus one; 0 for an alignment that every block start has.
    fn mask(&self, checked: &CheckedRequest) -> u64 {
        checked.align.mask() & !self.granule.mask()
    }

    /// Updates the index by size before `taken` is cut out of the block after `entry`. The caller has reserved a block.
    #[inline]
    pub(super) fn cut(&mut self, entry: EntryHandle, taken: Span, probe: &mut impl Probe) {
        if probe.counts()
            && let Some(whole) = self.regions.block_behind(entry)
        {
            probe.count(Fit::of(whole, taken).work(), 1);
        }
        if self.sizes.is_some() {
            self.cut_by_size(entry, taken);
        }
    }

    #[inline(never)]
    fn cut_by_size(&mut self, entry: EntryHandle, taken: Span) {
        let whole = self.regions.block_behind(entry).expect("K4: a region is cut from a free block");
        self.sizes.iter_mut().for_each(|sizes| sizes.cut(whole, taken));
    }

    /// Updates the index by size after `freed` has become a part of the free `block`. The caller has reserved a block.
    #[inline]
    pub(super) fn join(&mut self, block: Span, freed: Span, probe: &mut impl Probe) {
        let merge = Merge::of(block.first() < freed.first(), freed.last() < block.last());
        probe.count(merge.work(), 1);
        if let Some(sizes) = &mut self.sizes {
            sizes.join(block, freed);
        }
    }
}

/// The first place for a request from one end of the addresses: the entry before it, and the addresses to take. If
/// `regions` is borrowed exclusively, a new alignment gets bounds of its own.
#[inline]
pub(super) fn first_fit<V>(
    regions: impl Searched<V>,
    order: Order,
    checked: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<(EntryHandle, Span)> {
    let shift = regions.shift();
    let found = search(regions, order, &GranuleRequest::new(checked, shift)?, probe)?;
    Some((found.entry, Span::from_size(found.start << shift, checked.size_bytes)?))
}
