//! Storing over a range: looked at first, with the nodes that it takes, then done.

use super::path::Step;
use super::slot::gap_with_room;
use super::{Need, Path, Subtrees, Tree, Words};
use crate::OutOfMemory;
use crate::entry::Word;
use crate::node::{Edit, Leaf, NONE, Shape};
use freehold_units::{Probe, Span};

/// A store that has been looked at: where it goes, and what it takes. Good until the tree changes.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// To the leaf and slot where the store begins.
    pub(crate) path: Path,
    /// What is to be stored over; a gap's neighbours that are gaps are in it.
    pub(crate) span: Span,
    /// The nodes that it takes.
    pub(crate) need: Need,
    pub(super) way: Way,
}

/// How a store is done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// The tree has no node yet.
    Plant,
    /// An entry comes to lie in this gap, and its leaf has room: the commonest store, and the shortest way.
    InGap { start: u64, end: u64 },
    /// It lies in one leaf, to which it does this.
    InLeaf(Edit),
    /// It ends in another leaf.
    Spanning,
}

impl Spot {
    /// Not looked at yet.
    #[inline(always)]
    pub(crate) const fn new(span: Span) -> Self {
        Self { path: Path::new(), span, need: Need { leaves: 0, inners: 0 }, way: Way::Plant }
    }

    /// Whether the tree has no node yet.
    #[inline(always)]
    pub(crate) const fn is_rootless(&self) -> bool {
        matches!(self.way, Way::Plant)
    }

    /// Whether the store ends in another leaf.
    #[inline(always)]
    pub(crate) const fn spans(&self) -> bool {
        matches!(self.way, Way::Spanning)
    }

    /// Whether nothing is where the store goes. A gap is whole, so what is free lies in one slot.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        match &self.way {
            Way::Plant | Way::InGap { .. } => true,
            Way::InLeaf(edit) => edit.is_in_gap(),
            Way::Spanning => false,
        }
    }
}

impl<S: Shape> Tree<S> {
    /// The first entry that a store meets which does not go to where nothing is.
    #[cold]
    pub(crate) fn first_entry(&self, spot: &Spot) -> Span {
        let slot = self.slot(&spot.path);
        match slot.span.last().checked_add(1) {
            Some(behind) if slot.entry.is_none() => self.slot_of(behind, &mut ()).span,
            _ => slot.span,
        }
    }

    /// Looks at a store of an entry, or of nothing, over the spot's range.
    #[inline]
    pub(crate) fn look(&self, spot: &mut Spot, entry: bool, probe: &mut impl Probe) {
        if self.height == 0 {
            spot.need.leaves = usize::from(entry);
            return;
        }
        let leaf = self.walk(spot.span.first(), &mut spot.path, probe);
        self.look_from(spot, leaf, entry, probe);
    }

    /// Looks at a store whose first index the path leads to, in this leaf.
    #[inline(always)]
    pub(crate) fn look_from(&self, spot: &mut Spot, leaf: &Leaf, entry: bool, probe: &mut impl Probe) {
        let leaf = if entry { leaf } else { self.widen(spot, leaf, probe) };
        let Spot { path, span, .. } = &*spot;
        if span.last() > path.whole.last() {
            let need = self.need_of_spanning(path, *span, entry, probe);
            if entry || need.nodes() == 0 || !self.can_move_edge(path, *span) {
                spot.need = need;
            }
            spot.way = Way::Spanning;
            return;
        }
        if entry && let Some((start, end)) = gap_with_room::<S>(leaf, path, *span) {
            spot.way = Way::InGap { start, end };
            return;
        }
        let edit = edit(leaf, path, *span, entry);
        if edit.words_after() > S::LEAF_WORDS {
            spot.need = self.need_of_split(path.above(), |_, len| len);
        }
        spot.way = Way::InLeaf(edit);
    }

    /// Gaps on either side of nothing that is to be stored become one with it. The leaf where it then begins.
    #[inline(never)]
    fn widen<'a>(&'a self, spot: &mut Spot, leaf: &'a Leaf, probe: &mut impl Probe) -> &'a Leaf {
        let Spot { path, span, .. } = spot;
        let whole = path.whole;
        let gap_in = |slot: usize| (!leaf.has_entry(slot)).then(|| leaf.span(slot, whole));
        let mut gap_at = |index: u64| {
            let slot = self.slot_of(index, probe);
            slot.entry.is_none().then_some((slot.span.first(), slot.span.last()))
        };
        let from = path.leaf().slot as usize;
        let (start, end) = leaf.span(from, whole);
        // A gap that the range begins in, or that ends where it begins; and likewise at its end.
        let below = match span.first().checked_sub(1) {
            _ if !leaf.has_entry(from) => Some((start, end)),
            Some(_) if start == span.first() && from > 0 => gap_in(from - 1),
            Some(before) if start == span.first() => gap_at(before),
            _ => None,
        };
        let above = if span.last() <= whole.last() {
            let to = if span.last() <= end { from } else { leaf.slot_of(span.last()) };
            let ends = leaf.span(to, whole).1 == span.last();
            match span.last().checked_add(1) {
                _ if !leaf.has_entry(to) => gap_in(to),
                Some(_) if ends && to + 1 < leaf.len() => gap_in(to + 1),
                Some(behind) if ends => gap_at(behind),
                _ => None,
            }
        } else {
            // Behind an entry that ends here is a gap that begins one index on; an entry that goes on has no gap there.
            gap_at(span.last()).or_else(|| span.last().checked_add(1).and_then(gap_at))
        };
        let first = below.map_or(span.first(), |(first, _)| first);
        *span = Span::new(first, above.map_or(span.last(), |(_, last)| last)).unwrap_or(*span);
        if first < whole.first() {
            return self.walk(first, path, probe);
        }
        if first < start {
            path.set_slot(from - 1);
        }
        leaf
    }

    /// The nodes that a split of a path's leaf takes, if the nodes above it have as many children as `len_of` says,
    /// told the depth and how many they have now.
    pub(super) fn need_of_split(&self, above: &[Step], len_of: impl Fn(usize, usize) -> usize) -> Need {
        let mut need = Need { leaves: 1, inners: 0 };
        for (depth, step) in above.iter().enumerate().rev() {
            if len_of(depth, self.inner(step.id).len()) < S::FANOUT {
                return need;
            }
            need.inners += 1;
        }
        // The root is split too, or is a leaf: there is a new root.
        need.inners += 1;
        need
    }

    /// Does what was looked at, in one leaf; the nodes are reserved. `twin` makes a second word of one that is on
    /// both sides afterwards; it is asked first, so if it panics nothing has changed.
    #[inline(always)]
    pub(crate) fn carry_out(
        &mut self,
        spot: &mut Spot,
        entry: Option<Word>,
        twin: impl FnOnce(Word) -> Word,
        words: &mut Words,
    ) {
        match &spot.way {
            &Way::InGap { start, end } => {
                entry.into_iter().for_each(|word| self.fill(&spot.path, (start, end), spot.span, word));
            }
            Way::InLeaf(edit) => self.put(&spot.path, edit, entry, twin, words),
            Way::Plant => entry.into_iter().for_each(|word| self.plant(spot.span, word)),
            Way::Spanning => debug_assert!(false, "a store that ends in another leaf is done in one"),
        }
    }

    /// The same for a store that ends in another leaf.
    #[inline(never)]
    pub(crate) fn carry_out_spanning(
        &mut self,
        spot: &mut Spot,
        entry: Option<Word>,
        words: &mut Words,
        subtrees: &mut Subtrees,
    ) {
        if entry.is_none() && self.move_edge(&spot.path, spot.span, words) {
            return;
        }
        self.clear_behind(&mut spot.path, spot.span, words, subtrees);
        // What is left of the first slot is left on one side: no entry is needed twice.
        let Spot { path, span, .. } = &*spot;
        let edit = edit(self.leaf_of(path), path, *span, entry.is_some());
        self.put(path, &edit, entry, |word| word, words);
        self.settle(spot.span.first());
        if let Some(behind) = spot.span.last().checked_add(1) {
            self.settle(behind);
        }
    }

    /// The first entry makes the first leaf.
    fn plant(&mut self, span: Span, word: Word) {
        self.root = self.new_leaf(|leaf| {
            *leaf = Leaf::EMPTY;
            leaf.fill(0, (0, u64::MAX), span, word);
        });
        self.height = 1;
        self.len = 1;
    }

    /// Makes the change of the path's leaf.
    #[inline(always)]
    fn put(
        &mut self,
        path: &Path,
        edit: &Edit,
        entry: Option<Word>,
        twin: impl FnOnce(Word) -> Word,
        words: &mut Words,
    ) {
        let leaf = self.leaf_mut(path.leaf().id);
        let mut second = None;
        // Where nothing was, no entry goes, and none is cut.
        if !edit.is_in_gap() {
            second = edit.splits_entry().then(|| twin(leaf.ranked(edit.replaced().start - 1)));
            words.extend(edit.replaced().map(|rank| leaf.ranked(rank)));
        }
        if edit.words_after() > S::LEAF_WORDS {
            self.split(path, edit, entry, second);
        } else {
            let lost = edit.reach_lost(leaf, path.whole);
            edit.apply(leaf, entry, second);
            self.gap_changed(path, edit, lost);
        }
        let (before, after) = edit.entries();
        self.len = self.len - before + after;
        if edit.words_after() < S::LEAF_MIN && edit.words_after() < edit.words_before() {
            self.thinned(path);
        }
    }

    /// A leaf has few entries left. Where there are others, it is filled up or merged; where there are none, a leaf
    /// of nothing but a gap goes.
    #[cold]
    pub(super) fn thinned(&mut self, path: &Path) {
        if self.height > 1 {
            self.settle(path.whole.first());
        } else if self.len == 0 {
            self.free_leaf(path.leaf().id);
            self.set_root(NONE, 0);
        }
    }

    /// Reserves what a store that was looked at takes.
    #[inline(always)]
    pub(crate) fn provide(&mut self, spot: &Spot) -> Result<(), OutOfMemory> {
        if spot.need.nodes() == 0 { Ok(()) } else { self.reserve(spot.need) }
    }
}

/// What a store over a range does to the leaf that it lies in, and to which the path leads.
#[inline(always)]
pub(super) fn edit(leaf: &Leaf, path: &Path, span: Span, entry: bool) -> Edit {
    let slot = path.leaf().slot as usize;
    Edit::new(leaf, path.whole, slot, span.first(), span.last(), entry)
}
