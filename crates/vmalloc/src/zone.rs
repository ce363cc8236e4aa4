//! A zone: a range of the mapping with a pooled space of its own, and what is held of it.
//!
//! ```text
//!   mapping   | small blocks         | large blocks         | a pool of slots  | a pool of stacks |   free   |
//!                                                           | committed |  .  |                    strict: up to a frontier
//!                                                                       ^ frontier
//! ```
//!
//! # Invariants
//! V1: pages are used by who holds their block, and by nobody else; a purge holds what it has claimed. V2: what is free and
//! cold is zero: it was never written to, or a call that succeeded gave its pages back while it was held. V5: what is held
//! is committed: all of its slot lies below the frontier of its zone.

use crate::block::Block;
use crate::error::AllocError;
use crate::mapping::{Mapping, Pages};
use crate::memory::Shared;
use freehold_kva::pooled::{Batch, SlabName};
use freehold_kva::{self as kva, LayoutError, PooledSpace, Request};
use freehold_sys::SysError;
use freehold_units::{Align, Broken, OutOfMemory, Span, check};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The least that is committed at a time, where not all is.
const LEAST_STEP: usize = 4 << 20;
/// The most.
const MOST_STEP: usize = 1 << 30;

/// A block that was taken and not handed out yet.
#[derive(Debug)]
pub(crate) struct Held {
    /// All of it, in use from the start.
    pub(crate) pages: Pages,
    /// Where it is in the zone's space.
    pub(crate) position: u64,
    /// Bytes of the slot or extent.
    pub(crate) slot_bytes: u64,
    /// Whether its pages may be other than zero.
    pub(crate) is_warm: bool,
    /// The slab that it is a slot of. `None` of an extent, whose addresses have to be given back before they are used again.
    pub(crate) slab: Option<SlabName>,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Zone {
    pub(crate) name: String,
    /// Its bytes in the mapping.
    range: Range<usize>,
    /// The position in `space` of its first byte.
    first: u64,
    pub(crate) space: PooledSpace,
    /// Bytes from its start that are committed. Grows under `growing`.
    frontier: AtomicUsize,
    growing: Mutex<()>,
    /// What its slots are like, if it is a pool.
    pub(crate) shape: Option<Shape>,
    /// Slots that were dropped and wait to be cleared. Each is counted as warm with all its pages.
    pub(crate) dropped: Mutex<Vec<Held>>,
    /// A bit for each slot whose guard is there.
    guarded: Box<[AtomicU64]>,
    /// Read-locked by threads that clear or decommit free blocks; write-locked to exclude all of them. `false` after the zone is
    /// closed.
    open: RwLock<bool>,
}

/// The slots of a pool.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Bytes from one slot to the next.
    pub(crate) stride: u64,
    /// Bytes of a slot in use, within the stride.
    pub(crate) data: Range<usize>,
    /// Bytes that fault, within the stride; none if there is no guard.
    pub(crate) guard: Range<usize>,
    /// Bytes that may have pages while a slot is free.
    pub(crate) kept: usize,
    /// Whether free slots are zero (V3).
    pub(crate) zeroed: bool,
}

impl Zone {
    /// A zone of that range. In its space the first byte is at `first`. `committed` if all of the mapping is.
    pub(crate) fn new(
        name: &str,
        range: Range<usize>,
        first: u64,
        granule: Align,
        committed: bool,
        shape: Option<Shape>,
    ) -> Result<Self, LayoutError> {
        let span = Span::from_size(first, range.len() as u64).ok_or(LayoutError::Empty)?;
        let frontier = AtomicUsize::new(if committed { range.len() } else { 0 });
        let space = PooledSpace::for_memory(span, granule)?;
        let guards = shape.as_ref().filter(|shape| !shape.guard.is_empty());
        let words = guards.map_or(0, |shape| (range.len() as u64 / shape.stride).div_ceil(64) as usize);
        let mut guarded = Vec::new();
        guarded.try_reserve_exact(words).map_err(OutOfMemory::from)?;
        guarded.resize_with(words, || AtomicU64::new(0));
        Ok(Self {
            name: name.to_owned(),
            range,
            first,
            space,
            frontier,
            growing: Mutex::new(()),
            shape,
            dropped: Mutex::new(Vec::new()),
            guarded: guarded.into_boxed_slice(),
            open: RwLock::new(true),
        })
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Keeps the range the zone's while free blocks are in hand. Says whether it is.
    pub(crate) fn hold_open(&self) -> RwLockReadGuard<'_, bool> {
        self.open.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody has free blocks in hand, and keeps it so.
    pub(crate) fn hold_alone(&self) -> RwLockWriteGuard<'_, bool> {
        self.open.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes from its start that are committed.
    pub(crate) fn committed(&self) -> usize {
        // Acquire: pairs with the Release of `commit`.
        self.frontier.load(Ordering::Acquire)
    }

    /// The bytes of the mapping at a position.
    #[inline]
    fn offset(&self, position: u64) -> usize {
        self.range.start + (position - self.first) as usize
    }

    /// The position of a byte of the mapping; `None` if it is not of the zone.
    pub(crate) fn position(&self, offset: usize) -> Option<u64> {
        self.range.contains(&offset).then(|| self.first + (offset - self.range.start) as u64)
    }

    /// What free blocks of `bytes` count as warm. Blocks are slots of their stride in a pool.
    pub(crate) fn warm_bytes(&self, bytes: u64) -> u64 {
        match &self.shape {
            Some(shape) => bytes / shape.stride * shape.kept as u64,
            None => bytes,
        }
    }

    /// The bytes of free blocks that count as `warm_bytes`, or a little more.
    fn block_bytes(&self, warm_bytes: u64) -> u64 {
        match &self.shape {
            Some(shape) => warm_bytes.div_ceil(shape.kept.max(1) as u64).saturating_mul(shape.stride),
            None => warm_bytes,
        }
    }

    /// Takes a block of which `len` bytes will be used, up to what is asked for.
    #[inline]
    pub(crate) fn alloc(&self, mapping: &Mapping, size_bytes: u64, len: usize) -> Result<Held, AllocError> {
        let memory = self.space.alloc_memory(size_bytes)?;
        self.hold(mapping, memory, len)
    }

    /// As [`Zone::alloc`], where the request says.
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
    fn hold(&self, mapping: &Mapping, memory: kva::pooled::Memory, len: usize) -> Result<Held, AllocError> {
        let (position, slot_bytes) = (memory.span.first(), memory.span.size_saturating());
        let start = self.offset(position) + self.shape.as_ref().map_or(0, |shape| shape.data.start);
        // What is warm was handed out before, and prepared then: all of it, for whoever uses more of it than its first holder.
        if !memory.is_warm {
            self.prepare(mapping, memory.span)?;
        }
        // SAFETY: the block was just taken from the space, which hands out a place once until it is free again, and it is
        // committed. The zone is of the mapping.
        let pages = unsafe { mapping.pages(start..start + len) };
        Ok(Held { pages, position, slot_bytes, is_warm: memory.is_warm, slab: memory.slab })
    }

    /// Makes a block usable, all of its slot, with its guard. If it cannot be, it is free again.
    #[cold]
    fn prepare(&self, mapping: &Mapping, slot: Span) -> Result<(), SysError> {
        self.make_usable(mapping, slot).inspect_err(|_| self.give_cold(slot.first()))
    }

    fn make_usable(&self, mapping: &Mapping, slot: Span) -> Result<(), SysError> {
        let position = slot.first();
        let start = self.offset(position);
        self.commit(mapping, start + slot.size_saturating() as usize - self.range.start)?;
        let Some(shape) = self.shape.as_ref().filter(|shape| !shape.guard.is_empty()) else {
            return Ok(());
        };
        let slot = (position - self.first) / shape.stride;
        let (word, bit) = (&self.guarded[(slot / 64) as usize], 1 << (slot % 64));
        // Relaxed: the slot's bit is changed by who holds the slot.
        if word.load(Ordering::Relaxed) & bit == 0 {
            // SAFETY: the guard is the slot's, which the caller has just taken, and is committed.
            let mut guard = unsafe { mapping.pages(start + shape.guard.start..start + shape.guard.end) };
            mapping.guard(&mut guard)?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Commits the first `end` bytes, and more where there is.
    fn commit(&self, mapping: &Mapping, end: usize) -> Result<(), SysError> {
        if end <= self.committed() {
            return Ok(());
        }
        let _growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.committed();
        if end <= now {
            return Ok(());
        }
        let step = (now / 4).clamp(LEAST_STEP, MOST_STEP);
        let ample = end.max(now + step).min(self.range.len());
        let at = |bytes: usize| self.range.start + bytes;
        // Where there is little left to be had, no more than is needed.
        let reached = match mapping.commit(at(now)..at(ample)) {
            Ok(()) => ample,
            Err(_) => mapping.commit(at(now)..at(end)).map(|()| end)?,
        };
        // Release: pairs with the Acquire of `committed`.
        self.frontier.store(reached, Ordering::Release);
        Ok(())
    }

    /// All pages that the block's slot may have, more than are in use.
    pub(crate) fn all_pages(&self, mapping: &Mapping, held: Held) -> Pages {
        if self.shape.is_some() {
            return held.pages;
        }
        let start = self.offset(held.position);
        // SAFETY: the slot is the holder's, who gives its pages up. What is not committed is not touched, only given back.
        unsafe { mapping.pages(start..start + held.slot_bytes as usize) }
    }

    /// Frees a block that may have pages.
    #[inline]
    pub(crate) fn give_warm(&self, position: u64, slab: Option<SlabName>) {
        let freed = match slab {
            Some(slab) => self.space.free_slot(position, slab),
            None => self.space.free(position),
        };
        freed.expect("V1: what is held is freed once");
    }

    /// Frees a block that has no pages (V2).
    pub(crate) fn give_cold(&self, position: u64) {
        self.space.free_cold(position).expect("V1: what is held is freed once");
    }

    /// Claims free blocks that count as `warm_bytes` or more, to give their pages back.
    pub(crate) fn claim(&self, warm_bytes: u64) -> Result<Claimed<'_>, OutOfMemory> {
        Ok(Claimed { zone: self, batch: self.space.take_warm(self.block_bytes(warm_bytes))? })
    }
}

impl Shared {
    /// A block that may hold anything, in the usual case: it is warm, and nothing else is to be done. `None` says nothing.
    ///
    /// Returns a pair that fits two registers; a larger result would be stored to and reloaded from the stack. This and the slab's name took a pair of `bench memory` from 2.4 of mimalloc's time to 1.3.
    #[inline]
    pub(crate) fn alloc_usual(&self, len: usize) -> Option<Block<'_>> {
        let (start, slab) = self.take_usual(len)?;
        // SAFETY: the slot was just taken from its space, which hands out a place once until it is free again. It has `len`
        // bytes or more, and is committed, as what is warm was handed out before.
        let pages = unsafe { Pages::new(start, len) };
        Some(Block::new(self, pages, Some(slab)))
    }

    #[inline(never)]
    fn take_usual(&self, len: usize) -> Option<(NonNull<u8>, SlabName)> {
        let (zone, size_bytes) = self.zone_for(len);
        if self.quarantine.is_some() {
            return None;
        }
        let (span, slab) = zone.space.alloc_warm(size_bytes)?;
        self.warm.sub(span.size_saturating());
        // SAFETY: the zone is of the mapping, and the slot of the zone.
        Some((unsafe { self.mapping.at(zone.offset(span.first())) }, slab))
    }
}

impl Zone {
    /// Checks what the space does not know: V4 and V5.
    pub(crate) fn validate(&self, mapping: &Mapping) -> Result<(), Broken> {
        let held_below = self.committed() as u64;
        let ends = self.space.stats().slabs == 0 || held_below > 0;
        check(ends, "V5", "what was handed out is committed", held_below)?;
        let guarded: u32 = self.guarded.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum();
        let made = guarded == 0 || mapping.guards().is_some();
        check(made, "V4", "guards that were installed are of a kind", guarded.into())
    }

    /// Gives back all pages and guards of a pool of which nothing is held or claimed.
    pub(crate) fn end(&self, mapping: &Mapping) -> Result<(), SysError> {
        let used = self.range.start..self.range.start + self.committed();
        // SAFETY: the range is committed that far, and nobody holds a part of it.
        let mut pages = unsafe { mapping.pages(used.clone()) };
        mapping.decommit(&mut pages, 0..used.len())?;
        // Its own, and those of what was freed in the debug mode.
        mapping.unguard(used)
    }
}

/// Blocks that a purge holds. Dropped, they are free and warm as before.
#[derive(Debug)]
pub(crate) struct Claimed<'a> {
    zone: &'a Zone,
    batch: Batch<'a>,
}

impl Claimed<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// What its blocks count as warm.
    pub(crate) fn warm_bytes(&self) -> u64 {
        self.zone.warm_bytes(u64::try_from(self.batch.bytes().0).unwrap_or(u64::MAX))
    }

    /// Gives the pages of all blocks back, neighbours at once. If a call fails, all are warm as before.
    pub(crate) fn decommit(self, mapping: &Mapping) -> Result<(), SysError> {
        let mut spans = self.batch.spans().peekable();
        while let Some(mut span) = spans.next() {
            while let Some(next) = spans.next_if(|next| span.touches(*next)) {
                span = span.hull(next);
            }
            let start = self.zone.offset(span.first());
            let len = span.size_saturating() as usize;
            // SAFETY: the batch holds the blocks until it is given back or dropped, and what is warm is committed.
            // Guards between them stay guards.
            let mut pages = unsafe { mapping.pages(start..start + len) };
            mapping.decommit(&mut pages, 0..len)?;
        }
        drop(spans);
        self.zone.space.give_back(self.batch);
        Ok(())
    }
}
