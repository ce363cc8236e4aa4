//! The state under the core's lock: the space whose regions are slabs and extents, and the numbers of records.

use super::PooledSpace;
use super::cells::Cells;
use super::slab::{Layout, Slab};
use super::word::SlabRef;
use crate::atomic::{MutexGuard, Ordering};
use crate::{AddressSpace, AllocError, LayoutError, OutOfMemory, Placement};
use freehold_sys::fork::{Held, hold};
use freehold_units::{Align, Span, chunks};
use std::sync::{PoisonError, TryLockError};
use std::vec::Vec;

/// The value of a region that is set aside, and is neither a slab nor an extent.
pub(super) const ASIDE: u32 = u32::MAX;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Core {
    /// The granule is a cell. The value of each region is the number of its slab's or extent's record, or [`ASIDE`].
    pub(super) space: AddressSpace<u32>,
    /// Numbers of records without a slab. The capacity suffices for the numbers of all records.
    free_ids: Vec<u32>,
    /// Count of numbers that were ever used.
    used_ids: usize,
    /// Regions that are set aside.
    pub(super) aside: usize,
    /// Number of times that the lock was taken.
    pub(super) locks: u64,
}

impl Core {
    pub(super) fn new(span: Span, cell: Align) -> Result<Self, LayoutError> {
        let space = AddressSpace::new(span, cell, Placement::Lowest)?;
        Ok(Self { space, free_ids: Vec::new(), used_ids: 0, aside: 0, locks: 0 })
    }

    /// Takes cells, and stores `value` with them.
    pub(super) fn take(
        &mut self,
        cells: &Cells,
        placement: Placement,
        value: u32,
    ) -> Result<Span, AllocError> {
        let taken = match cells {
            Cells::Of(request) => self.space.alloc_with(request, placement, value),
            Cells::All => self.space.alloc_at(Span::ALL, value),
        };
        taken.map_err(|rejected| rejected.cause)
    }

    /// A number whose record has no slab. The number stays unused until `take_id`.
    fn spare_id(&mut self, space: &PooledSpace) -> Result<u32, OutOfMemory> {
        if let Some(&id) = self.free_ids.last() {
            return Ok(id);
        }
        let id = chunks::nth(self.used_ids).ok_or(OutOfMemory)?;
        space.records.reserve(id)?;
        self.free_ids.try_reserve(self.used_ids + 1)?;
        Ok(id)
    }

    /// Marks the number that `spare_id` returned as used.
    fn take_id(&mut self) {
        if self.free_ids.pop().is_none() {
            self.used_ids += 1;
        }
    }

    /// Whether a number was ever used.
    pub(super) fn was_used(&self, id: u32) -> bool {
        chunks::made(id) < self.used_ids
    }

    /// Numbers of records without a slab.
    pub(super) fn unused_ids(&self) -> &[u32] {
        &self.free_ids
    }
}

impl PooledSpace {
    /// Locks the core. No system call and no destructor of a caller's type runs under this lock.
    pub(super) fn lock(&self) -> Held<MutexGuard<'_, Core>> {
        let mut core = hold(|| match self.core.try_lock() {
            Ok(core) => core,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.lock_waits.fetch_add(1, Ordering::Relaxed);
                // Only a broken invariant panics under this lock, and `validate` reports it. So poisoning is ignored.
                self.core.lock().unwrap_or_else(PoisonError::into_inner)
            }
        });
        core.locks += 1;
        core
    }

    /// Makes a slab or an extent of cells. The caller owns it and holds its first slot.
    pub(super) fn make(
        &self,
        core: &mut Core,
        cells: &Cells,
        layout: impl FnOnce(u64) -> Layout,
    ) -> Result<(SlabRef, Layout), AllocError> {
        let id = core.spare_id(self)?;
        let region = core.take(cells, Placement::Lowest, id)?;
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

    /// Retires a slab or an extent that the caller owns, if possible, and returns its addresses to the core. Returns
    /// those addresses.
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
