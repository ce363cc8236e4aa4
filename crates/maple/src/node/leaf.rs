//! A leaf: adjacent slots, each an entry or a gap.
//!
//! ```text
//!  byte 0        120    128                256
//!  | 15 pivots   | used | 16 words         |
//! ```
//!
//! Slot `i` has the indexes after pivot `i - 1` up to and including pivot `i`. The first slot starts, and the last
//! ends, where the leaf does; its ancestors hold these bounds. A slot with an entry has its word in word `i`. All but
//! the words is the leaf's [`Shape`].
//!
//! A gap has a place for a word that it does not need. If only entries had words, and pivots and words shared 31 places,
//! a leaf would hold ten entries with gaps between them instead of eight. But a look-up would have to count the entries
//! before its own: 171 instructions at 100 ranges instead of 128, of `bench maple --instructions`.

use super::pivots::SLOTS;
use super::shape::{Shape, Used, below};
use super::{NodeId, PoolNode};
use crate::entry::Word;
use core::ops::{Deref, DerefMut, Range};
use core::ptr;

#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Leaf {
    pub(crate) shape: Shape,
    pub(crate) words: [Word; SLOTS],
}

const _: () = assert!(size_of::<Leaf>() == 256);

impl PoolNode for Leaf {
    const VACANT: Self = Self { shape: Shape::WITHOUT_SLOTS, words: [ptr::null_mut(); SLOTS] };

    fn link(&self) -> NodeId {
        self.shape.pivots.own() as NodeId
    }

    fn set_link(&mut self, next: NodeId) {
        self.shape.pivots.set_own(u64::from(next));
    }
}

/// A leaf is its shape and its words.
impl Deref for Leaf {
    type Target = Shape;

    #[inline]
    fn deref(&self) -> &Shape {
        &self.shape
    }
}

impl DerefMut for Leaf {
    #[inline]
    fn deref_mut(&mut self) -> &mut Shape {
        &mut self.shape
    }
}

impl Leaf {
    /// A leaf whose one slot is a gap.
    pub(crate) const EMPTY: Self = Self { shape: Shape::EMPTY, ..Self::VACANT };

    /// A leaf without slots, to be filled.
    pub(crate) const WITHOUT_SLOTS: Self = Self::VACANT;

    /// The entry's word. Meaningless if the slot is a gap.
    #[inline]
    pub(crate) fn word(&self, slot: usize) -> Word {
        self.words[slot % SLOTS]
    }

    #[inline]
    pub(crate) fn set_word(&mut self, slot: usize, word: Word) {
        debug_assert!(slot < SLOTS, "M3: a node has no more than sixteen slots");
        self.words[slot % SLOTS] = word;
    }

    /// The entry in a slot.
    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> Option<Word> {
        self.has_entry(slot).then(|| self.word(slot))
    }

    /// The words of the entries in some slots.
    pub(crate) fn words(&self, slots: Range<usize>) -> impl DoubleEndedIterator<Item = Word> {
        slots.filter_map(|slot| self.entry(slot))
    }

    /// Moves the end of slot `from`, and all slots after it, to slot `into` and after: what follows slot `from` follows
    /// slot `into` afterwards.
    #[inline]
    pub(super) fn move_behind(&mut self, from: usize, into: usize) {
        let len = self.len();
        if from == into {
            return;
        }
        if from + 1 < len {
            self.words.copy_within(from + 1..len, into + 1);
        }
        self.shape.pivots.shift(from..len - 1, into);
    }

    /// Appends a slot. The slot before it ends at `last` from now on; a leaf without slots gets its first. There is
    /// room.
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

    /// Appends the slots of the next leaf. This leaf's own slots end at `last`. There is room.
    pub(crate) fn append(&mut self, last: u64, next: &Self) {
        let (low, high) = (self.used(), next.used());
        let (len, entries) = (low.len() + high.len(), low.entries() + high.entries());
        self.set_pivot(low.len() - 1, last);
        self.shape.pivots.append(low.len(), &next.shape.pivots, high.len() - 1);
        self.words[low.len()..len].copy_from_slice(&next.words[..high.len()]);
        self.set_used(Used::new(low.occupied() | high.occupied() << low.len(), len, entries));
    }

    /// Moves slots between two neighbours, of which the first ends at `last`. The first has `count` of all slots
    /// afterwards; `count` is neither its present number nor all. Returns the first's new last index.
    pub(crate) fn share(&mut self, last: u64, next: &mut Self, count: usize) -> u64 {
        let len = self.len();
        debug_assert!(count > 0 && count != len && count < len + next.len(), "M3: no leaf is without slots");
        if count > len {
            let more = count - len;
            let mut moved = next.clone();
            moved.keep_to(more - 1);
            let end = next.pivot(more - 1);
            next.keep_from(more);
            self.append(last, &moved);
            end
        } else {
            let mut moved = self.clone();
            moved.keep_from(count);
            moved.append(last, next);
            *next = moved;
            let end = self.pivot(count - 1);
            self.keep_to(count - 1);
            end
        }
    }

    /// Removes the slots before `slot`. The caller owns their entries.
    pub(crate) fn keep_from(&mut self, slot: usize) {
        let len = self.len();
        self.words.copy_within(slot..len, 0);
        self.shape.pivots.shift(slot..len - 1, 0);
        let occupied = self.occupied() >> slot;
        self.set_used(Used::new(occupied, len - slot, occupied.count_ones() as usize));
    }

    /// Removes the slots after `slot`, which then ends where the leaf now does. The caller owns their entries.
    pub(crate) fn keep_to(&mut self, slot: usize) {
        self.shape.pivots.cut(slot);
        let occupied = self.occupied() & below(slot + 1) as u32;
        self.set_used(Used::new(occupied, slot + 1, occupied.count_ones() as usize));
    }

    /// Replaces the word of each entry, in ascending order.
    pub(crate) fn replace_words(&mut self, mut other: impl FnMut(Word) -> Word) {
        let used = self.used();
        for (_, word) in self.words.iter_mut().enumerate().filter(|(slot, _)| used.has_entry(*slot)) {
            *word = other(*word);
        }
    }
}
