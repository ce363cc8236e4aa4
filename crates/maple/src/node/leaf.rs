//! A leaf: slots that follow each other without a gap between them, each an entry or a gap.
//!
//! ```text
//!  byte 0        120    128                256
//!  | 15 pivots   | used | 16 words         |
//! ```
//!
//! Slot `i` has the indexes after pivot `i - 1` up to pivot `i`; the first starts and the last ends where the leaf does,
//! which its ancestors know. Bit `i` of `occupied` says whether it has an entry, whose word is word `i`.
//! (Words of entries alone, with pivots and words sharing 31 places, hold ten entries with gaps between them instead of eight. But a
//! look-up then counts the entries before its own: 171 instructions at 100 ranges instead of 128, of `bench maple --instructions`.)
//!
//! # Invariants
//! Pivots ascend. Two gaps never follow each other, in a leaf or from one to the next. Every slot has an index: nothing is
//! empty.

use super::pivots::{Pivots, SLOTS};
use super::{Extent, NodeId, PoolNode};
use crate::entry::Word;
use core::hint::select_unpredictable;
use core::ops::Range;
use core::ptr;
use freehold_units::Span;

#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Leaf {
    /// Their own word is [`Used`]; of a vacant leaf, the number of the next vacant one.
    pivots: Pivots,
    words: [Word; SLOTS],
}

const _: () = assert!(size_of::<Leaf>() == 256);

/// What is used of a leaf: a bit for each slot that has an entry, the slots from bit 32 on, the slots with an entry from bit 40 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used(u64);

impl Used {
    #[inline]
    pub(super) const fn new(occupied: u32, len: usize, entries: usize) -> Self {
        Self(occupied as u64 | (len as u64) << 32 | (entries as u64) << 40)
    }

    /// One bit for each slot that has an entry.
    #[inline]
    pub(super) const fn occupied(self) -> u32 {
        self.0 as u32
    }

    /// Slots.
    #[inline]
    pub(super) const fn len(self) -> usize {
        (self.0 >> 32) as u8 as usize
    }

    /// Slots with an entry.
    #[inline]
    pub(super) const fn entries(self) -> usize {
        (self.0 >> 40) as usize
    }

    #[inline]
    pub(super) const fn has_entry(self, slot: usize) -> bool {
        self.0 as u32 >> (slot & 31) & 1 != 0
    }
}

impl PoolNode for Leaf {
    const VACANT: Self = Self { pivots: Pivots::new(0), words: [ptr::null_mut(); SLOTS] };

    fn link(&self) -> NodeId {
        self.pivots.own() as NodeId
    }

    fn set_link(&mut self, next: NodeId) {
        self.pivots.set_own(u64::from(next));
    }
}

/// The bits below bit `count`.
#[inline]
pub(super) const fn below(count: usize) -> u64 {
    (1 << count) - 1
}

impl Leaf {
    /// A leaf whose one slot is a gap.
    pub(crate) const EMPTY: Self = Self { pivots: Pivots::new(Used::new(0, 1, 0).0), ..Self::VACANT };

    /// A leaf that is yet to have slots.
    pub(crate) const WITHOUT_SLOTS: Self = Self::VACANT;

    #[inline]
    pub(super) fn used(&self) -> Used {
        Used(self.pivots.own())
    }

    #[inline]
    pub(super) fn set_used(&mut self, used: Used) {
        self.pivots.set_own(used.0);
    }

    /// Slots, at least one.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.used().len()
    }

    /// Slots with an entry.
    #[inline]
    pub(crate) fn entries(&self) -> usize {
        self.used().entries()
    }

    /// One bit for each slot that has an entry.
    #[inline]
    pub(crate) fn occupied(&self) -> u32 {
        self.used().occupied()
    }

    /// The slots that are gaps, a bit each.
    #[inline]
    pub(crate) fn gaps(&self) -> u32 {
        !self.occupied() & below(self.len()) as u32
    }

    #[inline]
    pub(crate) fn has_entry(&self, slot: usize) -> bool {
        self.used().has_entry(slot)
    }

    /// The last index of a slot that is not the leaf's last.
    #[inline]
    pub(crate) fn pivot(&self, slot: usize) -> u64 {
        self.pivots.pivot(slot)
    }

    /// Makes a slot, which is not the leaf's last, end at `last`.
    #[inline]
    pub(super) fn set_pivot(&mut self, slot: usize, last: u64) {
        self.pivots.set(slot, last);
    }

    /// The slot that has the index, which the leaf has.
    #[inline]
    pub(crate) fn slot_of(&self, index: u64) -> usize {
        self.pivots.slot_of(index)
    }

    /// A bit for each slot up to the one that has the index.
    #[inline(never)] // so that going on to the next leaf is short enough to be inlined
    pub(crate) fn slots_to(&self, index: u64) -> u64 {
        below(self.slot_of(index) + 1)
    }

    /// A bit for each slot from the one on that has the index.
    #[inline(never)] // likewise
    pub(crate) fn slots_from(&self, index: u64) -> u64 {
        !below(self.slot_of(index))
    }

    /// The slot's indexes; `whole` are the leaf's.
    #[inline]
    pub(crate) fn span(&self, slot: usize, whole: Span) -> (u64, u64) {
        self.span_up_to(slot, self.len() - 1, whole)
    }

    /// The same, where the leaf's last slot is known.
    #[inline]
    pub(crate) fn span_up_to(&self, slot: usize, last_slot: usize, whole: Span) -> (u64, u64) {
        // Whether a slot is its leaf's last no branch can foretell.
        let last = select_unpredictable(slot == last_slot, whole.last(), self.pivots.pivot(slot));
        (self.pivots.start_of(slot, whole.first()), last)
    }

    /// The word of the slot's entry; of a gap, any.
    #[inline]
    pub(crate) fn word(&self, slot: usize) -> Word {
        self.words[slot % SLOTS]
    }

    #[inline]
    pub(super) fn set_word(&mut self, slot: usize, word: Word) {
        debug_assert!(slot < SLOTS, "M3: a node has no more than sixteen slots");
        self.words[slot % SLOTS] = word;
    }

    /// The slot's entry.
    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> Option<Word> {
        self.has_entry(slot).then(|| self.word(slot))
    }

    /// The words of the entries of some slots.
    pub(crate) fn words(&self, slots: Range<usize>) -> impl DoubleEndedIterator<Item = Word> {
        slots.filter_map(|slot| self.entry(slot))
    }

    /// Makes slot `from` and all behind it end where slot `into` and those behind it did: what is behind slot `from` comes behind
    /// slot `into`.
    #[inline]
    pub(super) fn move_behind(&mut self, from: usize, into: usize) {
        let len = self.len();
        if from == into {
            return;
        }
        if from + 1 < len {
            self.words.copy_within(from + 1..len, into + 1);
        }
        self.pivots.shift(from..len - 1, into);
    }

    /// The longest gap; `whole` are the leaf's indexes.
    pub(crate) fn largest_gap(&self, whole: Span) -> Extent {
        self.longest_of(self.gaps(), whole, u64::MAX).map_or(Extent::NONE, Extent::of_reach)
    }

    /// How far the longest of some slots reaches, or the first that reaches as far as is `enough`; `whole` are the leaf's
    /// indexes.
    pub(crate) fn longest_of(&self, slots: u32, whole: Span, enough: u64) -> Option<u64> {
        let ends = 1 | 1 << (self.len() - 1);
        let mut longest = 0;
        // Only the first slot and the last end with the leaf.
        let (mut inner, mut outer) = (slots & !ends, slots & ends);
        while outer != 0 {
            let (first, last) = self.span(outer.trailing_zeros() as usize, whole);
            longest = longest.max(last - first);
            outer &= outer - 1;
        }
        while inner != 0 && longest < enough {
            let slot = inner.trailing_zeros() as usize;
            longest = longest.max(self.pivot(slot) - self.pivot(slot - 1) - 1);
            inner &= inner - 1;
        }
        (slots != 0).then_some(longest)
    }

    /// Puts a slot behind the last, which ends at `last` from now on; of a leaf without slots, the first. There is room.
    pub(crate) fn push(&mut self, last: u64, entry: Option<Word>) {
        let (occupied, len, entries) = (self.occupied(), self.len(), self.entries());
        if len > 0 {
            self.set_pivot(len - 1, last);
        }
        if let Some(word) = entry {
            self.set_word(len, word);
        }
        let one = u32::from(entry.is_some());
        self.set_used(Used::new(occupied | one << len, len + 1, entries + one as usize));
    }

    /// Puts the slots of the next leaf behind its own, which end at `last`. There is room.
    pub(crate) fn append(&mut self, last: u64, next: &Self) {
        let (low, high) = (self.used(), next.used());
        let (len, entries) = (low.len() + high.len(), low.entries() + high.entries());
        self.set_pivot(low.len() - 1, last);
        self.pivots.append(low.len(), &next.pivots, high.len() - 1);
        self.words[low.len()..len].copy_from_slice(&next.words[..high.len()]);
        self.set_used(Used::new(low.occupied() | high.occupied() << low.len(), len, entries));
    }

    /// Takes the slots before `slot` out; entries of theirs are the caller's.
    pub(crate) fn keep_from(&mut self, slot: usize) {
        let len = self.len();
        self.words.copy_within(slot..len, 0);
        self.pivots.shift(slot..len - 1, 0);
        let occupied = self.occupied() >> slot;
        self.set_used(Used::new(occupied, len - slot, occupied.count_ones() as usize));
    }

    /// Takes the slots behind `slot` out; entries of theirs are the caller's. The slot ends where the leaf now does.
    pub(crate) fn keep_to(&mut self, slot: usize) {
        self.pivots.cut(slot);
        let occupied = self.occupied() & below(slot + 1) as u32;
        self.set_used(Used::new(occupied, slot + 1, occupied.count_ones() as usize));
    }

    /// Puts another word in the place of each entry's, the first entry's first.
    pub(crate) fn replace_words(&mut self, mut other: impl FnMut(Word) -> Word) {
        let used = self.used();
        for (_, word) in self.words.iter_mut().enumerate().filter(|(slot, _)| used.has_entry(*slot)) {
            *word = other(*word);
        }
    }
}
