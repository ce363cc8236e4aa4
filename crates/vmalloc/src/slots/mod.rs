//! Pools of slots of one size: each slot is guarded, zero when it is handed out, and resident if it can be.
//!
//! ```text
//!   stride  | data ...................... | guard | . |      Slots: what runs past the end faults
//!           | . | guard | ...................... data |      stacks: they grow down
//!   | guard | data ...................... | ..... guard |      guards on both sides
//! ```
//!
//! Slots start 64 KiB after a multiple of 2 MiB. So if slots are as long as a page table covers, the guard of a slot
//! and the end of the slot before share a page table.
//!
//! # Invariants
//! - V3: in a pool that zeroes, free slots are zero. Dropped slots are held until they are cleared.
//! - V4: a slot's guard is installed once, before the slot is first handed out, and stays while the pool does.

#[allow(unsafe_code, reason = "the pages of a slot become more and fewer")]
mod accessible;
mod layout;

use crate::error::{AllocError, PoolError};
use crate::mapping::{Pages, as_bytes, whole_pages};
use crate::memory::VirtualMemory;
use crate::residency::is_scarce;
use crate::scrub::Scrub;
use crate::zone::{Held, Place, Shape, Use, Zone};
use freehold_kva::Request;
use freehold_kva::pooled::SlabRef;
use freehold_units::Align;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use accessible::Accessible;
pub use layout::SlotLayout;
use layout::{SLAB_SLOTS, TABLE_BYTES};

impl VirtualMemory {
    /// Makes a pool of slots, with a mapping of its own, which borrows this memory. Dropping the pool frees its memory
    /// and addresses.
    ///
    /// # Errors
    /// [`PoolError::Empty`], [`PoolError::TooLarge`], [`PoolError::Alignment`]; [`PoolError::Addresses`] if the
    /// reservation has no free addresses for the pool; [`PoolError::OutOfMemory`].
    ///
    /// # Cost
    /// A lock and O(log n) for the addresses, a system call for the name, and a bit for each slot.
    pub fn slots(&self, layout: &SlotLayout) -> Result<Slots<'_>, PoolError> {
        let shape = layout.shape()?;
        let shared = &*self.shared;
        let slot_bytes = Some(shape.stride);
        let most = shared.mapping().len() as u64 / 8 / shape.stride / SLAB_SLOTS * SLAB_SLOTS;
        let count = layout.count.unwrap_or(most).checked_next_multiple_of(SLAB_SLOTS);
        let len = count.and_then(|count| count.checked_mul(shape.stride));
        let len = len.filter(|&len| len > 0 && len <= shared.mapping().len() as u64);
        let len = len.ok_or(PoolError::TooLarge { slot_bytes })? as usize;
        let (align_bytes, behind) = layout.start(&shape);
        // Whole page tables: a huge page of the pool belongs to nobody else.
        let lent_bytes = (len + behind).next_multiple_of(TABLE_BYTES) as u64;
        let request = Request::new(lent_bytes).align_bytes(align_bytes as u64);
        let lent = shared.residency.lend(&request, Use::Pool)?;
        let range = lent.start + behind..lent.start + behind + len;
        let advice = shared.mapping().advise_part(lent.clone(), layout.told.advice);
        let place = Place::of_slots(&layout.told.name, lent.clone(), range, &shape, advice);
        let zone = Zone::new(place, Align::ONE, Some(shape));
        let accessible = Accessible::new(layout.accessible_bytes);
        match zone.map_err(PoolError::from).and_then(|zone| shared.zones().open(zone)) {
            Ok(zone) => Ok(Slots { shared, zone, accessible }),
            Err(error) => {
                shared.zones().end_pool(lent, advice);
                Err(error)
            }
        }
    }
}

/// A pool of slots of one size, from [`VirtualMemory::slots`]. A forgotten pool (`mem::forget`) leaks its addresses and
/// memory until the `VirtualMemory` is dropped.
pub struct Slots<'a> {
    pub(crate) shared: &'a Scrub,
    pub(crate) zone: Arc<Zone>,
    accessible: Accessible,
}

impl Slots<'_> {
    #[inline]
    pub(crate) fn shape(&self) -> &Shape {
        self.zone.shape.as_ref().expect("V3: a pool has slots")
    }

    /// The position in the zone's space of the slot that starts at an address.
    pub(crate) fn position_of(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.shared.mapping().address(self.shape().data.start))?;
        self.zone.place.position(usize::try_from(offset).ok()?)
    }

    /// Hands out a slot. Dropping the slot returns it to the pool.
    ///
    /// # Errors
    /// [`AllocError::AllHeld`] if all slots are held; [`AllocError::System`] if a guard cannot be made, for example
    /// because each is a mapping and there are too many, or if memory cannot be committed.
    ///
    /// # Cost
    /// If resident, an atomic exchange and an addition, and the same for the drop. In a pool that zeroes, dropped slots
    /// are cleared 64 at a time: one system call for neighbours finds which pages have memory, and these are cleared.
    /// Slots with more than 256 KiB between them are each cleared when dropped.
    #[inline]
    pub fn get(&self) -> Result<Slot<'_>, AllocError> {
        let slot = self.get_any()?;
        // Checked after the slot is taken, so that the change of its last holder is seen.
        if self.accessible.is_all() { Ok(slot) } else { self.narrowed(slot, self.accessible.at_first) }
    }

    /// A slot with any accessible part.
    #[inline]
    fn get_any(&self) -> Result<Slot<'_>, AllocError> {
        let shape = self.shape();
        if let Some((pages, position, slab)) = self.shared.residency.slot_fast(&self.zone, shape) {
            let used_bytes = shape.data.len();
            return Ok(Slot { pool: self, pages, position, slab: Some(slab), used_bytes });
        }
        self.get_slow(shape)
    }

    #[inline(never)]
    fn get_slow(&self, shape: &Shape) -> Result<Slot<'_>, AllocError> {
        match self.shared.residency.alloc(&self.zone, 1, shape.data.len()) {
            Ok(Held { pages, position, slab, used_bytes, .. }) => {
                Ok(Slot { pool: self, pages, position, slab, used_bytes })
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// Turns a refusal into the error for a caller that asks for a slot.
    #[cold]
    fn refused(&self, error: AllocError) -> AllocError {
        match is_scarce(&error) {
            true => AllocError::AllHeld { count: self.count(), slot_bytes: self.slot_bytes() as u64 },
            false => error,
        }
    }

    /// Bytes of a slot.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.shape().data.len()
    }

    /// The number of slots, held or not.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.zone.place.range.len() as u64 / self.shape().stride
    }

    /// The number of the slot that contains `address`, including its guard, if the slot is held, or was dropped and not
    /// cleared yet, or is in the quarantine of the [debug mode](crate::Builder::catch_use_after_free). Takes no lock and
    /// writes nothing.
    ///
    /// Cost: constant.
    #[must_use]
    pub fn locate(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.shared.mapping().address(0))?;
        let position = self.zone.place.position(usize::try_from(offset).ok()?)?;
        Some(self.zone.space.locate(position)?.first())
    }
}

impl Drop for Slots<'_> {
    fn drop(&mut self) {
        close(self.shared, &self.zone);
    }
}

impl fmt::Debug for Slots<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots")
            .field("name", &self.zone.place.name)
            .field("shape", self.shape())
            .finish_non_exhaustive()
    }
}

/// A held slot: bytes to read and write. The bytes after it fault. A forgotten slot (`mem::forget`) is leaked until its
/// pool is dropped.
///
/// Code that writes through [`Slot::as_ptr`] must leave only initialized bytes.
pub struct Slot<'a> {
    pub(crate) pool: &'a Slots<'a>,
    pub(crate) pages: Pages,
    position: u64,
    slab: Option<SlabRef>,
    /// Bytes from the start that may have been written.
    used_bytes: usize,
}

impl<'a> Slot<'a> {
    /// A held slot at a position.
    pub(crate) fn from_parts(pool: &'a Slots<'a>, pages: Pages, position: u64) -> Self {
        let (slab, used_bytes) = (pool.zone.space.slab_ref(position), pages.len());
        Self { pool, pages, position, slab, used_bytes }
    }
}

impl Slot<'_> {
    /// The first byte.
    ///
    /// Cost: constant.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.pages.start()
    }

    /// Bytes of its guard.
    pub(crate) fn guard_bytes(&self) -> usize {
        self.pool.shape().guard.len()
    }

    /// Declares that only the first `bytes` were written, so that no more is scanned and cleared when the slot is
    /// dropped. If that is wrong, a later holder of the slot finds the bytes written after them.
    ///
    /// Cost: constant.
    pub fn used(&mut self, bytes: usize) {
        self.used_bytes = whole_pages(bytes).unwrap_or(usize::MAX);
    }

    /// Its number in the pool, from 0 up to but not including [`Slots::count`].
    ///
    /// Cost: constant.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.position
    }
}

impl Drop for Slot<'_> {
    #[inline]
    fn drop(&mut self) {
        let (shared, zone, shape) = (self.pool.shared, &self.pool.zone, self.pool.shape());
        let (position, slab) = (self.position, self.slab);
        self.narrow_dropped();
        if self.is_lost() {
            return;
        }
        if !shape.waits && shared.residency.free_fast(zone, position, slab, shape.kept as u64) {
            return;
        }
        let used_bytes = self.used_bytes.min(self.pages.len());
        let pages = self.all_pages();
        let held = Held { pages, position, slot_bytes: shape.stride, used_bytes, is_resident: true, slab };
        if shape.waits {
            shared.take_back_dropped(zone, held);
        } else {
            shared.residency.take_back(zone, held, shape.kept as u64);
        }
    }
}

as_bytes! { Slot<'_> { pages } }

impl fmt::Debug for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Slot");
        shown.field("number", &self.number()).field("address", &self.as_ptr()).finish_non_exhaustive()
    }
}

/// Ends a pool whose slots were dropped or forgotten: frees its pages, guards and addresses. If a call fails, they stay
/// taken until the system accepts the decommit.
fn close(shared: &Scrub, zone: &Arc<Zone>) {
    let (residency, zones) = (&shared.residency, shared.zones());
    zone.free_quarantined(usize::MAX);
    // A refused decommit is counted, and the memory is freed with the pool.
    let _ = residency.release_dropped(zone);
    zones.close(zone);
    // Wait for threads that clear or decommit free slots. No thread begins to any more.
    *zone.hold_alone() = false;
    residency.resident.sub(zone.all_counted_bytes());
    zones.end_pool(zone.place.lent.clone(), zone.place.advice);
}
