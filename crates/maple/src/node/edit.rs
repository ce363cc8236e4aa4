//! An edit of one leaf: a new slot replaces the slots that it overlaps.
//!
//! ```text
//!   slots      |  a-1  |   a       |  ..  |      b    |  b+1  |
//!   store                    |===== new =====|
//!   after      |  a-1  |  a  |      new      |    b   |  b+1  |
//! ```
//!
//! The parts of slots `a` and `b` that the new slot does not overlap stay. An edit adds at most two slots: if the new
//! slot lies within one entry's slot, that entry is cut in two.
//!
//! The commonest edits are cases of their own. Without them, operations take more instructions, of `bench maple
//! --instructions` at 100 ranges: a sequential insert without `Fill` 1.12 times as many, an erase without `Vacate` 1.3
//! times, a store over exactly a range without `Exchange` 1.8 times.

use super::NodeLimits;
use super::leaf::Leaf;
use super::shape::{Used, below};
use crate::entry::Word;
use core::ops::Range;
use freehold_units::Span;

/// A planned store into one leaf, or a removal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit {
    /// A new entry lies in a gap, and the leaf has room for it.
    Fill(Fill),
    /// An entry becomes a gap, and merges with the gaps beside it.
    Vacate(Vacate),
    /// The entry in this slot is replaced: its word changes, and nothing else.
    Exchange(usize),
    /// Any other edit.
    Replace(Replace),
}

/// A new entry in the gap that is in `slot`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    slot: usize,
    /// The gap's indexes.
    start: u64,
    end: u64,
}

/// The entry in `slot` becomes a gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vacate {
    slot: usize,
    /// Whether the slots on either side are gaps.
    gap_below: bool,
    gap_above: bool,
    /// The reach of the new gap.
    reach: u64,
}

/// A new slot replaces the slots from `a` to `b`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replace {
    /// The first slot that the new one overlaps.
    a: usize,
    /// The last slot that the new one overlaps.
    b: usize,
    /// The new slot's indexes.
    first: u64,
    last: u64,
    /// The first index of slot `a`, the last of slot `b`.
    start: u64,
    end: u64,
    /// Whether the new slot has an entry.
    entry: bool,
    /// Slots and entries of the leaf before the change and after it.
    before: Used,
    after: Used,
}

impl Edit {
    /// The removal of a whole entry, and the gap that it leaves. `None` if the entry is in the leaf's first or last
    /// slot: the gap may have to merge with a gap in another leaf.
    #[inline]
    pub(crate) fn vacate(leaf: &Leaf, whole: Span, slot: usize) -> Option<(Self, Span)> {
        let len = leaf.len();
        let ends_below = slot == 0 && whole.first() > 0;
        let ends_above = slot + 1 == len && whole.last() < u64::MAX;
        if ends_below || ends_above {
            return None;
        }
        let gap_below = slot > 0 && !leaf.has_entry(slot - 1);
        let gap_above = slot + 1 < len && !leaf.has_entry(slot + 1);
        let (start, _) = leaf.span(slot - usize::from(gap_below), whole);
        let (_, end) = leaf.span(slot + usize::from(gap_above), whole);
        let gap = Span::new(start, end).expect("M1: no slot is empty");
        Some((Self::Vacate(Vacate { slot, gap_below, gap_above, reach: end - start }), gap))
    }

    /// The store of an entry over `span`, which begins in `slot`, if it is one of the common edits: into one gap, if
    /// the leaf has room, or over exactly one entry. `whole` is the leaf's index range.
    #[inline]
    pub(crate) fn of_entry(
        leaf: &Leaf,
        whole: Span,
        slot: usize,
        span: Span,
        limits: &NodeLimits,
    ) -> Option<Self> {
        let (start, end) = leaf.span(slot, whole);
        let [left, right] = [start < span.first(), span.last() < end].map(usize::from);
        if leaf.has_entry(slot) {
            return (start == span.first() && end == span.last()).then_some(Self::Exchange(slot));
        }
        let fits = span.last() <= end && leaf.len() + left + right <= limits.leaf_slots;
        fits.then_some(Self::Fill(Fill { slot, start, end }))
    }

    /// Whether the new slot lies in one gap, so that nothing is overwritten.
    #[inline]
    pub(crate) fn is_in_gap(&self) -> bool {
        match self {
            Self::Fill(_) => true,
            Self::Vacate(_) | Self::Exchange(_) => false,
            Self::Replace(replace) => replace.is_in_gap(),
        }
    }
}

impl Fill {
    /// The reach of the gap that the entry goes into.
    #[inline]
    pub(crate) fn reach_lost(&self) -> u64 {
        self.end - self.start
    }

    /// The reach of the longer part of the gap that is left beside the entry.
    #[inline]
    pub(crate) fn reach_after(&self, span: Span) -> Option<u64> {
        (span.first() - self.start).max(self.end - span.last()).checked_sub(1)
    }

    /// Makes the change: `word` is the entry over `span`.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    pub(crate) fn apply(&self, leaf: &mut Leaf, span: Span, word: Word) {
        let Self { slot, start, end } = *self;
        let (first, last) = (span.first(), span.last());
        let before = leaf.used();
        let [left, right] = [start < first, last < end].map(usize::from);
        leaf.move_behind(slot, slot + left + right);
        if left > 0 {
            leaf.set_pivot(slot, first - 1);
        }
        if right > 0 {
            leaf.set_pivot(slot + left, last);
        }
        leaf.set_word(slot + left, word);
        let bits = u64::from(before.occupied());
        let occupied = (bits & below(slot)) | 1 << (slot + left) | (bits & !below(slot)) << (left + right);
        leaf.set_used(Used::new(occupied as u32, before.len() + left + right, before.entries() + 1));
    }
}

impl Vacate {
    /// The reach of the new gap.
    #[inline]
    pub(crate) fn reach(&self) -> u64 {
        self.reach
    }

    /// How many slots the leaf loses: one for each gap that the slot merges with.
    #[inline]
    pub(crate) fn slots_less(&self) -> usize {
        usize::from(self.gap_below) + usize::from(self.gap_above)
    }

    /// Makes the change; returns the entry.
    #[inline]
    pub(crate) fn apply(&self, leaf: &mut Leaf) -> Word {
        let Self { slot, gap_below, gap_above, .. } = *self;
        let before = leaf.used();
        let word = leaf.word(slot);
        leaf.move_behind(slot + usize::from(gap_above), slot - usize::from(gap_below));
        let less = self.slots_less();
        let bits = u64::from(before.occupied());
        let occupied = (bits & below(slot)) | (bits & !below(slot + 1)) >> less;
        leaf.set_used(Used::new(occupied as u32, before.len() - less, before.entries() - 1));
        word
    }
}

impl Replace {
    /// The store over `[first, last]`, which begins in slot `a`. `whole` is the leaf's index range.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    pub(crate) fn new(leaf: &Leaf, whole: Span, a: usize, first: u64, last: u64, entry: bool) -> Self {
        let before = leaf.used();
        let (start, mut end) = leaf.span(a, whole);
        let at_a = usize::from(before.has_entry(a));
        let (mut b, mut at_b, mut met) = (a, at_a, at_a);
        // The last slot is nearly always close to the first.
        while end < last && b + 1 < before.len() {
            b += 1;
            end = leaf.span(b, whole).1;
            at_b = usize::from(before.has_entry(b));
            met += at_b;
        }
        let [left, right, came] = [start < first, last < end, entry].map(usize::from);
        let place = a + left;
        let bits = u64::from(before.occupied());
        let high = (bits >> (b + 1 - right)) << (place + 1);
        let occupied = (bits & below(place)) | (came as u64) << place | high;
        let len = before.len() + left + right - (b - a);
        // Each remainder of a slot keeps the slot's entry.
        let entries = before.entries() + (left & at_a) + (right & at_b) + came - met;
        let after = Used::new(occupied as u32, len, entries);
        Self { a, b, first, last, start, end, entry, before, after }
    }

    /// Whether slot `a` keeps a remainder before the new slot.
    #[inline]
    fn left(&self) -> bool {
        self.start < self.first
    }

    /// Whether slot `b` keeps a remainder after the new slot.
    #[inline]
    fn right(&self) -> bool {
        self.last < self.end
    }

    /// The reach of the longest gap that the edit makes: the new slot, if it is a gap, or a remainder of a gap.
    #[inline]
    pub(crate) fn reach_after(&self) -> Option<u64> {
        let of = |is: bool, first: u64, last: u64| is.then(|| last - first);
        let left = of(self.left() && !self.before.has_entry(self.a), self.start, self.first.wrapping_sub(1));
        let right = of(self.right() && !self.before.has_entry(self.b), self.last.wrapping_add(1), self.end);
        left.max(right).max(of(!self.entry, self.first, self.last))
    }

    /// Whether the new slot covers exactly one old slot.
    pub(crate) fn is_exact(&self) -> bool {
        self.a == self.b && !self.left() && !self.right()
    }

    /// Whether the new slot is in one gap.
    #[inline]
    pub(crate) fn is_in_gap(&self) -> bool {
        self.a == self.b && !self.before.has_entry(self.a)
    }

    /// Whether the new slot overlaps no slot but the leaf's last.
    pub(crate) fn is_at_end(&self) -> bool {
        self.a + 1 == self.before.len()
    }

    /// Whether the number of slots stays the same.
    pub(crate) fn keeps_slots(&self) -> bool {
        self.before.len() == self.after.len()
    }

    /// Slots of the leaf before the edit.
    #[inline]
    pub(crate) fn slots_before(&self) -> usize {
        self.before.len()
    }

    /// The leaf's entries before and after the edit.
    #[inline]
    pub(crate) fn entries(&self) -> (u64, u64) {
        (self.before.entries() as u64, self.after.entries() as u64)
    }

    /// Slots of the leaf after the edit.
    #[inline]
    pub(crate) fn slots_after(&self) -> usize {
        self.after.len()
    }

    /// The slot of the entry that the new slot cuts in two, if there is one: its word is needed twice.
    #[inline]
    pub(crate) fn split_entry(&self) -> Option<usize> {
        let is_cut = self.a == self.b && self.left() && self.right() && self.before.has_entry(self.a);
        is_cut.then_some(self.a)
    }

    /// The slots of which nothing remains.
    #[inline]
    pub(crate) fn replaced(&self) -> Range<usize> {
        self.a + usize::from(self.left())..self.b + 1 - usize::from(self.right())
    }

    /// The reach of the longest gap that the edit removes. A gap that becomes part of a longer one does not count.
    #[inline]
    pub(crate) fn reach_lost(&self, leaf: &Leaf, whole: Span) -> Option<u64> {
        if !self.entry {
            return None;
        }
        if self.a != self.b {
            return leaf.longest_gap_in(self.a..self.b + 1, whole);
        }
        self.is_in_gap().then(|| self.end - self.start)
    }

    /// Makes the edit, which fits. `entry` is the new slot's entry; `second` is a second word for the entry that is cut
    /// in two, if one is.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    pub(crate) fn apply(&self, leaf: &mut Leaf, entry: Option<Word>, second: Option<Word>) {
        let Self { a, b, after, .. } = *self;
        let (place, right) = (a + usize::from(self.left()), usize::from(self.right()));
        let left_of_b = leaf.word(b);
        leaf.move_behind(b, place + right);
        if self.left() {
            leaf.set_pivot(a, self.first - 1);
        }
        if self.right() {
            leaf.set_pivot(place, self.last);
            leaf.set_word(place + 1, second.unwrap_or(left_of_b));
        }
        if let Some(word) = entry {
            leaf.set_word(place, word);
        }
        leaf.set_used(after);
    }

    /// The first slot of the upper half when an overflowing leaf is split. The edit is then made in one of the halves.
    /// More edits are likely to follow at an end of the leaf where one was made, so the half away from that end stays
    /// full.
    pub(crate) fn split_point(&self, limits: &NodeLimits) -> usize {
        let (len, most) = (self.before.len(), limits.leaf_slots);
        let more = self.after.len() - len;
        let fits = |at: usize| {
            let (low, high) = if self.b < at { (at + more, len - at) } else { (at, len - at + more) };
            (self.b < at || self.a >= at) && low <= most && high <= most
        };
        let wished = if self.b + 1 == len {
            self.a
        } else if self.a == 0 {
            self.b + 1
        } else if self.a < len / 2 {
            len / 2
        } else {
            len.div_ceil(2)
        };
        let near = (0..len).flat_map(|off| [wished + off, wished.saturating_sub(off)]);
        let mut fitting = near.filter(|at| (1..len).contains(at) && fits(*at));
        fitting.next().expect("M3: a leaf that overflows by two slots at most can be parted")
    }

    /// The same edit, applied to one half of the leaf after a split before slot `at`. `whole` is the index range of
    /// that half.
    pub(crate) fn in_half(&self, half: &Leaf, whole: Span, at: usize) -> Self {
        let off = if self.is_above(at) { at } else { 0 };
        Self::new(half, whole, self.a - off, self.first, self.last, self.entry)
    }

    /// Whether the edit lies in the upper half of a leaf that is split before slot `at`.
    pub(crate) fn is_above(&self, at: usize) -> bool {
        self.a >= at
    }
}
