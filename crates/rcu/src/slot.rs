//! Slots: the places where readers publish their stamps.
//!
//! ```text
//!   domain    32 slots inline | 32 slots | 64 slots | 128 ...      chunks are added, never moved or removed
//!   slot      state   epoch of the outermost guard 48 | ended 1 | fences 1 | guards 14      on 128 bytes of its own
//!             owner   none, a thread, a value
//!             tid     the system's number of the thread that took it, for messages
//! ```
//!
//! In fence mode an idle slot holds `FENCES`, not 0, so the fast path tests one condition.
//!
//! # Invariants
//! - R1: a slot has one owner, and only it enters and leaves.
//! - R2: a state with neither guards nor fences is 0, and a state with fences alone has no epoch.
//! - R7: the guard count spills at 16,383: `spilled` is nonzero only while the state's count is full.

#[cfg(all(test, loom))]
mod loom_tests;

use crate::atomic::{AtomicU64, Ordering};
use crate::barrier::light;
use crate::error::OutOfMemory;
use freehold_sys::fork::is_lost;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

/// Slots inline. The first chunk behind them has as many, and each further chunk twice as many as the one before.
pub(crate) const INLINE: usize = if cfg!(any(all(test, loom), shuttle)) { 2 } else { 32 };
/// Chunks behind the inline slots: enough for every thread that a kernel can have (2^22).
const CHUNKS: usize = if cfg!(any(all(test, loom), shuttle)) { 4 } else { 18 };

/// One guard in a slot's state, which has 14 bits to count them.
const GUARD: u64 = 1;
const GUARDS: u64 = FENCES - 1;
/// The step of the epoch. At a million grace periods a second the epochs last for eight years.
pub(crate) const EPOCH: u64 = 1 << 16;
/// The first epoch. An epoch has the form of a slot's state with one guard.
pub(crate) const FIRST_EPOCH: u64 = EPOCH + GUARD;

/// Set in the state of a slot whose thread has ended: the last guard frees the slot.
const ENDED: u64 = EPOCH / 2;
/// Set in all states of a slot whose guards need a fence, and in the epoch once barriers are refused.
pub(crate) const FENCES: u64 = ENDED / 2;

/// Owners of a slot other than a [thread](freehold_sys::thread_slot::id): nobody, or a value that may move between
/// threads. No thread has these numbers, and neither is ever lost.
pub(crate) const NOBODY: u64 = u64::MAX;
pub(crate) const A_VALUE: u64 = u64::MAX - 1;

/// A reader's place, on cache lines of its own: only the owner writes this line; only a writer's scan reads it.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Slot {
    /// The epoch in which the outermost guard began, how many guards there are, and flags (R2). Written by the owner;
    /// read by writers.
    state: AtomicU64,
    /// Guards beyond those that the state has bits for. Used by the owner alone.
    spilled: AtomicU64,
    /// Set under the domain's lock when the slot is taken; cleared by the owner.
    owner: AtomicU64,
    /// The system's number of the thread that took it, or 0. For messages only.
    tid: AtomicU32,
}

impl Slot {
    const_but_under_loom! {
    fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            spilled: AtomicU64::new(0),
            owner: AtomicU64::new(NOBODY),
            tid: AtomicU32::new(0),
        }
    }
    }

    /// Enters as the outermost guard of a slot without fences. `false` if that is not the case: nothing has changed
    /// then.
    #[inline]
    pub(crate) fn enter_first(&self, epoch: &AtomicU64) -> bool {
        // Relaxed: only the owner writes this word.
        if self.state.load(Ordering::Relaxed) != 0 {
            return false;
        }
        self.publish(epoch, 0);
        light(false);
        true
    }

    /// Enters the slot: outermost or nested.
    #[cold]
    pub(crate) fn enter(&self, epoch: &AtomicU64) {
        let state = self.state.load(Ordering::Relaxed);
        if state & GUARDS == 0 {
            self.publish(epoch, state);
            light(state == FENCES);
        } else {
            self.enter_again();
        }
    }

    /// Adds a guard to one that is held.
    pub(crate) fn enter_again(&self) {
        let state = self.state.load(Ordering::Relaxed);
        if state & GUARDS == GUARDS {
            // Relaxed: only the owner uses it.
            self.spilled.store(self.spilled.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            self.state.store(state + GUARD, Ordering::Release);
        }
    }

    /// Enters a slot that is freed when this guard's last copy leaves: the thread can no longer remember the slot.
    #[cold]
    #[cfg(not(all(test, loom)))]
    pub(crate) fn enter_once(&self, epoch: &AtomicU64) {
        self.publish(epoch, self.state.load(Ordering::Relaxed) | ENDED);
        light(true);
    }

    #[inline]
    fn publish(&self, epoch: &AtomicU64, flags: u64) {
        // Acquire: pairs with `Domain::advance`. A reader that loads an epoch sees what was unlinked before that epoch
        // began.
        let state = epoch.load(Ordering::Acquire) | flags;
        // R5. Release: pairs with the Acquire of `Slot::stamp`. A writer that reads this stamp instead of the 0 before
        // it must still see the loads of the previous guard as done.
        self.state.store(state, Ordering::Release);
    }

    /// Drops one guard. The last clears the stamp.
    #[inline]
    pub(crate) fn leave(&self) {
        let state = self.state.load(Ordering::Relaxed);
        if state % EPOCH == GUARD {
            // Release: pairs with the Acquire of `Slot::stamp`; the guard's loads are done.
            self.state.store(0, Ordering::Release);
        } else {
            self.leave_other(state);
        }
    }

    #[cold]
    fn leave_other(&self, state: u64) {
        match (state & GUARDS, self.spilled.load(Ordering::Relaxed)) {
            (GUARDS, spilled @ 1..) => self.spilled.store(spilled - 1, Ordering::Relaxed),
            (GUARD, _) if state & ENDED != 0 => self.leave_thread(),
            (GUARD, _) => self.state.store(FENCES, Ordering::Release),
            _ => self.state.store(state - GUARD, Ordering::Release),
        }
    }

    /// Ends the owner. Guards that it still holds keep the slot until the last of them leaves.
    #[cold]
    pub(crate) fn end(&self) {
        match self.state.load(Ordering::Relaxed) {
            0 | FENCES => self.leave_thread(),
            state => self.state.store(state | ENDED, Ordering::Release),
        }
    }

    /// Frees the slot once its owner and its last guard have ended.
    fn leave_thread(&self) {
        #[cfg(not(all(test, loom)))]
        crate::thread::forget(self);
        self.give_back();
    }

    /// Frees the slot, with all guards on it.
    #[cold]
    pub(crate) fn give_back(&self) {
        self.state.store(0, Ordering::Release);
        // Release: pairs with the Acquire of `Slot::is_taken`, so that the next owner finds no guard.
        self.owner.store(NOBODY, Ordering::Release);
    }

    /// The epoch in which the reader on this slot began, or 0.
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp_and_flag().0
    }

    /// The number of that epoch, as in the statistics.
    pub(crate) fn since(&self) -> u64 {
        self.stamp() / EPOCH
    }

    /// The [stamp](Self::stamp), and whether all guards from the next on have fences.
    pub(crate) fn stamp_and_flag(&self) -> (u64, bool) {
        // Acquire: pairs with all stores of the state, so the loads of earlier guards are done by now.
        let state = self.state.load(Ordering::Acquire);
        let stamp = state & !(EPOCH - 1);
        (if stamp != 0 && is_lost(self.owner()) { 0 } else { stamp }, state & FENCES != 0)
    }

    /// Gives a free slot to `owner`. Called under the domain's lock, by the thread that takes the slot.
    pub(crate) fn give_to(&self, owner: u64, fences: bool) {
        // The guards of a lost thread end here.
        self.spilled.store(0, Ordering::Relaxed);
        // R5. Release: a writer may read this store, too, instead of the last owner's.
        self.state.store(if fences { FENCES } else { 0 }, Ordering::Release);
        // Relaxed, all: only the owner and its guards read them, except for messages.
        self.owner.store(owner, Ordering::Relaxed);
        self.tid.store(freehold_sys::thread_slot::tid().unwrap_or(0), Ordering::Relaxed);
    }

    /// The system's number of the thread that took the slot, if the system has such numbers.
    pub(crate) fn tid(&self) -> Option<u32> {
        Some(self.tid.load(Ordering::Relaxed)).filter(|&tid| tid != 0)
    }

    /// Whether `owner` is the owner. For a thread that asks for itself.
    #[cfg(not(all(test, loom)))]
    #[inline]
    pub(crate) fn is_owned_by(&self, owner: u64) -> bool {
        // Relaxed: only the thread itself stores its own number.
        self.owner.load(Ordering::Relaxed) == owner
    }

    /// Whether no guard is on the slot, or only guards of a lost thread.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), 0 | FENCES) || is_lost(self.owner())
    }

    /// Makes further guards fence. Called by the owner, which knows its own guards.
    #[cfg(not(all(test, loom)))]
    pub(crate) fn fence(&self) {
        self.state.store(self.state.load(Ordering::Relaxed) | FENCES, Ordering::Release);
    }

    /// Whether a thread or a value owns the slot.
    pub(crate) fn is_taken(&self) -> bool {
        let owner = self.owner();
        owner != NOBODY && !is_lost(owner)
    }

    pub(crate) fn owner(&self) -> u64 {
        self.owner.load(Ordering::Acquire)
    }
}

/// The slots of a domain.
#[derive(Debug)]
pub(crate) struct Slots {
    slots: [Slot; INLINE],
    /// Chunks in vectors, because their allocation can fail without ending the program.
    more: [OnceLock<Vec<Slot>>; CHUNKS],
}

impl Slots {
    #[cfg(not(all(test, loom)))]
    pub(crate) const fn new() -> Self {
        Self { slots: [const { Slot::new() }; INLINE], more: [const { OnceLock::new() }; CHUNKS] }
    }

    #[cfg(all(test, loom))]
    pub(crate) fn new() -> Self {
        Self { slots: std::array::from_fn(|_| Slot::new()), more: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// The slot at `index`, whose chunk may not exist yet.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Slot> {
        if let Some(slot) = self.slots.get(index) {
            return Some(slot);
        }
        let (chunk, position) = place(index);
        self.more.get(chunk)?.get()?.get(position)
    }

    /// The slot at `index`, in a chunk that is made if it does not exist.
    pub(crate) fn get_or_grow(&self, index: usize) -> Result<&Slot, OutOfMemory> {
        if index >= INLINE {
            let (number, _) = place(index);
            let chunk = self.more.get(number).ok_or(OutOfMemory)?;
            if chunk.get().is_none() {
                let len = INLINE << number;
                let mut slots = Vec::new();
                slots.try_reserve_exact(len).map_err(|_| OutOfMemory)?;
                slots.resize_with(len, Slot::new);
                chunk.get_or_init(|| slots);
            }
        }
        self.get(index).ok_or(OutOfMemory)
    }

    /// A free slot and its index. Called under the domain's lock, so that no two owners take the same slot.
    pub(crate) fn find_free(&self) -> Result<(usize, &Slot), OutOfMemory> {
        let mut index = 0;
        loop {
            let slot = self.get_or_grow(index)?;
            if !slot.is_taken() {
                let is_idle = slot.state.load(Ordering::Relaxed) == 0;
                debug_assert!(is_idle || is_lost(slot.owner()), "R2: a free slot has no guard");
                return Ok((index, slot));
            }
            index += 1;
        }
    }

    /// All slots, including free ones.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        let more = self.more.iter().filter_map(|chunk| chunk.get());
        self.slots.iter().chain(more.flatten())
    }

    /// Whether a slot is one of these.
    pub(crate) fn has(&self, slot: &Slot) -> bool {
        let more = self.more.iter().filter_map(|chunk| chunk.get()).map(Vec::as_slice);
        let mut chunks = std::iter::once(self.slots.as_slice()).chain(more);
        chunks.any(|slots| slots.as_ptr_range().contains(&ptr::from_ref(slot)))
    }

    /// All slots with their indexes.
    #[cfg(not(all(test, loom)))]
    pub(crate) fn indexed(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let more =
            self.more.iter().enumerate().filter_map(|(chunk, slots)| Some((INLINE << chunk, slots.get()?)));
        self.slots.iter().enumerate().chain(more.flat_map(|(first, slots)| (first..).zip(slots)))
    }
}

/// The chunk of an index behind the inline slots, and the position in it.
#[inline]
fn place(index: usize) -> (usize, usize) {
    let chunk = (index / INLINE).ilog2() as usize;
    (chunk, index - (INLINE << chunk))
}
