//! The residency layer: which free memory keeps its pages, how much, and for how long.
//!
//! # Contract
//! - A free block is either *resident* (it may have pages and hold anything) or *decommitted* (it has no pages and is
//!   zero).
//! - Free resident memory is counted ([`ResidentCount`]) and bounded by the [`RetainPolicy`].
//! - Blocks are tried in this order: a resident one in this CPU's slab, a decommitted one there, other slabs. If all
//!   fail, memory is reclaimed and the request tried again ([reclaim]).
//!
//! # Invariants
//! S6: free memory that may have pages stays under the threshold plus a batch: memory that would exceed it is purged
//! first, or decommitted itself. A failed call leaves its memory resident, so nothing nonzero is taken for zero (V2).

mod count;
#[allow(unsafe_code, reason = "what the space hands out becomes pages")]
mod fast;
mod large;
mod purge;
mod quarantine;
mod reclaim;

use crate::builder::Builder;
use crate::error::{AllocError, BuildError};
use crate::lock::lock;
use crate::retain::RetainPolicy;
use crate::zone::{Held, Zone, Zones};
use freehold_kva::Request;
use large::Large;
use quarantine::Quarantine;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use count::ResidentCount;
#[cfg(test)]
pub(crate) use large::LARGE_CLASSES;
pub(crate) use reclaim::is_scarce;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Residency {
    pub(crate) zones: Zones,
    pub(crate) resident: ResidentCount,
    policy: RetainPolicy,
    pub(crate) quarantine: Option<Quarantine>,
    large: Large,
    pub(crate) counts: Counts,
}

/// Counts of decommits since it was built.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) purges: AtomicU64,
    pub(crate) purged_bytes: AtomicU64,
}

impl Residency {
    pub(crate) fn new(asked: &Builder) -> Result<Self, BuildError> {
        Ok(Self {
            zones: Zones::new(asked)?,
            resident: ResidentCount::new(asked.retain)?,
            policy: asked.retain,
            quarantine: asked.quarantine_bytes.map(Quarantine::new),
            large: Large::new(),
            counts: Counts::default(),
        })
    }

    /// Takes a block of which `len` bytes will be used.
    #[inline]
    pub(crate) fn alloc(&self, zone: &Zone, size_bytes: u64, len: usize) -> Result<Held, AllocError> {
        let held = match zone.alloc(&self.zones.mapping, size_bytes, len) {
            Ok(held) => held,
            Err(error) => self.alloc_after_reclaim(zone, &Request::new(size_bytes), len, error)?,
        };
        self.hand_out(zone, held)
    }

    /// Takes a large block: one that has its pages, else one of the size class, else one of the exact length.
    pub(crate) fn alloc_large(&self, zone: &Zone, len: usize) -> Result<Held, AllocError> {
        let size_bytes = self.zones.sizes.large_bytes(len);
        let held = match self.large.take(&self.zones, zone, size_bytes, len) {
            Some(held) => held,
            None => {
                // A length that fits may be rounded up to more than all addresses.
                let has_size = size_bytes <= self.zones.mapping.len() as u64;
                let size_bytes = if has_size { size_bytes } else { len as u64 };
                match zone.alloc(&self.zones.mapping, size_bytes, len) {
                    Ok(held) => held,
                    Err(error) => self.alloc_after_reclaim(zone, &Request::new(len as u64), len, error)?,
                }
            }
        };
        self.hand_out(zone, held)
    }

    /// As [`Residency::alloc`], where the request allows it.
    pub(crate) fn alloc_request(
        &self,
        zone: &Zone,
        request: &Request,
        len: usize,
    ) -> Result<Held, AllocError> {
        let held = match zone.alloc_request(&self.zones.mapping, request, len) {
            Ok(held) => held,
            Err(error) => self.alloc_after_reclaim(zone, request, len, error)?,
        };
        self.hand_out(zone, held)
    }

    /// Prepares a taken block for its holder.
    #[inline]
    fn hand_out(&self, zone: &Zone, held: Held) -> Result<Held, AllocError> {
        if held.is_resident {
            self.resident.sub(zone.counted_slot(held.slot_bytes));
        }
        if self.quarantine.is_some() {
            self.unguard_freed(zone, &held)?;
        }
        Ok(held)
    }

    /// Makes a block usable if it, or a part of its slot, may have been guarded while it was free: the whole slot, as
    /// the block may grow to its end. If that is refused, the block is free again.
    #[cold]
    fn unguard_freed(&self, zone: &Zone, held: &Held) -> Result<(), AllocError> {
        let slot = zone.all_pages(&self.zones.mapping, held);
        let start = self.zones.mapping.offset_of(&slot);
        let opened = self.zones.mapping.unguard(start..start + slot.len(), zone.place.advice);
        if opened.is_err() {
            if held.is_resident {
                self.resident.add(zone.counted_slot(held.slot_bytes));
                zone.free_resident(held.position, held.slab);
            } else {
                zone.free_decommitted(held.position);
            }
        }
        Ok(opened?)
    }

    /// Takes back a counted block in the debug mode.
    #[cold]
    fn take_back_guarded(&self, quarantine: &Quarantine, zone: &Zone, held: Held, counted_bytes: u64) {
        match quarantine.guard(&self.zones.mapping, zone, held) {
            Ok(()) => self.resident.sub(counted_bytes),
            Err(held) => self.give_pages_back(zone, held, counted_bytes),
        }
    }

    /// Takes back a counted block that [`Residency::free_fast`] refused.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_back(&self, zone: &Arc<Zone>, held: Held, counted_bytes: u64) {
        if let Some(quarantine) = &self.quarantine {
            return self.take_back_guarded(quarantine, zone, held, counted_bytes);
        }
        // A short extent, from an alignment or a window, is never looked up again, so it is not kept.
        let is_kept = held.slab.is_some() || self.zones.sizes.is_large(held.slot_bytes as usize);
        if !is_kept || !self.make_room(zone, counted_bytes) {
            return self.give_pages_back(zone, held, counted_bytes);
        }
        match held.slab {
            Some(_) => zone.free_resident(held.position, held.slab),
            None => self.large.free(&self.zones, zone, &held),
        }
    }

    /// Takes back a slot that has to be cleared before it is free. `true` if the waiting slots have to be cleared now:
    /// there are `most` of them, or they exceed the threshold.
    ///
    /// Until it is cleared, a slot counts with all that its holder may have written. So at most half of the threshold
    /// waits.
    pub(crate) fn take_back_dropped(&self, zone: &Arc<Zone>, held: Held, most: usize) -> bool {
        let bytes = zone.dropped_slot(&held);
        let is_over = self.resident.add(bytes);
        if let Some(quarantine) = &self.quarantine {
            self.take_back_guarded(quarantine, zone, held, bytes);
            return false;
        }
        if zone.counted_slot(bytes) > self.policy.bytes {
            self.give_pages_back(zone, held, bytes);
            return false;
        }
        let mut dropped = lock(&zone.dropped);
        if dropped.len() == dropped.capacity() && dropped.try_reserve_exact(most).is_err() {
            drop(dropped);
            self.give_pages_back(zone, held, bytes);
            return false;
        }
        dropped.push(held);
        is_over || dropped.len() >= most || dropped.len() as u64 * bytes > self.policy.bytes / 2
    }

    /// Frees a cleared slot, which counts with the bytes that it keeps from now on.
    pub(crate) fn free_cleared(&self, zone: &Zone, held: &Held) {
        self.resident.sub(zone.dropped_slot(held) - zone.counted_slot(held.slot_bytes));
        zone.free_resident(held.position, held.slab);
    }
}

/// Adds to a count of which only the sum matters.
pub(crate) fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}
