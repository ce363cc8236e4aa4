//! The zone layer: who owns which addresses.
//!
//! ```text
//!   mapping   | slab | slab | large block | slab |  free ............  | vector | a pool of stacks | a pool of slots |
//!               the zone of blocks: lowest first                          lent by it, highest first; pools are zones
//! ```
//!
//! # Contract
//! - A zone is a range of the mapping with a pooled space of its own. It hands out committed and guarded memory:
//!   [`Held`].
//! - The space of blocks uses addresses as positions; a pool's space uses slot numbers.
//! - [`Zones`] has all zones, and tells which one serves a length. [`Lending`] has the addresses of pools and vectors.
//! - The layer tracks which pieces are free and whether they may have memory. It does not bound how much.
//!
//! # Invariants
//! - V1: only the holder of a block uses its pages. A purge holds the blocks that it has claimed.
//! - V2: free decommitted memory is zero: it was never written, or a call that succeeded decommitted it while it was
//!   held.
//! - V5: the whole slot of a held block is committed.

mod claim;
mod lending;
mod place;
mod shape;
mod sizes;
mod zones;

use crate::bits::Bits;
use crate::error::AllocError;
use crate::lock::{lock, read, write};
use crate::mapping::{Mapping, Pages};
use freehold_kva::pooled::{self, Memory, SlabRef};
use freehold_kva::{LayoutError, PooledSpace, Request};
use freehold_sys::SysError;
use freehold_sys::fork::Held as Guarded;
use freehold_units::{Align, Broken, Span, check};
use std::collections::VecDeque;
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) use lending::{Lending, Use};
pub(crate) use place::Place;
pub(crate) use shape::Shape;
pub(crate) use zones::Zones;

/// Bytes that a pool commits ahead, if not all is committed.
const AMPLE_BYTES: usize = 4 << 20;
/// Committed parts of the mapping in which a place is looked for after the system refused to commit more.
const COMMITTED_PARTS: usize = 64;

/// A block that was taken and not handed out yet.
#[derive(Debug)]
pub(crate) struct Held {
    /// The pages that the holder uses, from the start of the slot.
    pub(crate) pages: Pages,
    /// Its position in the zone's space.
    pub(crate) position: u64,
    /// Bytes of the slot or extent.
    pub(crate) slot_bytes: u64,
    /// Bytes from the start that its holder may have written.
    pub(crate) used_bytes: usize,
    /// Whether its pages may be nonzero.
    pub(crate) is_resident: bool,
    /// The slab of the slot. `None` for an extent, whose addresses must return to the space before they are reused.
    pub(crate) slab: Option<SlabRef>,
}

/// A block in the quarantine. It is held, guarded and decommitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quarantined {
    pub(crate) position: u64,
    pub(crate) bytes: u64,
    /// Bytes that had been freed in total when this block was.
    pub(crate) freed_at: u64,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Zone {
    /// 0 for blocks; a pool's is above those of all that were open when it was.
    number: u64,
    pub(crate) place: Place,
    pub(crate) space: PooledSpace,
    /// The layout of its slots, if it is a pool.
    pub(crate) shape: Option<Shape>,
    /// The installed guards (V4): the one before the first slot, and that of each slot. Only the holders of the slots
    /// beside a guard ask for it and set it. They may install the same guard.
    guards: Bits,
    /// Dropped slots that wait to be cleared. Each counts as resident, with all that its holder may have written.
    pub(crate) dropped: Mutex<Vec<Held>>,
    /// Blocks in the quarantine of the debug mode, in the order of their frees.
    pub(crate) quarantined: Mutex<VecDeque<Quarantined>>,
    /// Read-locked by threads that clear or decommit free blocks; write-locked to exclude all of them. `false` after
    /// the zone is closed.
    open: RwLock<bool>,
}

impl Zone {
    /// A zone at a place. Its space has granule `granule`.
    pub(crate) fn new(place: Place, granule: Align, shape: Option<Shape>) -> Result<Self, LayoutError> {
        let positions = place.positions().ok_or(LayoutError::Empty)?;
        let is_guarded = shape.as_ref().is_some_and(|shape| !shape.guard.is_empty());
        Ok(Self {
            number: 0,
            place,
            space: PooledSpace::for_memory(positions, granule)?,
            shape,
            guards: Bits::new(if is_guarded { positions.size_saturating() as usize + 1 } else { 0 })?,
            dropped: Mutex::default(),
            quarantined: Mutex::default(),
            open: RwLock::new(true),
        })
    }

    /// Read-locks the zone, for a thread that clears or decommits free blocks. `false` in the guard if the zone is
    /// closed.
    pub(crate) fn hold_open(&self) -> Guarded<RwLockReadGuard<'_, bool>> {
        read(&self.open)
    }

    /// Write-locks the zone: waits for threads that clear or decommit free blocks, and keeps them out.
    pub(crate) fn hold_alone(&self) -> Guarded<RwLockWriteGuard<'_, bool>> {
        write(&self.open)
    }

    /// The statistics of its space, in bytes.
    pub(crate) fn stats(&self) -> pooled::Stats {
        let mut stats = self.space.stats();
        for positions in [
            &mut stats.held_bytes,
            &mut stats.ready_bytes,
            &mut stats.resident_bytes,
            &mut stats.purging_bytes,
        ] {
            *positions = self.place.bytes(*positions);
        }
        stats.unused_bytes *= u128::from(self.place.bytes(1));
        stats
    }

    /// The bytes that free blocks over `positions` count as.
    pub(crate) fn counted_bytes(&self, positions: u64) -> u64 {
        self.shape.as_ref().map_or(positions, |shape| positions * shape.kept as u64)
    }

    /// The bytes that all free blocks count as.
    pub(crate) fn all_counted_bytes(&self) -> u64 {
        let stats = self.space.stats();
        self.counted_bytes(stats.resident_bytes + stats.purging_bytes)
    }

    /// The bytes that a free block of `slot_bytes` counts as. In a pool: those of one slot.
    #[inline]
    pub(crate) fn counted_slot(&self, slot_bytes: u64) -> u64 {
        self.shape.as_ref().map_or(slot_bytes, |shape| shape.kept as u64)
    }

    /// The bytes that a slot waiting to be cleared counts as: those that its holder may have written, or those that it
    /// keeps.
    pub(crate) fn dropped_slot(&self, held: &Held) -> u64 {
        self.counted_slot(held.slot_bytes).max(held.used_bytes as u64)
    }

    /// The bytes that all slots waiting to be cleared count as.
    pub(crate) fn dropped_bytes(&self) -> u64 {
        lock(&self.dropped).iter().map(|held| self.dropped_slot(held)).sum()
    }

    /// Frees the `count` oldest blocks of the quarantine. Returns how many there were.
    pub(crate) fn free_quarantined(&self, count: usize) -> usize {
        let mut waiting = lock(&self.quarantined);
        let count = count.min(waiting.len());
        waiting.drain(..count).for_each(|block| self.free_decommitted(block.position));
        count
    }

    /// Takes a block of `size_bytes`, of which `len` bytes will be used.
    #[inline]
    pub(crate) fn alloc(&self, mapping: &Mapping, size_bytes: u64, len: usize) -> Result<Held, AllocError> {
        let memory = self.space.alloc_memory(size_bytes)?;
        self.hold(mapping, memory, len)
    }

    /// As [`Zone::alloc`], where the request allows it.
    pub(crate) fn alloc_request(
        &self,
        mapping: &Mapping,
        request: &Request,
        len: usize,
    ) -> Result<Held, AllocError> {
        let memory = self.space.alloc_memory_request(request)?;
        self.hold(mapping, memory, len)
    }

    #[inline]
    fn hold(&self, mapping: &Mapping, memory: Memory, len: usize) -> Result<Held, AllocError> {
        let (position, slot) = (memory.span.first(), self.place.offsets(memory.span));
        let start = slot.start + self.shape.as_ref().map_or(0, |shape| shape.data.start);
        // A resident block was handed out before and its whole slot was prepared then, also for a holder that uses more
        // of it.
        if !memory.is_resident {
            self.prepare(mapping, memory.span)?;
        }
        // SAFETY:
        // - The block was just taken from the space, which hands out a place once until it is free again.
        // - It is committed, and the zone belongs to the mapping.
        let pages = unsafe { mapping.pages(start..start + len) };
        Ok(Held {
            pages,
            position,
            slot_bytes: slot.len() as u64,
            used_bytes: len,
            is_resident: memory.is_resident,
            slab: memory.slab,
        })
    }

    /// A free block for `size_bytes` that needs no call that could be refused: it is committed and has its guard.
    pub(crate) fn alloc_ready(&self, mapping: &Mapping, size_bytes: u64, len: usize) -> Option<Held> {
        let is_ready = |slot: Span| {
            let lacks =
                |shape: &Shape| shape.guards(slot.first()).any(|number| !self.guards.has(number as usize));
            !self.shape.as_ref().is_some_and(lacks)
                && mapping.committed.is_committed(&self.place.offsets(slot))
        };
        let ready = self.space.alloc_ready(size_bytes, is_ready);
        let memory = ready.or_else(|| self.alloc_committed(mapping, size_bytes))?;
        self.hold(mapping, memory, len).ok()
    }

    /// Takes a place of its own for a block, in a part of the mapping that dropped pools, vectors or other blocks left
    /// committed. Slots of a pool have none.
    fn alloc_committed(&self, mapping: &Mapping, size_bytes: u64) -> Option<Memory> {
        let range = self.shape.is_none().then_some(&self.place.range)?;
        mapping.committed.parts(range, true).take(COMMITTED_PARTS).find_map(|part| {
            let window = Span::from_size(mapping.address(part.start), part.len() as u64)?;
            self.space.alloc_memory_request(&Request::new(size_bytes).window(window)).ok()
        })
    }

    /// Takes a large block that was freed and may still have its pages.
    pub(crate) fn alloc_again(&self, mapping: &Mapping, name: SlabRef, len: usize) -> Option<Held> {
        self.hold(mapping, self.space.alloc_extent_again(name)?, len).ok()
    }

    /// Makes the whole slot of a block usable, and installs its guard. If that fails, the block is free again.
    #[cold]
    fn prepare(&self, mapping: &Mapping, slot: Span) -> Result<(), SysError> {
        self.make_usable(mapping, slot).inspect_err(|_| self.free_decommitted(slot.first()))
    }

    fn make_usable(&self, mapping: &Mapping, slot: Span) -> Result<(), SysError> {
        let all = self.place.offsets(slot);
        let Some(shape) = &self.shape else { return mapping.commit(&all, all.end) };
        // The addresses after the slot belong to the same pool.
        mapping.commit(&all, self.place.range.end.min(all.end + AMPLE_BYTES))?;
        for number in shape.guards(slot.first()).filter(|&number| !self.guards.has(number as usize)) {
            let guard = shape.guard_at(self.place.range.start, number);
            mapping.commit(&guard, guard.end)?;
            // SAFETY:
            // - A guard is nobody's pages. The two holders beside it may both make it, in the same way.
            // - It is committed.
            mapping.guard(&mut unsafe { mapping.pages(guard) })?;
            self.guards.set(number as usize);
        }
        Ok(())
    }

    /// All pages that the block's slot may have, including those not in use.
    pub(crate) fn all_pages(&self, mapping: &Mapping, held: &Held) -> Pages {
        let (start, len) = match self.shape {
            Some(_) => (mapping.offset_of(&held.pages), held.pages.len()),
            None => (self.place.offset(held.position), held.slot_bytes as usize),
        };
        // SAFETY:
        // - The slot's holder gives up its pages.
        // - Parts that are not committed are not touched, only decommitted.
        unsafe { mapping.pages(start..start + len) }
    }

    /// Frees a block that may have pages.
    #[inline]
    pub(crate) fn free_resident(&self, position: u64, slab: Option<SlabRef>) {
        let freed = match slab {
            Some(slab) => self.space.free_slot(position, slab),
            None => self.space.free(position),
        };
        freed.expect("V1: what is held is freed once");
    }

    /// Frees a block that has no pages (V2).
    pub(crate) fn free_decommitted(&self, position: u64) {
        self.space.free_decommitted(position).expect("V1: what is held is freed once");
    }

    /// Checks V4 and V5, which the space cannot check.
    pub(crate) fn validate(&self, mapping: &Mapping) -> Result<(), Broken> {
        self.space.validate()?;
        let (held, committed) =
            (self.stats().held_bytes, mapping.committed.committed_bytes(&self.place.range) as u64);
        check(held <= committed, "V5", "what is held is committed", committed)?;
        let guarded = self.guards.count();
        let made = guarded == 0 || mapping.guards().is_some();
        check(made, "V4", "guards that were installed are of a kind", guarded)
    }
}
