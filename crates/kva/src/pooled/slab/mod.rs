//! The record of a slab or an extent, and all transitions of its word.
//!
//! ```text
//!             base                                                        base + as many slots as the class has
//!   address   |  slot 0  |  slot 1  |  slot 2  |  ...  |  slot 31  |
//!   free         0          1          1                  0              held, free, free, held
//!   resident     1          0          1                  1              free and resident: pages may be resident
//!   populated    0          0          1                  1              all pages are resident, as a holder found
//! ```
//!
//! An extent is a slab of one slot.
//!
//! # Invariants
//! - S2: a set free bit means that nobody holds the slot. A purge holds slots by clearing their bits; it stores them in
//!   `claimed` first.
//! - S3: a free slot that is not resident has no resident pages. Only the holder of a slot changes its resident and
//!   populated bits, and a populated slot is resident.
//! - S4: one exchange retires a slab. No operation acts on that generation afterwards.
//!
//! A slab's base and slot size are written before its word and read after it. A successful exchange of the word proves
//! that they belonged to the same slab: words of a new generation differ.

mod layout;
#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, shuttle))]
pub(super) mod mutant;
mod owner;
mod purge;

pub(super) use layout::Layout;

use super::class::Class;
use super::word::{LAST_GENERATION, Word};
use crate::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use freehold_units::Span;
use layout::{Divider, EXTENT, class_word, span_of, start_of};

/// A slab, an extent, or an unused record. Each record has a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Slab {
    /// A [`Word`].
    word: AtomicU64,
    /// Slots that a purge holds. Valid while the word is purging.
    claimed: AtomicU32,
    /// Slots whose pages may be resident. Only a slot's holder changes its bit.
    resident: AtomicU32,
    /// Slots whose pages were all found to be resident, and not decommitted since. Only a slot's holder changes its bit.
    populated: AtomicU32,
    /// The lowest address. This field and the next three are written only while the record has no slab.
    base: AtomicU64,
    /// Bytes of a slot.
    slot_bytes: AtomicU64,
    /// A [`Divider`].
    divider: AtomicU64,
    /// A [`class_word`], or [`EXTENT`].
    class: AtomicU32,
    /// The number of the next record in a list plus 1, or 0. Written by the thread that pushes the slab.
    pub(super) next: AtomicU32,
    /// Who has named the record in a validation: a [`Mark`](super::validate::Mark). Only a validation uses it, under the core's lock.
    pub(super) mark: AtomicU32,
}

/// The outcome of an attempt to free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freed {
    /// The slot is free. If `owned`, the caller now owns the slab and must put it into a list or retire it.
    Done { span: Span, owned: bool, is_extent: bool },
    /// The address is not the start of the held slot that contains it or ends below it.
    Interior { region: Span },
    /// The slot was free.
    AlreadyFree { block: Span },
    /// The slab has another generation.
    Retired,
}

impl Slab {
    /// A record that was never used.
    pub(super) fn unused() -> Self {
        Self {
            word: AtomicU64::new(Word::retired(0).0),
            claimed: AtomicU32::new(0),
            resident: AtomicU32::new(0),
            populated: AtomicU32::new(0),
            base: AtomicU64::new(0),
            slot_bytes: AtomicU64::new(0),
            divider: AtomicU64::new(0),
            class: AtomicU32::new(0),
            next: AtomicU32::new(0),
            mark: AtomicU32::new(0),
        }
    }

    /// Acquire: pairs with the Release of the word's last writer, above all with `publish`.
    #[inline]
    pub(super) fn word(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    #[inline]
    pub(super) fn resident(&self) -> u32 {
        self.resident.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn populated(&self) -> u32 {
        self.populated.load(Ordering::Relaxed)
    }

    /// Acquire: pairs with the Release in `claim_resident`. A thread that reads the slots of one purge also sees that
    /// the previous purge has ended.
    #[inline]
    pub(super) fn claimed(&self) -> u32 {
        self.claimed.load(Ordering::Acquire)
    }

    /// AcqRel, the retiring exchange too: earlier reads of the record happen before the record is rewritten.
    #[inline]
    fn exchange(&self, seen: Word, new: Word) -> Result<(), Word> {
        let done = self.word.compare_exchange(seen.0, new.0, Ordering::AcqRel, Ordering::Acquire);
        done.map(drop).map_err(Word)
    }

    /// The lowest address of the slab. Stable while the caller holds one of its slots.
    #[inline]
    pub(super) fn base(&self) -> u64 {
        self.base.load(Ordering::Relaxed)
    }

    /// The record's layout. The caller has seen the word of a live slab before.
    #[inline]
    pub(super) fn layout(&self) -> Layout {
        let class = self.class.load(Ordering::Relaxed);
        Layout {
            base: self.base.load(Ordering::Relaxed),
            slot_bytes: self.slot_bytes.load(Ordering::Relaxed),
            class: (class != EXTENT).then(|| Class::at(class as usize & 0xff)),
        }
    }

    /// The slot that contains `address`; for an extent also an address after it. Meaningless if the slab has been
    /// retired: only the record's word shows that it is being rewritten.
    #[inline]
    fn slot_at(&self, base: u64, address: u64) -> u32 {
        Divider(self.divider.load(Ordering::Relaxed)).slot(address.wrapping_sub(base))
    }

    /// Writes the layout of a slab or an extent into a record that has none. No other thread writes to it.
    pub(super) fn prepare(&self, layout: Layout) {
        debug_assert!(!self.word().is_live(), "S4: the record has a slab");
        // Pairs with the fence in `word_behind`: a thread that reads one of the stores below then sees that the last
        // slab is gone.
        fence(Ordering::Release);
        self.base.store(layout.base, Ordering::Relaxed);
        self.slot_bytes.store(layout.slot_bytes, Ordering::Relaxed);
        self.divider.store(Divider::new(&layout).0, Ordering::Relaxed);
        self.class.store(layout.class.map_or(EXTENT, class_word), Ordering::Relaxed);
    }

    /// The generation that `publish` will set.
    pub(super) fn next_generation(&self) -> u32 {
        self.word().generation() + 1
    }

    /// Publishes a prepared record. The caller then holds the first slot and owns the slab.
    pub(super) fn publish(&self, tracks_residency: bool) {
        self.resident.store(u32::from(tracks_residency), Ordering::Relaxed);
        self.populated.store(0, Ordering::Relaxed);
        let word = Word::live(self.next_generation(), self.layout().all() & !1);
        // Release: a thread that sees the word sees all earlier writes, including cells of the page map.
        self.word.store(word.0, Ordering::Release);
    }

    /// Whether the record can be reused for another slab.
    pub(super) fn is_reusable(&self) -> bool {
        self.word().generation() < LAST_GENERATION - 1
    }

    /// Fast path of [`Slab::claim`]: one compare-exchange, no retry. `None` means: take the slow path. Small enough to
    /// inline.
    #[inline]
    pub(super) fn try_claim(&self, generation: u32, tracks_residency: bool) -> Option<(Span, bool)> {
        let word = self.word();
        let free = word.free();
        let resident = if tracks_residency { free & self.resident() } else { free };
        if !word.is_fast(generation) || resident == 0 {
            return None;
        }
        let slot = resident.trailing_zeros();
        // Loaded before the exchange: a processor starts no later load until an atomic exchange is done.
        let (base, slot_bytes) = (self.base(), self.slot_bytes.load(Ordering::Relaxed));
        self.exchange(word, word.with_free(free & !(1 << slot))).ok()?;
        let span = span_of(start_of(base, slot_bytes, slot), slot_bytes);
        Some((span, self.keep_resident(tracks_residency, 1 << slot)))
    }

    /// Marks a slot that the caller holds as resident. Returns whether it already was: a purge that began and ended
    /// before the exchange may have cleared the bit.
    #[inline]
    fn keep_resident(&self, tracks_residency: bool, bit: u32) -> bool {
        let was_resident = self.resident() & bit != 0;
        if tracks_residency && !was_resident {
            // Relaxed: the exchange that frees the slot orders it.
            self.resident.fetch_or(bit, Ordering::Relaxed);
        }
        was_resident
    }

    /// Fast path of [`Slab::free`]: one compare-exchange, no retry. `None` means: take the slow path.
    #[inline]
    pub(super) fn try_free(&self, generation: u32, address: u64, list_at: u32) -> Option<Span> {
        let word = self.word();
        if !word.is_fast(generation) {
            return None;
        }
        let (base, slot_bytes) = (self.base(), self.slot_bytes.load(Ordering::Relaxed));
        let slot = self.slot_at(base, address);
        let (bit, first) = (1 << slot, start_of(base, slot_bytes, slot));
        let free = word.free() | bit;
        let class = self.class.load(Ordering::Relaxed);
        // After the last slot of a slab with fewer than 32, offsets still map to slot numbers. An extent, whose free
        // makes the caller its owner, takes the slow path: it has no slots here.
        if free == word.free() || first != address || slot >= class >> 24 {
            return None;
        }
        if !word.is_owned() && free.count_ones() >= list_at.min(class >> 16 & 0xff) {
            return None;
        }
        self.exchange(word, word.with_free(free)).ok()?;
        Some(span_of(address, slot_bytes))
    }

    /// Takes the lowest free slot of a slab, preferring resident slots. `None` if no slot is free or the slab is gone.
    /// Also returns whether the slot was resident, and adds repeated exchanges to `retries`.
    #[inline]
    pub(super) fn claim(
        &self,
        generation: u32,
        tracks_residency: bool,
        retries: &mut u32,
    ) -> Option<(Span, bool)> {
        let mut word = self.word();
        loop {
            let free = word.free();
            if word.generation() != generation || free == 0 {
                return None;
            }
            let resident = if tracks_residency { free & self.resident() } else { 0 };
            let slot = if resident != 0 { resident } else { free }.trailing_zeros();
            let bit = 1 << slot;
            match self.exchange(word, word.with_free(free & !bit)) {
                // A held slot keeps the slab alive.
                Ok(()) => return Some((self.layout().slot(slot), self.keep_resident(tracks_residency, bit))),
                Err(now) => (word, *retries) = (now, *retries + 1),
            }
        }
    }

    /// Takes a free slot that `is_ready` accepts. `None` if there is none or the slab is gone. Also returns whether the
    /// slot was resident.
    pub(super) fn claim_ready(
        &self,
        generation: u32,
        tracks_residency: bool,
        is_ready: &mut impl FnMut(Span) -> bool,
    ) -> Option<(Span, bool)> {
        let mut tried = 0;
        loop {
            let word = self.word();
            let free = word.free() & !tried;
            if word.generation() != generation || free == 0 {
                return None;
            }
            let (slot, layout) = (free.trailing_zeros(), self.layout());
            // Unlike a claim, the caller sees the slot before an exchange proves which slab it is of.
            if self.word_behind().generation() != generation {
                return None;
            }
            let (bit, span) = (1 << slot, layout.slot(slot));
            if !is_ready(span) {
                tried |= bit;
            } else if self.exchange(word, word.with_free(word.free() & !bit)).is_ok() {
                // A held slot keeps the slab alive, so the span belongs to this generation.
                return Some((span, self.keep_resident(tracks_residency, bit)));
            }
        }
    }

    /// Frees the slot that starts at `address`, which is not below the base of the slab of that generation. The caller
    /// becomes the owner of an extent, and of a slab without an owner that has at least `list_at` free slots.
    #[inline]
    pub(super) fn free(&self, generation: u32, address: u64, list_at: u32, retries: &mut u32) -> Freed {
        let mut word = self.word();
        loop {
            if word.generation() != generation {
                return Freed::Retired;
            }
            let layout = self.layout();
            let slot = self.slot_at(layout.base, address);
            let bit = 1 << slot;
            let is_free = word.free() & bit != 0 || word.is_purging() && self.claimed() & bit != 0;
            if is_free || layout.first(slot) != address {
                let now = self.word_behind();
                if now.generation() != generation {
                    return Freed::Retired;
                }
                if word.is_purging() && now != word {
                    // `claimed` may belong to another purge.
                    word = self.word();
                    continue;
                }
                let region = layout.slot(slot);
                let behind = Span::new(region.first(), address).expect("S1: cells begin with what has them");
                // The rest of an extent's last cell is free with the extent.
                return match is_free {
                    true => Freed::AlreadyFree { block: region.hull(behind) },
                    false => Freed::Interior { region },
                };
            }
            let free = word.free() | bit;
            let is_extent = layout.class.is_none();
            let owned = !word.is_owned() && free.count_ones() >= layout.list_at(list_at) || is_extent;
            match self.exchange(word, word.with_free(free).owned(owned || word.is_owned())) {
                Ok(()) => {
                    return Freed::Done { span: span_of(address, layout.slot_bytes), owned, is_extent };
                }
                Err(now) => (word, *retries) = (now, *retries + 1),
            }
        }
    }

    /// Marks the slot at `address`, which the caller holds, as decommitted. A held slot keeps the slab alive.
    pub(super) fn mark_decommitted(&self, address: u64) {
        self.decommitted(1 << self.slot_at(self.base(), address));
    }

    /// Marks slots that the caller holds as decommitted. Relaxed: the exchange that frees them orders it.
    fn decommitted(&self, slots: u32) {
        self.populated.fetch_and(!slots, Ordering::Relaxed);
        self.resident.fetch_and(!slots, Ordering::Relaxed);
    }

    /// Whether the slot at `address`, which the caller holds, is populated.
    pub(super) fn is_populated(&self, address: u64) -> bool {
        self.populated() >> self.slot_at(self.base(), address) & 1 != 0
    }

    /// Marks the slot at `address`, which the caller holds, as populated or not. Relaxed: as in `decommitted`.
    pub(super) fn set_populated(&self, address: u64, populated: bool) {
        let bit = 1 << self.slot_at(self.base(), address);
        if populated {
            self.populated.fetch_or(bit, Ordering::Relaxed);
        } else {
            self.populated.fetch_and(!bit, Ordering::Relaxed);
        }
    }

    /// Loads the word after all earlier reads of the record. If it has the generation that was seen before them, those
    /// reads belong to that generation, too.
    #[inline]
    fn word_behind(&self) -> Word {
        // The fence orders the earlier reads of the record before the load of the word.
        fence(Ordering::Acquire);
        Word(self.word.load(Ordering::Relaxed))
    }

    /// The held slot that contains `address`, if the slab has that generation.
    #[inline]
    pub(super) fn held_at(&self, generation: u32, address: u64) -> Option<Span> {
        let word = self.word();
        if word.is_purging() {
            return self.held_beside_purge(generation, address);
        }
        let layout = self.layout();
        if word.generation() != generation || self.word_behind().generation() != generation {
            return None;
        }
        self.held_slot(layout, word.free(), address)
    }

    /// `held_at` while a purge holds slots. `claimed` belongs to the purge that was seen only if the word is unchanged:
    /// otherwise another purge may have begun and stored its own slots.
    #[cold]
    fn held_beside_purge(&self, generation: u32, address: u64) -> Option<Span> {
        loop {
            let word = self.word();
            let (layout, claimed) = (self.layout(), self.claimed());
            let now = self.word_behind();
            if now.generation() != generation {
                return None;
            }
            if now == word {
                let claimed = if word.is_purging() { claimed } else { 0 };
                return self.held_slot(layout, word.free() | claimed, address);
            }
        }
    }

    #[inline]
    fn held_slot(&self, layout: Layout, free: u32, address: u64) -> Option<Span> {
        let slot = self.slot_at(layout.base, address);
        Some(layout.slot(slot)).filter(|span| free & (1 << slot) == 0 && span.contains(address))
    }
}
