//! A leaf: slots that follow each other without a gap between them, each an entry or a gap.
//!
//! ```text
//!  word 0                                                                31
//!  | what is used | pivot 0 | pivot 1 | ...  unused  ... | entry 1 | entry 0 |
//! ```
//!
//! Slot `i` has the indexes after pivot `i - 1` up to pivot `i`; the first starts and the last ends where the leaf does,
//! which its ancestors know. Bit `i` of `occupied` says whether it has an entry. Entries grow from the end, so that a
//! gap takes no word but its pivot: ten entries with gaps between them fill a leaf, or sixteen without.
//!
//! # Invariants
//! Pivots ascend. Two gaps never follow each other, in a leaf or from one to the next. Pivots and entries together
//! take no more than 31 words. Every slot has an index: nothing is empty.

use super::PoolNode;
use super::{Extent, NodeId};
use crate::entry::Word;
use core::hint::select_unpredictable;
use core::ptr;
use freehold_units::Span;

/// Words of a leaf for pivots and entries.
pub(crate) const WORDS: usize = 31;

/// Words of a line of the cache.
const LINE: usize = 8;

/// The number of a word in the leaf, cut to what there is, so that no look-up asks whether it is there.
const fn at(word: usize) -> usize {
    word & WORDS
}

#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Leaf {
    /// The first is [`Used`]; of a vacant leaf, the number of the next vacant one.
    words: [Word; WORDS + 1],
}

const _: () = assert!(size_of::<Leaf>() == 256);

/// What is used of a leaf, as its first word has it: a bit for each slot that has an entry, the slots from bit 32 on, the
/// slots with an entry from bit 40 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used(u64);

impl Used {
    #[inline]
    pub(super) const fn new(occupied: u32, len: usize, entries: usize) -> Self {
        Self(occupied as u64 | (len as u64) << 32 | (entries as u64) << 40)
    }

    #[inline]
    const fn to_word(self) -> Word {
        ptr::without_provenance_mut(self.0 as usize)
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

    /// Words for pivots and entries.
    #[inline]
    pub(super) const fn words(self) -> usize {
        self.len() - 1 + self.entries()
    }

    #[inline]
    pub(super) const fn has_entry(self, slot: usize) -> bool {
        self.0 as u32 >> (slot & 31) & 1 != 0
    }

    /// Entries before the slot.
    #[inline]
    pub(super) const fn rank(self, slot: usize) -> usize {
        (self.0 as u32 & below(slot) as u32).count_ones() as usize
    }
}

impl PoolNode for Leaf {
    const VACANT: Self = Self { words: [ptr::null_mut(); WORDS + 1] };

    fn link(&self) -> NodeId {
        self.words[0].addr() as NodeId
    }

    fn set_link(&mut self, next: NodeId) {
        self.words[0] = ptr::without_provenance_mut(next as usize);
    }
}

/// The bits below bit `count`.
#[inline]
pub(super) const fn below(count: usize) -> u64 {
    (1 << count) - 1
}

impl Leaf {
    /// A leaf whose one slot is a gap.
    pub(crate) const EMPTY: Self = {
        let mut leaf = Self::VACANT;
        leaf.words[0] = Used::new(0, 1, 0).to_word();
        leaf
    };

    #[inline]
    pub(super) fn in_use(&self) -> Used {
        Used(self.words[0].addr() as u64)
    }

    #[inline]
    pub(super) fn set_used(&mut self, used: Used) {
        self.words[0] = used.to_word();
    }

    /// A leaf that is yet to have slots.
    pub(crate) fn without_slots() -> Self {
        Self::VACANT
    }

    /// Slots, at least one.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.in_use().len()
    }

    /// Slots with an entry.
    #[inline]
    pub(crate) fn entries(&self) -> usize {
        self.in_use().entries()
    }

    /// Words in use.
    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.in_use().words()
    }

    /// One bit for each slot that has an entry.
    #[inline]
    pub(crate) fn occupied(&self) -> u32 {
        self.in_use().occupied()
    }

    #[inline]
    pub(crate) fn pivot(&self, slot: usize) -> u64 {
        self.words[at(slot + 1)].addr() as u64
    }

    #[inline]
    pub(super) fn set_pivot(&mut self, slot: usize, last: u64) {
        self.words[at(slot + 1)] = ptr::without_provenance_mut(last as usize);
    }

    /// Moves pivots `from..to` to where pivot `into` is.
    #[inline]
    pub(super) fn move_pivots(&mut self, from: usize, to: usize, into: usize) {
        self.words.copy_within(from + 1..to + 1, into + 1);
    }

    /// Moves the entries of rank `from..to` to where the one of rank `into` is.
    #[inline]
    pub(super) fn move_entries(&mut self, from: usize, to: usize, into: usize) {
        self.words.copy_within(WORDS + 1 - to..WORDS + 1 - from, WORDS + 1 - into - (to - from));
    }

    #[inline]
    pub(super) fn set_ranked(&mut self, rank: usize, word: Word) {
        self.words[at(WORDS - rank)] = word;
    }

    /// The slot that has the index, which the leaf has.
    #[inline]
    pub(crate) fn slot_of(&self, index: u64) -> usize {
        // Slots are looked for in two steps, without a branch: the line of eight words, then the pivots of that line
        // behind its first word, which is not a pivot or is below the index. Words that are no pivots are masked out.
        let pivots = self.len() - 1;
        let is_below = |word: Word| u32::from((word.addr() as u64) < index);
        let (lines, _) = self.words.as_chunks::<LINE>();
        let starts = lines[1..].iter().rev().fold(0, |bits, line| 2 * bits + is_below(line[0]));
        let line = (starts & below(pivots / LINE) as u32).trailing_ones() as usize % lines.len();
        let behind = lines[line][1..].iter().rev().fold(0, |bits, &word| 2 * bits + is_below(word));
        let pivots_there = pivots - LINE * line;
        LINE * line + (behind & below(pivots_there) as u32).trailing_ones() as usize
    }

    /// The slot that has the index, and the entries before it.
    #[inline(never)]
    pub(crate) fn slot_and_rank_of(&self, index: u64) -> (usize, usize) {
        let slot = self.slot_of(index);
        (slot, self.rank(slot))
    }

    /// A bit for the slot that has the index, and each before it.
    #[inline(never)]
    pub(crate) fn slots_to(&self, index: u64) -> u32 {
        u32::MAX >> (31 - self.slot_of(index))
    }

    /// Entries before the slot.
    #[inline]
    pub(crate) fn rank(&self, slot: usize) -> usize {
        self.in_use().rank(slot)
    }

    #[inline]
    pub(crate) fn has_entry(&self, slot: usize) -> bool {
        self.in_use().has_entry(slot)
    }

    /// The entry of that rank.
    #[inline]
    pub(crate) fn ranked(&self, rank: usize) -> Word {
        self.words[at(WORDS - rank)]
    }

    /// The number of the first entry's word; the others' are lower, one by one.
    pub(crate) const FIRST_WORD: usize = WORDS;

    /// The word of that number.
    #[inline]
    pub(crate) fn word(&self, number: usize) -> Word {
        self.words[at(number)]
    }

    /// The slot's entry.
    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> Option<Word> {
        self.has_entry(slot).then(|| self.ranked(self.rank(slot)))
    }

    /// The slot's indexes; `whole` are the leaf's.
    #[inline]
    pub(crate) fn span(&self, slot: usize, whole: Span) -> (u64, u64) {
        self.span_up_to(slot, self.len() - 1, whole)
    }

    /// The same, where the leaf's last slot is known.
    #[inline]
    pub(crate) fn span_up_to(&self, slot: usize, last_slot: usize, whole: Span) -> (u64, u64) {
        // Whether a slot is at an end of its leaf no branch can foretell.
        let before = self.words[at(slot)].addr() as u64;
        let first = select_unpredictable(slot == 0, whole.first(), before.wrapping_add(1));
        let last = select_unpredictable(slot == last_slot, whole.last(), self.pivot(slot));
        (first, last)
    }

    /// The slots that are gaps, a bit each.
    #[inline]
    pub(crate) fn gaps(&self) -> u32 {
        !self.occupied() & below(self.len()) as u32
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

    /// The words of all entries, the last first.
    #[inline]
    pub(crate) fn words(&self) -> &[Word] {
        &self.words[WORDS + 1 - self.entries()..]
    }

    /// Puts a slot behind the last, which ends at `last` from now on; of a leaf without slots, the first. There is room.
    pub(crate) fn push(&mut self, last: u64, entry: Option<Word>) {
        let before = self.in_use();
        let (len, entries) = (before.len(), before.entries());
        if len > 0 {
            self.set_pivot(len - 1, last);
        }
        if let Some(word) = entry {
            self.set_ranked(entries, word);
        }
        let one = u32::from(entry.is_some());
        self.set_used(Used::new(before.occupied() | one << len, len + 1, entries + one as usize));
    }

    /// Puts the slots of the next leaf behind its own, which end at `last`. There is room.
    pub(crate) fn append(&mut self, last: u64, next: &Self) {
        let (low, high) = (self.in_use(), next.in_use());
        let (len, entries) = (low.len() + high.len(), low.entries() + high.entries());
        self.set_pivot(low.len() - 1, last);
        self.words[low.len() + 1..len].copy_from_slice(&next.words[1..high.len()]);
        self.words[WORDS + 1 - entries..WORDS + 1 - low.entries()].copy_from_slice(next.words());
        self.set_used(Used::new(low.occupied() | high.occupied() << low.len(), len, entries));
    }

    /// Takes the slots before `slot` out; entries of theirs are the caller's.
    pub(crate) fn keep_from(&mut self, slot: usize) {
        let before = self.in_use();
        let gone = before.rank(slot);
        self.move_pivots(slot, before.len() - 1, 0);
        self.move_entries(gone, before.entries(), 0);
        let occupied = (u64::from(before.occupied()) >> slot) as u32;
        self.set_used(Used::new(occupied, before.len() - slot, before.entries() - gone));
    }

    /// Takes the slots behind `slot` out; entries of theirs are the caller's. The slot ends where the leaf now does.
    pub(crate) fn keep_to(&mut self, slot: usize) {
        let occupied = self.occupied() & below(slot + 1) as u32;
        self.set_used(Used::new(occupied, slot + 1, self.rank(slot + 1)));
    }

    /// Puts another word in the place of each entry's, the first entry's first.
    pub(crate) fn replace_words(&mut self, mut other: impl FnMut(Word) -> Word) {
        let from = WORDS + 1 - self.entries();
        for word in self.words[from..].iter_mut().rev() {
            *word = other(*word);
        }
    }
}
