//! `offset-allocator`: free blocks in 256 classes of size, a step of an eighth apart; any block of the first class
//! that is large enough. It frees by a handle, so the adapter keeps handles in a table, whose cost is the
//! adapter's. Its numbers have 32 bits: they are granules. It holds room for a fixed number of blocks from the
//! start, and has no copy.

use super::regions::Regions;
use super::units::Units;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};
use offset_allocator::{Allocation, Allocator};

/// Blocks, free and busy, that it can hold at most: a million regions with a free block between any two, and
/// some to spare.
const MOST_BLOCKS: u32 = (1 << 21) + (1 << 16);
/// Bytes for each of them: a node of 28 and an entry of its free list.
const BLOCK_BYTES: usize = 32;

/// Ranges from the `offset-allocator` crate.
pub struct OffsetAllocator {
    peer: Allocator<u32>,
    regions: Regions<Allocation<u32>>,
    units: Units,
    most_blocks: u32,
}

impl OffsetAllocator {
    /// A space of one span.
    ///
    /// # Errors
    /// There are several spans, or the span has 2^32 granules or more.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let (units, space) = Units::of(layout, granule)?;
        let size = units.end(space) - units.down(space.first());
        let size = u32::try_from(size).map_err(|_| "has numbers of 32 bits".to_owned())?;
        // A node for each granule, and one that a split takes before it is known to be needed.
        let most_blocks = size.saturating_add(2).min(MOST_BLOCKS);
        let peer = Allocator::with_max_allocs(size, most_blocks);
        Ok(Self { peer, regions: Regions::new(space), units, most_blocks })
    }
}

impl Engine for OffsetAllocator {
    /// No windows and no alignments.
    fn supports(&self, _: u64, align: Align, window: Span) -> bool {
        window.covers(self.regions.space()) && align <= self.units.granule()
    }

    fn alloc(&mut self, size_bytes: u64, _: Align, _: Span, _: &mut impl Probe) -> Option<u64> {
        let size = u32::try_from(self.units.down(size_bytes)).ok()?;
        let handle = self.peer.allocate(size)?;
        let first = self.regions.space().first().checked_add(self.units.bytes(u64::from(handle.offset)))?;
        self.regions.insert(Span::from_size(first, size_bytes)?, handle);
        Some(first)
    }

    fn free(&mut self, first: u64, _: &mut impl Probe) -> bool {
        let Some((_, handle)) = self.regions.remove(first) else { return false };
        self.peer.free(handle);
        true
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.regions.gaps(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.most_blocks as usize * BLOCK_BYTES
    }

    fn validate(&self) -> Result<(), String> {
        let mut free = 0u64;
        self.regions.gaps(&mut |gap| free = free.saturating_add(self.units.down(gap.size_saturating())));
        let told = u64::from(self.peer.storage_report().total_free_space);
        // It tells 0 when it has no node left.
        if told == free || told == 0 {
            Ok(())
        } else {
            Err(format!("{told} granules free, should be {free}"))
        }
    }
}
