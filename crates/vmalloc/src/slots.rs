//! Pools of slots of one size: each slot guarded, zero when it is handed out, warm if it can be.
//!
//! ```text
//!   stride  | data ...................... | guard | . |      Slots: what runs past the end faults
//!           | . | guard | ...................... data |      stacks: they grow down
//! ```
//!
//! Slots start 64 KiB behind a multiple of 2 MiB. So the guard of a slot and the end of the one before it share a page
//! table, where slots are as long as a page table reaches.
//!
//! # Invariants
//! V3: in a pool that zeroes, free slots are zero; those that were dropped are held until they are cleared. V4: a slot's guard
//! is installed once, before the slot is first handed out, and stays while the pool does.

use crate::error::{AllocError, PoolError};
use crate::mapping::{Pages, whole_pages};
use crate::memory::{Shared, Use, VirtualMemory, Zero, lock};
use crate::zone::{Held, Shape, Zone};
use freehold_kva::Request;
use freehold_kva::pooled::SlabName;
use freehold_sys::page_bytes;
use freehold_units::Align;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Slots of a slab, so that a pool has a multiple of it.
const SLAB_SLOTS: u64 = 32;
/// What a page table reaches, and how far behind a multiple of it slots start.
const TABLE_BYTES: usize = 2 << 20;
const OFF_TABLE_BYTES: usize = 64 << 10;

/// What the slots of a pool are like. Sizes are rounded up to whole pages.
#[derive(Clone, Debug)]
#[must_use]
pub struct SlotLayout {
    size_bytes: usize,
    guard_bytes: usize,
    keep_resident_bytes: usize,
    count: Option<u64>,
    zero: Zero,
    name: String,
    guard_below: bool,
}

impl SlotLayout {
    /// Slots of that size, zero when handed out, with a guard of one page behind each; as many as fit into an eighth of the
    /// reservation.
    pub fn new(size_bytes: usize) -> Self {
        Self {
            size_bytes,
            guard_bytes: page_bytes(),
            keep_resident_bytes: usize::MAX,
            count: None,
            zero: Zero::Yes,
            name: "freehold slots".to_owned(),
            guard_below: false,
        }
    }

    /// Bytes behind each slot that fault; 0 for none.
    pub fn guard(self, guard_bytes: usize) -> Self {
        Self { guard_bytes, ..self }
    }

    /// How many bytes of a free slot may keep their pages, all if this is not called. What was touched beyond goes back to the
    /// system when the slot is cleared, so this has no effect with [`Zero::No`].
    pub fn keep_resident(self, keep_resident_bytes: usize) -> Self {
        Self { keep_resident_bytes, ..self }
    }

    /// How many slots there are, rounded up to a multiple of 32.
    pub fn count(self, count: u64) -> Self {
        Self { count: Some(count), ..self }
    }

    /// Whether slots are zero when they are handed out.
    pub fn zero(self, zero: Zero) -> Self {
        Self { zero, ..self }
    }

    /// The name of the mapping in `/proc/self/smaps`, where the kernel has such names. A name of more than 79 bytes, or with
    /// one of ``[]\$` `` or what is not printed, is not shown there.
    pub fn name(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Stacks: the guard is below, and part of the size.
    pub(crate) fn stacks(size_bytes: usize) -> Self {
        let usable = size_bytes.saturating_sub(page_bytes());
        let layout = Self { guard_below: true, ..Self::new(usable) };
        layout.zero(Zero::No).name("freehold stacks")
    }

    /// Where data and guard are, and the granule of the pool's space.
    fn shape(&self) -> Result<(Shape, Align), PoolError> {
        let too_large = PoolError::TooLarge { slot_bytes: None };
        if self.size_bytes == 0 || self.count == Some(0) {
            return Err(PoolError::Empty);
        }
        let data = whole_pages(self.size_bytes).ok_or(too_large)?;
        let guard = whole_pages(self.guard_bytes).ok_or(too_large)?;
        let needed = data.checked_add(guard).filter(|&needed| needed < 1 << 46).ok_or(too_large)?;
        // The sizes of slots in a space: 1 to 8 granules are exact.
        let pages = needed / page_bytes();
        let shift = if pages > 8 { (pages - 1).ilog2() - 2 } else { 0 };
        let granule = page_bytes() << shift;
        let stride = needed.next_multiple_of(granule);
        let (data, guard) = if self.guard_below {
            (stride - data..stride, stride - data - guard..stride - data)
        } else {
            (0..data, data..data + guard)
        };
        let zeroed = self.zero == Zero::Yes;
        let kept = if zeroed { self.keep_resident_bytes.min(data.len()) } else { data.len() };
        let shape =
            Shape { stride: stride as u64, data, guard, kept: kept / page_bytes() * page_bytes(), zeroed };
        Ok((shape, Align::new(granule as u64).ok_or(too_large)?))
    }
}

/// Bytes of addresses for a pool of `len`.
pub(crate) fn carved_bytes(len: usize) -> usize {
    (len + OFF_TABLE_BYTES).next_multiple_of(OFF_TABLE_BYTES)
}

impl VirtualMemory {
    /// Makes a pool of slots, with a mapping of its own. It lives as long as this, and gives its memory and addresses back when
    /// dropped.
    ///
    /// # Errors
    /// [`PoolError::Empty`], [`PoolError::TooLarge`]; [`PoolError::Addresses`] if the reservation has no room for the pool;
    /// [`PoolError::OutOfMemory`].
    pub fn slots(&self, layout: &SlotLayout) -> Result<Slots<'_>, PoolError> {
        let (shape, granule) = layout.shape()?;
        let shared = &*self.shared;
        let slot_bytes = Some(shape.stride);
        let most = shared.mapping.len() as u64 / 8 / shape.stride / SLAB_SLOTS * SLAB_SLOTS;
        let count = layout.count.unwrap_or(most).checked_next_multiple_of(SLAB_SLOTS);
        let len = count.and_then(|count| count.checked_mul(shape.stride));
        let len = len.filter(|&len| len > 0 && len <= shared.mapping.len() as u64);
        let len = len.ok_or(PoolError::TooLarge { slot_bytes })? as usize;
        let request = Request::new(carved_bytes(len) as u64);
        let carved = shared.carve(&request.align_bytes(TABLE_BYTES as u64), Use::Pool)?;
        let range = carved.start + OFF_TABLE_BYTES..carved.start + OFF_TABLE_BYTES + len;
        let committed = shared.commit == crate::Commit::Lazy;
        let zone = Zone::new(&layout.name, range, 0, granule, committed, Some(shape));
        match zone.map_err(PoolError::from).and_then(|zone| shared.open(zone)) {
            Ok(zone) => Ok(Slots { shared, zone, carved_start: carved.start }),
            Err(error) => {
                shared.uncarve(carved.start);
                Err(error)
            }
        }
    }
}

/// A pool of slots of one size, from [`VirtualMemory::slots`]. A forgotten pool (`mem::forget`) leaks its addresses and memory,
/// until the `VirtualMemory` is dropped.
pub struct Slots<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) zone: Arc<Zone>,
    carved_start: usize,
}

impl Slots<'_> {
    #[inline]
    pub(crate) fn shape(&self) -> &Shape {
        self.zone.shape.as_ref().expect("V3: a pool has slots")
    }

    /// Hands out a slot. Dropped, it goes back to the pool.
    ///
    /// # Errors
    /// [`AllocError::Addresses`] if all slots are held; [`AllocError::System`] where a guard cannot be made, as when each is a
    /// mapping and there are too many, or memory cannot be committed.
    ///
    /// # Cost
    /// Warm, an atomic exchange and an addition, and again with its drop. In a pool that zeroes, dropped slots are cleared 64
    /// at a time: one system call for neighbours tells which pages have memory, and these are cleared.
    #[inline]
    pub fn get(&self) -> Result<Slot<'_>, AllocError> {
        let (shape, mapping) = (self.shape(), &self.shared.mapping);
        let held = match self.zone.alloc(mapping, shape.stride, shape.data.len()) {
            Ok(held) => held,
            Err(error) => self.shared.alloc_again(&self.zone, shape.stride, shape.data.len(), error)?,
        };
        if held.is_warm {
            self.shared.warm.sub(shape.kept as u64);
        }
        if self.shared.quarantine.is_some() {
            return self.get_freed(held);
        }
        Ok(Slot::new(self, held))
    }

    /// Hands out what was guarded.
    #[cold]
    #[inline(never)]
    fn get_freed(&self, held: Held) -> Result<Slot<'_>, AllocError> {
        Ok(Slot::new(self, self.shared.unguard_freed(&self.zone, held)?))
    }

    /// Bytes of a slot.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.shape().data.len()
    }

    /// How many slots there are, held or not.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.zone.range().len() as u64 / self.shape().stride
    }

    /// The number of the slot that has `address`, its guard included, if it is held, or was dropped and not cleared yet.
    /// No lock, no write.
    #[must_use]
    pub fn locate(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.shared.mapping.address(0))?;
        let position = self.zone.position(usize::try_from(offset).ok()?)?;
        Some(self.zone.space.locate(position)?.first() / self.shape().stride)
    }
}

impl Drop for Slots<'_> {
    fn drop(&mut self) {
        self.shared.close(&self.zone, self.carved_start);
    }
}

impl fmt::Debug for Slots<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots")
            .field("name", &self.zone.name)
            .field("shape", self.shape())
            .finish_non_exhaustive()
    }
}

/// A slot that somebody holds: bytes to read and write. What lies behind them faults. A forgotten slot (`mem::forget`) is
/// leaked until its pool is dropped.
///
/// Who writes through [`Slot::as_ptr`] leaves only initialized bytes.
pub struct Slot<'a> {
    pool: &'a Slots<'a>,
    pages: Pages,
    position: u64,
    slab: Option<SlabName>,
}

impl<'a> Slot<'a> {
    #[inline]
    fn new(pool: &'a Slots<'a>, held: Held) -> Self {
        Self { pool, pages: held.pages, position: held.position, slab: held.slab }
    }
}

impl Slot<'_> {
    /// The first byte.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.pages.start()
    }

    /// Its number in the pool, from 0 to [`Slots::count`].
    #[must_use]
    pub fn number(&self) -> u64 {
        self.position / self.pool.shape().stride
    }
}

impl Drop for Slot<'_> {
    #[inline]
    fn drop(&mut self) {
        let (shared, zone, shape) = (self.pool.shared, &self.pool.zone, self.pool.shape());
        let (position, slab) = (self.position, self.slab);
        if !shape.zeroed && shared.give_back_warm(zone, position, slab, shape.kept as u64) {
            return;
        }
        let pages = std::mem::replace(&mut self.pages, Pages::none());
        let held = Held { pages, position, slot_bytes: shape.stride, is_warm: true, slab };
        if shape.zeroed {
            shared.take_back_dropped(zone, held);
        } else {
            shared.take_back(zone, held, shape.kept as u64);
        }
    }
}

impl Deref for Slot<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.pages.bytes()
    }
}

impl DerefMut for Slot<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.pages.bytes_mut()
    }
}

impl fmt::Debug for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Slot");
        shown.field("number", &self.number()).field("address", &self.as_ptr()).finish_non_exhaustive()
    }
}

impl Shared {
    /// Ends a pool whose slots were dropped or forgotten: its pages, guards and addresses go back. If a call fails, they stay
    /// taken.
    fn close(&self, zone: &Arc<Zone>, carved_start: usize) {
        self.end_quarantine();
        // What is refused is counted, and goes with the pool.
        let _ = self.release_dropped(zone);
        {
            let mut pools = lock(&self.pools);
            pools.zones.retain(|other| !Arc::ptr_eq(other, zone));
        }
        // Who has free slots in hand is waited for. Nobody begins to any more.
        *zone.hold_alone() = false;
        self.warm.sub(zone.warm_bytes(zone.space.stats().warm_bytes));
        match zone.end(&self.mapping) {
            Ok(()) => self.uncarve(carved_start),
            Err(_) => self.strand(carved_start),
        }
    }
}
