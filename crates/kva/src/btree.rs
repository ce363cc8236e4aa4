//! The B+tree that the talk wished for: regions and the gaps between them in one tree, each child with a bound
//! of the requests that it can serve.
//!
//! The tree is the space's tree of regions; this index searches it and keeps nothing of its own. So an
//! allocation is one way down the tree and one entry more, and a free needs no memory.
//!
//! Cost: every operation visits O(log n) nodes, n the number of regions, and a search one leaf more for each allocation
//! before it that cut a leaf's largest gap. The first allocation with an alignment that was never asked for gives it a
//! class: once, at the price of the inner nodes and of each leaf that has room without the alignment. There are at most 64
//! alignments.
//! Memory: 21 bytes per region after allocation in address order, some 31 after random use, and the value's size
//! (`freehold bench kva`); 0.4 to 0.8 bytes for each alignment above the granule that was asked for.
//! Regions that lie 2^25 granules and more apart take 43 to 64 bytes.
//!
//! Source: the talk's wish list; rooms per alignment are this project's.

use crate::index::{CheckedRequest, FollowChanges, FreeIndex};
use crate::regions::{EntryHandle, Order, RegionTree, Searched, Wanted, search};
use crate::{Fit, Merge};
use freehold_units::{Align, Broken, OutOfMemory, Probe, Span};

/// Which of the addresses that can serve a request is taken. Both are exact for every alignment and window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Placement {
    /// The lowest address.
    #[default]
    Lowest,
    /// The highest address.
    Highest,
}

impl Placement {
    #[inline]
    fn order(self) -> Order {
        match self {
            Self::Lowest => Order::LowestFirst,
            Self::Highest => Order::HighestFirst,
        }
    }
}

/// Free places in the tree of regions itself. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct BTree;

impl FreeIndex for BTree {
    type Placement = Placement;

    #[inline]
    fn find<V>(
        &self,
        regions: impl Searched<V>,
        placement: Placement,
        request: &CheckedRequest,
        probe: &mut impl Probe,
    ) -> Option<(EntryHandle, Span)> {
        let shift = regions.shift();
        let found = search(regions, placement.order(), &Wanted::new(request, shift)?, probe)?;
        Some((found.entry, Span::from_size(found.start << shift, request.size_bytes)?))
    }
}

impl FollowChanges for BTree {
    type Block = EntryHandle;
    const USES_BOUNDS: bool = true;

    fn empty(_: Align) -> Result<Self, OutOfMemory> {
        Ok(Self)
    }

    #[inline]
    fn reserve(&mut self, _: usize) -> Result<(), OutOfMemory> {
        Ok(())
    }

    fn block_at(&self, entry: EntryHandle, _: Span) -> EntryHandle {
        entry
    }

    #[inline]
    fn carve<V>(
        &mut self,
        regions: &RegionTree<V>,
        &block: &EntryHandle,
        taken: Span,
        probe: &mut impl Probe,
    ) -> EntryHandle {
        if probe.counts()
            && let Some(whole) = regions.block_behind(block)
        {
            probe.count(Fit::of(whole, taken).work(), 1);
        }
        block
    }

    #[inline]
    fn release<V>(&mut self, _: &RegionTree<V>, span: Span, block: Span, probe: &mut impl Probe) {
        let merge = Merge::of(block.first() < span.first(), span.last() < block.last());
        probe.count(merge.work(), 1);
    }

    fn block_at_or_below<V>(&self, regions: &RegionTree<V>, address: u64, size_bytes: u64) -> Option<Span> {
        regions.block_at_or_below(address, size_bytes)
    }

    fn largest_bytes<V>(&self, regions: &RegionTree<V>, probe: &mut impl Probe) -> u64 {
        regions.largest_bytes(probe)
    }

    fn bytes(&self) -> usize {
        0
    }

    fn validate<V>(&self, _: &RegionTree<V>) -> Result<(), Broken> {
        Ok(())
    }
}
