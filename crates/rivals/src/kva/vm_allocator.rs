//! `vm-allocator`: one tree of free and busy ranges without a maximum, searched whole. It frees exact ranges, so
//! the adapter keeps their lengths in a table, whose cost is the adapter's.
//!
//! It has a policy for one fixed place, `ExactMatch`. Version 0.1.4 does not look whether that place is free and
//! hands out parts of a live range again, so the adapter does not offer it; the test below notices when it is mended.

use super::regions::Regions;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};
use vm_allocator::{AddressAllocator, AllocPolicy, RangeInclusive};

/// Bytes of a boxed node, estimated: range, state, height, two children, the heap's own 16.
const NODE_BYTES: usize = 64;

/// Ranges from the `vm-allocator` crate.
#[derive(Clone, Debug)]
pub struct VmAllocator {
    peer: AddressAllocator,
    regions: Regions<()>,
    granule: Align,
}

impl VmAllocator {
    /// A space of one span.
    ///
    /// # Errors
    /// There are several spans, or the span is the whole of 2^64, which the crate cannot express.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let &[space] = layout else { return Err("manages one span only".to_owned()) };
        let size = u64::try_from(space.size_bytes()).map_err(|_| "cannot manage 2^64 bytes".to_owned())?;
        let peer = AddressAllocator::new(space.first(), size).map_err(|error| error.to_string())?;
        Ok(Self { peer, regions: Regions::new(space), granule })
    }
}

impl Engine for VmAllocator {
    /// No windows, and no fixed place: see above.
    fn supports(&self, _: u64, _: Align, window: Span) -> bool {
        window.covers(self.regions.space())
    }

    fn alloc(&mut self, size_bytes: u64, align: Align, _: Span, _: &mut impl Probe) -> Option<u64> {
        let align = align.max(self.granule).bytes();
        let range = self.peer.allocate(size_bytes, align, AllocPolicy::FirstMatch).ok()?;
        self.regions.insert(Span::new(range.start(), range.end())?, ());
        Some(range.start())
    }

    fn free(&mut self, first: u64, _: &mut impl Probe) -> bool {
        let Some((span, ())) = self.regions.remove(first) else { return false };
        let range = RangeInclusive::new(span.first(), span.last());
        range.is_ok_and(|range| self.peer.free(&range).is_ok())
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.regions.gaps(visit);
    }

    fn metadata_bytes(&self) -> usize {
        (self.regions.len() + self.regions.count_gaps()) * NODE_BYTES
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        self.regions.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_match_is_granted_where_a_range_is_live() {
        let mut peer = AddressAllocator::new(0, 0x8000).unwrap();
        let live = peer.allocate(0x2000, 0x1000, AllocPolicy::FirstMatch).unwrap();
        let second = peer.allocate(0x1000, 0x1000, AllocPolicy::ExactMatch(live.start())).unwrap();
        assert!(live.overlaps(&second));
    }
}
