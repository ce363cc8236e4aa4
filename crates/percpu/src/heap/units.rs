//! The pointer layer: the addresses of units, and the zeroing of their memory.

#![allow(unsafe_code, reason = "objects are found by address")]

use crate::{BIT_BYTES, Backing, ChunkId, OutOfMemory, PAGE_BYTES};
use freehold_sys::{Reservation, page_bytes};
use std::ops::Range;
use std::ptr::NonNull;
use std::vec::Vec;

/// Bytes of a chunk in each unit.
pub(super) const UNIT_BYTES: u32 = 256 << 10;

/// Units in addition to those of CPUs: the overflow unit and that of batches.
pub(super) const EXTRA_UNITS: u32 = 2;

/// The units of a heap: `cpus` and [`EXTRA_UNITS`] more, `stride_bytes` apart. The set under the heap's lock owns the
/// reservation that they lie in ([`UnitMemory`]), so both live as long as the heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// The first byte of the reservation.
    base: NonNull<u8>,
    stride_bytes: usize,
    cpus: u32,
}

// SAFETY: an address and two numbers, which do not change. Each access to what lies there has a reason of its own.
unsafe impl Send for Units {}
// SAFETY: as above.
unsafe impl Sync for Units {}

impl Units {
    /// The distance between units: the capacity plus a page that never gets memory. So a place has another cache colour
    /// in each unit, and an access past the end faults.
    fn stride_of(capacity_bytes: u64) -> usize {
        capacity_bytes as usize + page_bytes().max(PAGE_BYTES as usize)
    }

    /// Bytes of addresses that units of that capacity take. Saturates at the maximum.
    pub(super) fn reserved_bytes(capacity_bytes: u64, cpus: u32) -> usize {
        let page = page_bytes().max(PAGE_BYTES as usize);
        let all = Self::stride_of(capacity_bytes).checked_mul((cpus + EXTRA_UNITS) as usize);
        all.unwrap_or(usize::MAX & !(page - 1))
    }

    /// The units in reserved addresses, with that capacity each.
    pub(super) fn new(memory: &Reservation, capacity_bytes: u64, cpus: u32) -> Self {
        debug_assert!(memory.len_bytes() >= Self::reserved_bytes(capacity_bytes, cpus));
        Self { base: memory.base(), stride_bytes: Self::stride_of(capacity_bytes), cpus }
    }

    pub(super) fn cpus(&self) -> u32 {
        self.cpus
    }

    pub(super) fn stride_bytes(&self) -> usize {
        self.stride_bytes
    }

    pub(super) fn capacity_bytes(&self) -> u64 {
        (self.stride_bytes - Self::stride_of(0)) as u64
    }

    pub(super) fn count(&self) -> u32 {
        self.cpus + EXTRA_UNITS
    }

    /// The address of a place in a unit.
    #[inline]
    pub(super) fn at(&self, unit: u32, place: u32) -> NonNull<u8> {
        debug_assert!(unit < self.count() && (place as usize) < self.stride_bytes);
        // SAFETY:
        // - `place` is below the capacity, which is below the stride.
        // - `unit` is below the number of units, and the reservation has a stride for each.
        // - The reservation lives as long as the heap.
        unsafe { self.base.add(unit as usize * self.stride_bytes + place as usize) }
    }

    /// A range of a unit, in bytes of the reservation.
    pub(super) fn range(&self, unit: u32, bytes: Range<usize>) -> Range<usize> {
        let start = unit as usize * self.stride_bytes;
        start + bytes.start..start + bytes.end
    }

    /// Zeroes unused objects of `size_bytes` in a unit. Words that are already zero are only read, so pages that were
    /// never written stay without memory.
    pub(super) fn clear(&self, unit: u32, places: &[u32], size_bytes: usize) {
        for &place in places {
            let first = self.at(unit, place).cast::<u32>();
            for word in 0..size_bytes.div_ceil(BIT_BYTES as usize) {
                // SAFETY:
                // - The object takes a multiple of 4 bytes, and its chunk is committed.
                // - Its bytes are initialized (`Zeroed`, `PerCpuHeap::free_at`).
                // - No other thread uses it.
                unsafe {
                    let word = first.add(word);
                    if word.read() != 0 {
                        word.write(0);
                    }
                }
            }
        }
    }
}

/// The memory of chunks: the [`Backing`] of the heap's set.
///
/// A chunk is committed in every unit when it is made, and stays committed. Pages that were never written are zero.
/// Pages that are depopulated hold no object, so they are zero, too (P11), whether the system takes them or not.
#[derive(Debug)]
pub(super) struct UnitMemory {
    memory: Reservation,
    units: Units,
    /// The most chunks that fit the addresses.
    chunks: u32,
    /// The generation of the latest chunk at each position.
    generations: Vec<u32>,
}

impl UnitMemory {
    pub(super) fn new(memory: Reservation, units: Units, capacity_bytes: u64) -> Self {
        let chunks = (capacity_bytes / u64::from(UNIT_BYTES)) as u32;
        Self { memory, units, chunks, generations: Vec::new() }
    }

    /// The addresses of all units.
    pub(super) fn reservation(&self) -> &Reservation {
        &self.memory
    }

    /// The chunk at a position.
    pub(super) fn chunk_at(&self, index: u32) -> ChunkId {
        ChunkId::from_parts(index, self.generations[index as usize])
    }

    /// [`Self::chunk_at`]; `None` if no chunk was ever there.
    pub(super) fn find_chunk(&self, index: u32) -> Option<ChunkId> {
        let generation = self.generations.get(index as usize)?;
        Some(ChunkId::from_parts(index, *generation))
    }

    /// A range of a chunk's pages in a unit, in bytes of the reservation.
    fn pages(&self, unit: u32, chunk: ChunkId, pages: Range<u32>) -> Range<usize> {
        let start = chunk.index() as usize * UNIT_BYTES as usize;
        let page = |page: u32| start + page as usize * PAGE_BYTES as usize;
        self.units.range(unit, page(pages.start)..page(pages.end))
    }
}

impl Backing for UnitMemory {
    fn most_chunks(&self) -> u32 {
        self.chunks
    }

    fn create(&mut self, chunk: ChunkId) -> Result<(), OutOfMemory> {
        let index = chunk.index() as usize;
        if index >= self.generations.len() {
            self.generations.try_reserve(index + 1 - self.generations.len())?;
            self.generations.resize(index + 1, 0);
        }
        for unit in 0..self.units.count() {
            // After an error, units that were already committed stay so, which is harmless.
            let pages = self.pages(unit, chunk, 0..UNIT_BYTES / PAGE_BYTES);
            self.memory.commit(pages).map_err(|_| OutOfMemory)?;
        }
        self.generations[index] = chunk.generation();
        Ok(())
    }

    fn depopulate(&mut self, chunk: ChunkId, pages: Range<u32>) {
        // On a system with larger pages, pages are not returned.
        if page_bytes() != PAGE_BYTES as usize {
            return;
        }
        for unit in 0..self.units.count() {
            // SAFETY:
            // - The chunk is committed.
            // - No object is in the pages. If the call fails, they stay zero.
            let _ = unsafe { self.memory.decommit(self.pages(unit, chunk, pages.clone())) };
        }
    }
}
