//! What the lock protects: the space that slabs and extents are regions of, and the numbers of records.

use super::PooledSpace;
use super::slab::{Layout, Slab};
use super::word::SlabRef;
use crate::atomic::{MutexGuard, Ordering};
use crate::{AddressSpace, AllocError, LayoutError, OutOfMemory, Placement, Request};
use freehold_sys::fork::{Held, hold};
use freehold_units::{Align, Span, chunks};
use std::sync::{PoisonError, TryLockError};
use std::vec::Vec;

/// The value of a region that is neither a slab's nor an extent's: it is set aside.
pub(super) const ASIDE: u32 = u32::MAX;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Core {
    /// Each region is a slab's or an extent's, and has its record's number, or [`ASIDE`]. The granule is a cell.
    pub(super) space: AddressSpace<u32>,
    /// Numbers of records without slab. There is room for the numbers of all records.
    free_ids: Vec<u32>,
    /// How many numbers were used so far.
    used_ids: usize,
    /// Regions that are set aside.
    pub(super) aside: usize,
    /// Times that the lock was taken.
    pub(super) locks: u64,
}

impl Core {
    pub(super) fn new(span: Span, cell: Align) -> Result<Self, LayoutError> {
        let space = AddressSpace::new(span, cell, Placement::Lowest)?;
        Ok(Self { space, free_ids: Vec::new(), used_ids: 0, aside: 0, locks: 0 })
    }

    /// A number whose record has no slab. It stays unused until `take_id`.
    fn spare_id(&mut self, space: &PooledSpace) -> Result<u32, OutOfMemory> {
        if let Some(&id) = self.free_ids.last() {
            return Ok(id);
        }
        let id = chunks::nth(self.used_ids).ok_or(OutOfMemory)?;
        space.records.reserve(id)?;
        self.free_ids.try_reserve(self.used_ids + 1)?;
        Ok(id)
    }

    /// The number that `spare_id` gave is in use.
    fn take_id(&mut self) {
        if self.free_ids.pop().is_none() {
            self.used_ids += 1;
        }
    }

    /// Whether a number was ever used.
    pub(super) fn was_used(&self, id: u32) -> bool {
        chunks::made(id) < self.used_ids
    }

    /// Numbers that no slab has, sorted.
    pub(super) fn unused_ids(&self) -> Vec<u32> {
        let mut ids = self.free_ids.clone();
        ids.sort_unstable();
        ids
    }
}

impl PooledSpace {
    /// The core. No system call and no destructor of a caller's type runs under this lock.
    pub(super) fn lock(&self) -> Held<MutexGuard<'_, Core>> {
        let mut core = hold(|| match self.core.try_lock() {
            Ok(core) => core,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.lock_waits.fetch_add(1, Ordering::Relaxed);
                // What was under a panic is whole: only broken invariants panic, and `validate` tells.
                self.core.lock().unwrap_or_else(PoisonError::into_inner)
            }
        });
        core.locks += 1;
        core
    }

    /// Makes a slab or an extent where `request`, in cells, has room. Its first slot is the caller's, who also owns it.
    pub(super) fn make(
        &self,
        core: &mut Core,
        request: &Request,
        layout: impl FnOnce(u64) -> Layout,
    ) -> Result<(SlabRef, Layout), AllocError> {
        let id = core.spare_id(self)?;
        let region = core.space.alloc(request, id)?;
        if let Err(error) = self.map.reserve(region) {
            core.space.free(region.first()).expect("S1: a region that was just made is there");
            return Err(error.into());
        }
        core.take_id();
        let (slab, layout) = (self.records.at(id), layout(region.first()));
        slab.prepare(layout);
        let name = SlabRef::new(slab.next_generation(), id);
        self.map.set(region, Some(name));
        slab.publish(self.tracks_residency);
        Ok((name, layout))
    }

    /// Gives the addresses of a slab or an extent back to the core, if it can be retired. The caller owns it. Returns what
    /// went back.
    pub(super) fn retire(&self, core: &mut Core, id: u32) -> Option<Span> {
        let slab: &Slab = self.records.at(id);
        if !slab.retire() {
            return None;
        }
        let (region, _) = core.space.free(slab.layout().base).expect("S1: a slab is a region of the core");
        self.map.set(region, None);
        if slab.is_reusable() {
            core.free_ids.push(id);
        }
        Some(region)
    }
}
