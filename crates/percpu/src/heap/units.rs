//! The pointer layer: where each unit is, and who makes its memory zero.

#![allow(unsafe_code, reason = "objects are found by address")]

use crate::{BIT_BYTES, Backing, ChunkId, OutOfMemory, PAGE_BYTES};
use freehold_sys::{Reservation, page_bytes};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::vec::Vec;

/// Bytes of a chunk for each CPU.
pub(super) const UNIT_BYTES: u32 = 256 << 10;

/// Units beside those of CPUs: strays, batches.
pub(super) const EXTRA_UNITS: u32 = 2;

/// The units of a heap: `cpus` and [`EXTRA_UNITS`] more, `stride_bytes` apart.
#[derive(Clone, Debug)]
pub(super) struct Units {
    memory: Arc<Reservation>,
    stride_bytes: usize,
    cpus: u32,
}

impl Units {
    /// From a unit to the next: the capacity and a page, which never gets memory. So the same place has another colour in
    /// each unit, and a step too far faults.
    fn stride_of(capacity_bytes: u64) -> usize {
        capacity_bytes as usize + page_bytes().max(PAGE_BYTES as usize)
    }

    /// Bytes of addresses that units of that capacity take. Saturates where there are not so many.
    pub(super) fn reserved_bytes(capacity_bytes: u64, cpus: u32) -> usize {
        let page = page_bytes().max(PAGE_BYTES as usize);
        let all = Self::stride_of(capacity_bytes).checked_mul((cpus + EXTRA_UNITS) as usize);
        all.unwrap_or(usize::MAX & !(page - 1))
    }

    /// The units in addresses of that many bytes.
    pub(super) fn new(memory: Arc<Reservation>, capacity_bytes: u64, cpus: u32) -> Self {
        debug_assert!(memory.len_bytes() >= Self::reserved_bytes(capacity_bytes, cpus));
        Self { memory, stride_bytes: Self::stride_of(capacity_bytes), cpus }
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

    /// Where a place is in a unit.
    #[inline]
    pub(super) fn at(&self, unit: u32, place: u32) -> NonNull<u8> {
        debug_assert!(unit < self.count() && (place as usize) < self.stride_bytes);
        // SAFETY: places are below the capacity, which is below the stride, and there are so many units of that stride.
        unsafe { self.memory.base().add(unit as usize * self.stride_bytes + place as usize) }
    }

    /// A range of a unit, in bytes of the reservation.
    pub(super) fn range(&self, unit: u32, bytes: Range<usize>) -> Range<usize> {
        let start = unit as usize * self.stride_bytes;
        start + bytes.start..start + bytes.end
    }

    pub(super) fn memory(&self) -> &Reservation {
        &self.memory
    }

    /// Makes objects of `size_bytes` zero in a unit. Nobody uses them. What is zero already is only read, so that pages that
    /// were never written to stay without memory.
    pub(super) fn clear(&self, unit: u32, places: &[u32], size_bytes: usize) {
        for &place in places {
            let first = self.at(unit, place).cast::<u32>();
            for word in 0..size_bytes.div_ceil(BIT_BYTES as usize) {
                // SAFETY: an object takes whole multiples of 4 bytes, its chunk is committed, and nobody else uses it.
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

/// The memory of chunks, as the set asks for it.
///
/// A chunk is committed in every unit when it is made, and stays so. Its pages are zero where nothing was ever written; pages
/// that are given back hold no object, so they are zero too (P11), whether the system takes them or not.
#[derive(Debug)]
pub(super) struct UnitMemory {
    units: Units,
    /// Chunks that there are addresses for.
    chunks: u32,
    /// By position, how many chunks had it before the one that has it now.
    generations: Vec<u32>,
}

impl UnitMemory {
    pub(super) fn new(units: Units, capacity_bytes: u64) -> Self {
        Self { units, chunks: (capacity_bytes / u64::from(UNIT_BYTES)) as u32, generations: Vec::new() }
    }

    /// The chunk that has a position.
    pub(super) fn chunk_at(&self, index: u32) -> ChunkId {
        ChunkId::from_parts(index, self.generations[index as usize])
    }

    /// Some pages of a chunk in a unit, in bytes of the reservation.
    fn pages(&self, unit: u32, chunk: ChunkId, pages: Range<u32>) -> Range<usize> {
        let start = chunk.index() as usize * UNIT_BYTES as usize;
        let page = |page: u32| start + page as usize * PAGE_BYTES as usize;
        self.units.range(unit, page(pages.start)..page(pages.end))
    }
}

impl Backing for UnitMemory {
    fn create(&mut self, chunk: ChunkId) -> Result<(), OutOfMemory> {
        if chunk.index() >= self.chunks {
            return Err(OutOfMemory);
        }
        let index = chunk.index() as usize;
        if index >= self.generations.len() {
            self.generations.try_reserve(index + 1 - self.generations.len())?;
            self.generations.resize(index + 1, 0);
        }
        for unit in 0..self.units.count() {
            // What was committed before a refusal stays so, and does no harm.
            let pages = self.pages(unit, chunk, 0..UNIT_BYTES / PAGE_BYTES);
            self.units.memory().commit(pages).map_err(|_| OutOfMemory)?;
        }
        self.generations[index] = chunk.generation();
        Ok(())
    }

    fn depopulate(&mut self, chunk: ChunkId, pages: Range<u32>) {
        // A system with larger pages keeps them.
        if page_bytes() != PAGE_BYTES as usize {
            return;
        }
        for unit in 0..self.units.count() {
            // SAFETY: the chunk is committed, and no object is in its pages. A refusal leaves them as they are, zero.
            let _ = unsafe { self.units.memory().decommit(self.pages(unit, chunk, pages.clone())) };
        }
    }
}
