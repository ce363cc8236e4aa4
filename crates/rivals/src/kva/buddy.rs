//! `buddy_system_allocator`: free blocks of 2^k granules in one `BTreeSet` per k; a request takes a whole such
//! block. It frees by size and alignment, so the adapter keeps both in a table, whose cost is the adapter's.

use super::memory::btreemap_bytes;
use super::regions::Regions;
use super::units::Units;
use buddy_system_allocator::FrameAllocator;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};
use std::alloc::Layout;

/// Ranges from `buddy_system_allocator`'s `FrameAllocator`.
pub struct Buddy {
    peer: FrameAllocator<ORDERS>,
    /// Regions with the size and alignment that they were asked with.
    regions: Regions<Layout>,
    units: Units,
}

/// Blocks of up to 2^32 granules.
const ORDERS: usize = 33;

impl Buddy {
    /// A space of one span.
    ///
    /// # Errors
    /// There are several spans, or the span is not made of whole granules.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let (units, space) = Units::of(layout, granule)?;
        let (first, end) = (usize::try_from(units.down(space.first())), usize::try_from(units.end(space)));
        let (Ok(first), Ok(end)) = (first, end) else { return Err("the space is too large".to_owned()) };
        let mut peer = FrameAllocator::new();
        peer.add_frame(first, end);
        Ok(Self { peer, regions: Regions::new(space), units })
    }

    /// Size and alignment in granules.
    fn frames(&self, size_bytes: u64, align: Align) -> Option<Layout> {
        let size = usize::try_from(self.units.down(size_bytes)).ok()?;
        let align = usize::try_from(self.units.align(align)).ok()?;
        Layout::from_size_align(size, align).ok()
    }
}

/// The granules of the block that is taken, of which the alignment is a part.
fn block_len(frames: Layout) -> usize {
    frames.size().next_power_of_two().max(frames.align())
}

impl Engine for Buddy {
    /// Windows are everything, or a place for one whole block.
    fn supports(&self, size_bytes: u64, align: Align, window: Span) -> bool {
        let Some(frames) = self.frames(size_bytes, align) else { return false };
        let on_block = self.units.down(window.first()) & (block_len(frames) as u64 - 1) == 0;
        window.covers(self.regions.space()) || (window.size_saturating() == size_bytes && on_block)
    }

    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, _: &mut impl Probe) -> Option<u64> {
        let frames = self.frames(size_bytes, align)?;
        let frame = if window.covers(self.regions.space()) {
            self.peer.alloc_aligned(frames)?
        } else {
            self.peer.alloc_at(usize::try_from(self.units.down(window.first())).ok()?, block_len(frames))?
        };
        let first = self.units.bytes(frame as u64);
        self.regions.insert(Span::from_size(first, size_bytes)?, frames);
        Some(first)
    }

    fn free(&mut self, first: u64, _: &mut impl Probe) -> bool {
        let Some((span, frames)) = self.regions.remove(first) else { return false };
        let frame = usize::try_from(self.units.down(span.first()));
        frame.is_ok_and(|frame| {
            self.peer.dealloc_aligned(frame, frames);
            true
        })
    }

    /// What no region covers; the rest of a block that is larger than its region is not free, yet shown.
    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.regions.gaps(visit);
    }

    /// Estimated as one block for every gap.
    fn metadata_bytes(&self) -> usize {
        btreemap_bytes(self.regions.count_gaps(), size_of::<usize>())
    }

    fn validate(&self) -> Result<(), String> {
        self.regions.validate()
    }
}
