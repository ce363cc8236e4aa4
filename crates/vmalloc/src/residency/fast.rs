//! The fast paths: taking and freeing resident memory that needs no other work.

use super::Residency;
use crate::mapping::Pages;
use crate::zone::{Shape, Zone};
use freehold_kva::pooled::SlabRef;
use std::ptr::NonNull;

impl Residency {
    /// A block of `len` bytes that may hold anything, the fast path: a resident slot of this CPU's slab. `None` is not
    /// a refusal: call [`Residency::alloc`].
    #[inline]
    pub(crate) fn alloc_fast(&self, len: usize) -> Option<(Pages, SlabRef)> {
        let (start, slab) = self.take_fast(len)?;
        // SAFETY:
        // - The slot was just taken from its space, which hands out a place once until it is free again.
        // - It has at least `len` bytes.
        // - It is committed, as resident memory was handed out before.
        Some((unsafe { Pages::new(start, len) }, slab))
    }

    /// Returns a pair that fits two registers; a larger result would be stored to and reloaded from the stack. This and
    /// the slab's name took a pair of `bench memory` from 2.4 of mimalloc's time to 1.3.
    #[inline(never)]
    fn take_fast(&self, len: usize) -> Option<(NonNull<u8>, SlabRef)> {
        let zone = self.zones.blocks();
        if self.quarantine.is_some() {
            return None;
        }
        let (span, slab) = zone.space.alloc_resident(len as u64)?;
        self.resident.sub(span.size_saturating());
        // SAFETY: the zone belongs to the mapping, and the slot to the zone, whose positions are addresses.
        Some((unsafe { self.zones.mapping.at_address(span.first()) }, slab))
    }

    /// A slot of a pool that needs nothing done, with its position, the fast path. `None` is not a refusal: call
    /// [`Residency::alloc`].
    #[inline]
    pub(crate) fn slot_fast(&self, zone: &Zone, shape: &Shape) -> Option<(Pages, u64, SlabRef)> {
        if self.quarantine.is_some() {
            return None;
        }
        let (span, slab) = zone.space.alloc_resident(1)?;
        self.resident.sub(shape.kept as u64);
        // SAFETY: the zone belongs to the mapping, and the slot to the zone.
        let start = unsafe { self.zones.mapping.at(zone.place.offset(span.first()) + shape.data.start) };
        // SAFETY:
        // - The slot was just taken from its space, which hands out a place once until it is free again.
        // - It is committed and guarded, as resident memory was handed out before.
        Some((unsafe { Pages::new(start, shape.data.len()) }, span.first(), slab))
    }

    /// Frees memory that counts as `counted_bytes` from now on, unless it cannot stay resident. On `false` it still
    /// belongs to the caller, but is counted.
    #[inline]
    pub(crate) fn free_fast(
        &self,
        zone: &Zone,
        position: u64,
        slab: Option<SlabRef>,
        counted_bytes: u64,
    ) -> bool {
        if self.resident.add(counted_bytes) || self.quarantine.is_some() {
            return false;
        }
        zone.free_resident(position, slab);
        true
    }

    /// As [`Residency::free_fast`], for a block in a slot of that slab.
    #[inline(never)]
    pub(crate) fn free_block_fast(&self, address: u64, len: usize, slab: SlabRef) -> bool {
        let zone = self.zones.blocks();
        // In the zone of blocks, positions are addresses.
        self.free_fast(zone, address, Some(slab), zone.space.block_bytes(len as u64))
    }
}
