//! A leaf: slots that follow each other without a gap between them, each an entry or a gap.
//!
//! ```text
//!  word  0      1                                                    31
//!  | len, occupied | pivot 0 | pivot 1 | ...  unused  ... | entry 1 | entry 0 |
//! ```
//!
//! Slot `i` has the indexes after pivot `i - 1` up to pivot `i`; the first starts and the last ends where the leaf does,
//! which its ancestors know. Bit `i` of `occupied` says whether it has an entry. Entries grow from the end, so that a
//! gap takes no word but its pivot: ten entries with gaps between them fill a leaf, or sixteen without.
//!
//! # Invariants
//! Pivots ascend. Two gaps never follow each other, in a leaf or from one to the next. Pivots and entries together
//! take no more than 31 words. Every slot has an index: nothing is empty.

use super::slab::Node;
use super::{Extent, NONE, NodeId};
use crate::entry::Word;
use core::ptr;
use freehold_units::Span;

/// Words of a leaf.
pub(crate) const WORDS: usize = 31;

#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Leaf {
    /// One bit for each slot that has an entry. Of a vacant leaf, the next vacant one.
    pub(super) occupied: u32,
    /// Slots; 0 of a vacant leaf.
    pub(super) len: u32,
    pub(super) words: [Word; WORDS],
}

const _: () = assert!(size_of::<Leaf>() == 256);

impl Node for Leaf {
    const VACANT: Self = Self { occupied: 0, len: 0, words: [ptr::null_mut(); WORDS] };

    fn link(&self) -> NodeId {
        if self.len == 0 { self.occupied } else { NONE }
    }

    fn set_link(&mut self, next: NodeId) {
        self.occupied = next;
    }
}

/// The bits below bit `count`.
#[inline(always)]
pub(super) const fn below(count: usize) -> u64 {
    (1 << count) - 1
}

impl Leaf {
    /// A leaf whose one slot is a gap.
    pub(crate) fn empty() -> Self {
        Self { len: 1, ..Self::VACANT }
    }

    /// A leaf that is yet to have slots.
    pub(crate) fn without_slots() -> Self {
        Self::VACANT
    }

    /// Slots, at least one.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Slots with an entry.
    #[inline(always)]
    pub(crate) fn entries(&self) -> usize {
        self.occupied.count_ones() as usize
    }

    /// Words in use.
    #[inline(always)]
    pub(crate) fn used(&self) -> usize {
        self.len() - 1 + self.entries()
    }

    /// One bit for each slot that has an entry.
    #[inline(always)]
    pub(crate) fn occupied(&self) -> u32 {
        self.occupied
    }

    #[inline(always)]
    pub(crate) fn pivot(&self, slot: usize) -> u64 {
        self.words[slot].addr() as u64
    }

    /// The slot that has the index, which the leaf has.
    #[inline(always)]
    pub(crate) fn slot_of(&self, index: u64) -> usize {
        // Slots are looked for in two steps, without a branch: the line of eight words, then the pivots of that line.
        let pivots = self.len() - 1;
        let before = |at: usize| usize::from((at < pivots) & ((self.words[at].addr() as u64) < index));
        let base = (8 * (before(6) + before(14) + before(22))).saturating_sub(1);
        let Some(line) = self.words.get(base..base + 8) else { return 0 };
        let counted = line
            .iter()
            .enumerate()
            .map(|(at, word)| usize::from((base + at < pivots) & ((word.addr() as u64) < index)));
        base + counted.sum::<usize>()
    }

    /// Entries before the slot.
    #[inline(always)]
    pub(crate) fn rank(&self, slot: usize) -> usize {
        (u64::from(self.occupied) & below(slot)).count_ones() as usize
    }

    #[inline(always)]
    pub(crate) fn has_entry(&self, slot: usize) -> bool {
        self.occupied >> (slot & 31) & 1 != 0
    }

    /// The entry of that rank.
    #[inline(always)]
    pub(crate) fn ranked(&self, rank: usize) -> Word {
        self.words[WORDS - 1 - rank]
    }

    /// The slot's entry.
    #[inline(always)]
    pub(crate) fn entry(&self, slot: usize) -> Option<Word> {
        self.has_entry(slot).then(|| self.ranked(self.rank(slot)))
    }

    /// The slot's indexes; `whole` are the leaf's.
    #[inline(always)]
    pub(crate) fn span(&self, slot: usize, whole: Span) -> (u64, u64) {
        let first = if slot == 0 { whole.first() } else { self.pivot(slot - 1) + 1 };
        let last = if slot + 1 == self.len() { whole.last() } else { self.pivot(slot) };
        (first, last)
    }

    /// The slots that are gaps, a bit each.
    #[inline(always)]
    pub(crate) fn gaps(&self) -> u32 {
        !self.occupied & below(self.len()) as u32
    }

    /// The longest gap; `whole` are the leaf's indexes.
    pub(crate) fn largest_gap(&self, whole: Span) -> Extent {
        let mut gaps = self.gaps();
        let mut longest = None;
        while gaps != 0 {
            let (first, last) = self.span(gaps.trailing_zeros() as usize, whole);
            longest = longest.max(Some(last - first));
            gaps &= gaps - 1;
        }
        longest.map_or(Extent::NONE, Extent::of_reach)
    }

    /// The words of all entries.
    pub(crate) fn words(&self) -> &[Word] {
        &self.words[WORDS - self.entries()..]
    }

    /// Puts a slot behind the last, which ends at `last` from now on; of a leaf without slots, the first. There is room.
    pub(crate) fn push(&mut self, last: u64, entry: Option<Word>) {
        let (len, entries) = (self.len(), self.entries());
        if len > 0 {
            self.words[len - 1] = ptr::without_provenance_mut(last as usize);
        }
        if let Some(word) = entry {
            self.words[WORDS - 1 - entries] = word;
            self.occupied |= 1 << len;
        }
        self.len += 1;
    }

    /// Takes the slots before `slot` out; entries of theirs are the caller's.
    pub(crate) fn keep_from(&mut self, slot: usize) {
        let (len, entries, gone) = (self.len(), self.entries(), self.rank(slot));
        self.words.copy_within(slot..len - 1, 0);
        self.words.copy_within(WORDS - entries..WORDS - gone, WORDS - entries + gone);
        self.occupied = (u64::from(self.occupied) >> slot) as u32;
        self.len = (len - slot) as u32;
    }

    /// Takes the slots behind `slot` out; entries of theirs are the caller's. The slot ends where the leaf now does.
    pub(crate) fn keep_to(&mut self, slot: usize) {
        self.occupied &= below(slot + 1) as u32;
        self.len = slot as u32 + 1;
    }

    /// Puts a second word in the place of each.
    pub(crate) fn twin_words(&mut self, twin: impl Fn(Word) -> Word) {
        let from = WORDS - self.entries();
        for word in &mut self.words[from..] {
            *word = twin(*word);
        }
    }
}
