//! Best fit: free blocks ordered by size, beside any index that orders them by address.
//!
//! ```text
//!   by address   [3 pages at 2] [9 at 7] [3 at 20]          the index inside
//!   by size      (3, 2) (3, 20) (9, 7)                      one key per block: size, then address
//! ```
//!
//! The smallest block that can serve is taken, of equals the lowest, and the lowest place in it. Less is left
//! over and fewer blocks come about than with the lowest address first, at the price of a second tree.
//!
//! Invariant: K11 every block has its key, and every key its block.
//! Cost: O(log n) for requests without alignment or window, and for windows inside one block; else each block that
//! is large enough but badly placed is looked at. Memory: what the index inside takes, and about 24 bytes a block.

mod sizes;

use crate::OutOfMemory;
use crate::index::{CheckedRequest, FollowChanges, FreeIndex};
use crate::regions::{EntryHandle, RegionTree, Searched};
use freehold_units::{Align, Broken, Probe, Span, Work, check};
use sizes::Sizes;

/// How addresses are chosen when blocks are known by size too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Placement<P> {
    /// The lowest place in the smallest block that has one, in the lowest of equals.
    #[default]
    BestFit,
    /// As the index inside chooses.
    ByAddress(P),
}

/// An index with its blocks ordered by size as well. See the [module](self).
#[derive(Clone, Debug)]
pub struct BySize<I> {
    inside: I,
    sizes: Sizes,
}

impl<I: FollowChanges> BySize<I> {
    fn best_fit<V>(
        &self,
        regions: &RegionTree<V>,
        request: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<(I::Block, Span)> {
        let &CheckedRequest { size_bytes, align, window } = request;
        let block_at = |(entry, block)| self.inside.block_at(entry, block);
        for (nth, block) in self.sizes.of_size_and_more(size_bytes).enumerate() {
            probe.count(Work::NodeVisited, 1);
            if nth == 1 {
                // The first choice failed. If the window lies in one block, that block alone can serve.
                if let Some(found) = regions.block_over(window) {
                    return Some((block_at(found), window.lowest_fit(size_bytes, align, 0)?));
                }
                if window.size_bytes() == u128::from(size_bytes) {
                    return None;
                }
            }
            let fit = block.lowest_fit(size_bytes, align, window.first());
            if let Some(fit) = fit.filter(|fit| fit.last() <= window.last()) {
                let found = regions.block_over(block).expect("K11: every key has its block");
                return Some((block_at(found), fit));
            }
        }
        None
    }
}

impl<I: FreeIndex> FreeIndex for BySize<I> {
    type Placement = Placement<I::Placement>;

    fn find<V>(
        &self,
        regions: impl Searched<V>,
        placement: Self::Placement,
        request: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<(I::Block, Span)> {
        match placement {
            Placement::BestFit => self.best_fit(&regions, request, probe),
            Placement::ByAddress(placement) => self.inside.find(regions, placement, request, probe),
        }
    }
}

impl<I: FollowChanges> FollowChanges for BySize<I> {
    type Block = I::Block;
    const USES_BOUNDS: bool = I::USES_BOUNDS;

    fn empty(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self { inside: I::empty(granule)?, sizes: Sizes::empty() })
    }

    fn reserve(&mut self, blocks: usize) -> Result<(), OutOfMemory> {
        self.inside.reserve(blocks)?;
        // Cutting the middle out of a block takes one key out and puts two in.
        self.sizes.reserve(blocks.saturating_mul(2))
    }

    fn block_at(&self, entry: EntryHandle, block: Span) -> I::Block {
        self.inside.block_at(entry, block)
    }

    fn carve<V>(
        &mut self,
        regions: &RegionTree<V>,
        block: &I::Block,
        taken: Span,
        probe: &mut impl Probe,
    ) -> EntryHandle {
        let entry = self.inside.carve(regions, block, taken, probe);
        let whole = regions.block_behind(entry).expect("K4: a region is cut from a free block");
        self.sizes.remove(whole);
        whole.below(taken).into_iter().chain(whole.above(taken)).for_each(|rest| self.sizes.insert(rest));
        entry
    }

    fn release<V>(&mut self, regions: &RegionTree<V>, span: Span, block: Span, probe: &mut impl Probe) {
        self.inside.release(regions, span, block, probe);
        block.below(span).into_iter().chain(block.above(span)).for_each(|part| self.sizes.remove(part));
        self.sizes.insert(block);
    }

    fn block_at_or_below<V>(&self, regions: &RegionTree<V>, address: u64, size_bytes: u64) -> Option<Span> {
        self.inside.block_at_or_below(regions, address, size_bytes)
    }

    fn largest_bytes<V>(&self, _: &RegionTree<V>, _: &mut impl Probe) -> u64 {
        self.sizes.largest().map_or(0, Span::size_saturating)
    }

    fn bytes(&self) -> usize {
        self.inside.bytes().saturating_add(self.sizes.bytes())
    }

    fn validate<V>(&self, regions: &RegionTree<V>) -> Result<(), Broken> {
        self.inside.validate(regions)?;
        for block in regions.blocks() {
            check(self.sizes.holds(block), "K11", "every block has its key", block.first())?;
        }
        check(self.sizes.validate()? == regions.block_count(), "K11", "every key has its block", 0)
    }
}
