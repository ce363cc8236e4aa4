//! The record of a slab or an extent, and all transitions of its word.
//!
//! ```text
//!             base                                                        base + as many slots as the class has
//!   address   |  slot 0  |  slot 1  |  slot 2  |  ...  |  slot 31  |
//!   free         0          1          1                  0              held, free, free, held
//!   resident     1          0          1                  1              free and resident: pages may be resident
//! ```
//!
//! An extent is a slab of one slot.
//!
//! # Invariants
//! - S2: a set free bit means that nobody holds the slot. A purge holds slots by clearing their bits; it stores them in
//!   `claimed` first.
//! - S3: a free slot that is not resident has no resident pages. Only the holder of a slot changes its resident bit.
//! - S4: one exchange retires a slab. No operation acts on that generation afterwards.
//!
//! A slab's base and slot size are written before its word and read after it. A successful exchange of the word proves
//! that they belonged to the same slab: words of a new generation differ.

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, shuttle))]
pub(super) mod mutant;

use super::class::{Class, MOST_SLOTS};
use super::word::{LAST_GENERATION, Word};
use crate::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use freehold_units::Span;

/// The class word of an extent, which has no slots. In other records the low byte is the class's number, the third byte
/// the number of free slots at which the slab is listed, and the highest byte its number of slots.
const EXTENT: u32 = 0xff;

fn class_word(class: Class) -> u32 {
    class.slots() << 24 | class.list_at() << 16 | class.number() as u32
}

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
}

/// The address of a slab and the size of its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) base: u64,
    pub(super) slot_bytes: u64,
    /// `None` for an extent.
    pub(super) class: Option<Class>,
}

impl Layout {
    /// The bitmap of all slots.
    #[inline]
    pub(super) fn all(&self) -> u32 {
        u32::MAX >> (MOST_SLOTS - self.class.map_or(1, Class::slots))
    }

    /// Number of free slots at which this slab is listed in a space that lists slabs at `list_at`.
    fn list_at(&self, list_at: u32) -> u32 {
        self.class.map_or(list_at, |class| list_at.min(class.list_at()))
    }

    /// The first address of a slot.
    #[inline]
    fn first(&self, slot: u32) -> u64 {
        start_of(self.base, self.slot_bytes, slot)
    }

    /// The addresses of `slot`, which must be one of the slab's.
    #[inline]
    pub(super) fn slot(&self, slot: u32) -> Span {
        span_of(self.first(slot), self.slot_bytes)
    }
}

#[inline]
fn start_of(base: u64, slot_bytes: u64, slot: u32) -> u64 {
    base.wrapping_add(u64::from(slot).wrapping_mul(slot_bytes))
}

/// The addresses of a slot that the caller holds or has held.
#[inline]
fn span_of(first: u64, slot_bytes: u64) -> Span {
    Span::from_size(first, slot_bytes).expect("S1: a slot lies in the space")
}

/// Divides by the size of a slot with a multiplication. The low byte is the granule's shift; above it is 2^32 divided
/// by the granules of a slot, rounded up. 0 for an extent, all of which is slot 0.
#[derive(Clone, Copy)]
struct Divider(u64);

impl Divider {
    fn new(layout: &Layout) -> Self {
        let Some(class) = layout.class else { return Self(0) };
        let granules = u64::from(class.granules());
        let shift = (layout.slot_bytes / granules).trailing_zeros();
        Self(((1 << 32) / granules + 1) << 8 | u64::from(shift))
    }

    /// The slot that has the byte `offset_bytes` after the slab's base. Meaningless for a byte outside the slab.
    #[inline]
    fn slot(self, offset_bytes: u64) -> u32 {
        // A slab has at most 2^13 granules, so the rounding error of the factor does not reach the next slot.
        let granule = offset_bytes >> (self.0 as u8 % 64);
        (granule.wrapping_mul(self.0 >> 8) >> 32) as u32 % MOST_SLOTS
    }
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
            base: AtomicU64::new(0),
            slot_bytes: AtomicU64::new(0),
            divider: AtomicU64::new(0),
            class: AtomicU32::new(0),
            next: AtomicU32::new(0),
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
            let slot = free.trailing_zeros();
            let (bit, span) = (1 << slot, self.layout().slot(slot));
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
        let bit = 1 << self.slot_at(self.base(), address);
        // Relaxed: the exchange that frees the slot orders it.
        self.resident.fetch_and(!bit, Ordering::Relaxed);
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

    /// Makes the caller the owner of a slab that has free slots and no owner. `false` if the slab is not one.
    pub(super) fn own(&self) -> bool {
        let mut word = self.word();
        while word.is_live() && !word.is_owned() && word.free() != 0 {
            match self.exchange(word, word.owned(true)) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Releases ownership. Returns `false`, and the caller stays owner, if the slab has at least `list_at` free slots.
    pub(super) fn disown(&self, list_at: u32) -> bool {
        let list_at = self.layout().list_at(list_at);
        let mut word = self.word();
        while word.free().count_ones() < list_at {
            match self.exchange(word, word.owned(false)) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Retires the slab if all slots are free and none is resident. The caller owns it and holds the core's lock.
    pub(super) fn retire(&self) -> bool {
        let word = self.word();
        debug_assert!(word.is_live() && word.is_owned(), "S4: who retires a slab owns it");
        let generation = word.generation();
        if word.free() != self.layout().all() || self.resident() != 0 {
            return false;
        }
        #[cfg(all(test, shuttle))]
        let word = mutant::word_to_retire(self, word);
        if self.exchange(word, Word::retired(generation + 1)).is_err() {
            return false;
        }
        if self.resident() == 0 {
            return true;
        }
        // A slot was held and freed between the two loads of `resident`. No thread has changed the record since the
        // exchange, and every free that was refused meanwhile was one of a free slot.
        self.word.store(Word::live(generation, word.free()).0, Ordering::Release);
        false
    }

    /// Claims the highest free resident slots for a purge, until they total `budget_bytes`. The caller holds the
    /// purge's lock, so one purge at a time claims. `None` if no slot qualifies, or an unfinished purge holds slots of
    /// the slab.
    pub(super) fn claim_resident(&self, budget_bytes: u64) -> Option<u32> {
        let mut word = self.word();
        while word.is_live() && !word.is_purging() {
            let mut claimed = word.free() & self.resident();
            let most = budget_bytes.div_ceil(self.layout().slot_bytes);
            while u64::from(claimed.count_ones()) > most {
                claimed &= claimed - 1;
            }
            if claimed == 0 {
                return None;
            }
            // Stored before the exchange, whose Release makes it visible to every thread that sees the new word.
            // Release: pairs with `claimed`.
            self.claimed.store(claimed, Ordering::Release);
            match self.exchange(word, word.with_free(word.free() & !claimed).purging(true)) {
                Ok(()) => return Some(claimed),
                Err(now) => word = now,
            }
        }
        None
    }

    /// Ends a purge that `claim_resident` began: its slots are free again, and decommitted if `purged`. Returns whether
    /// the caller now owns the slab: a decommitted extent, or a slab without an owner that has at least `list_at` free
    /// slots.
    pub(super) fn end_purge(&self, purged: bool, list_at: u32) -> bool {
        let claimed = self.claimed();
        if purged {
            self.resident.fetch_and(!claimed, Ordering::Relaxed);
        }
        let (is_extent, list_at) = (self.layout().class.is_none(), self.layout().list_at(list_at));
        let mut word = self.word();
        loop {
            debug_assert!(word.is_purging() && word.free() & claimed == 0, "S2: the purge holds its slots");
            let free = word.free() | claimed;
            let owned = !is_extent && !word.is_owned() && free.count_ones() >= list_at;
            match self.exchange(word, word.with_free(free).purging(false).owned(owned || word.is_owned())) {
                Ok(()) => return owned || is_extent && purged,
                Err(now) => word = now,
            }
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn dividers_divide() {
        for shift in [0, 12, 40] {
            for class in Class::all() {
                let granules = u64::from(class.granules());
                let layout = Layout { base: 0, slot_bytes: granules << shift, class: Some(class) };
                let divider = Divider::new(&layout);
                for granule in 0..granules * u64::from(class.slots()) {
                    assert_eq!(u64::from(divider.slot(granule << shift)), granule / granules);
                }
            }
        }
        let extent = Layout { base: 0, slot_bytes: 1 << 50, class: None };
        assert_eq!(Divider::new(&extent).slot((1 << 50) - 1), 0);
    }
}
