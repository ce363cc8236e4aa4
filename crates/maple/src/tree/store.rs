//! Stores over a range: first planned, with the nodes that they take, then committed.
//!
//! The functions that are `inline(always)` here, in `walk.rs`, `gaps.rs`, `node/edit.rs` and `shared/write.rs` make a
//! store one piece from its walk to its edit, whose plan does not go through memory. Without these twelve, a sequential
//! insert takes 734 instructions instead of 624, and a store over exactly a range 348 instead of 309, of `bench maple
//! --instructions` at 100 ranges.

use super::path::Step;
use super::{Memory, Need, Path, Subtrees, Tree, Words, indexes};
use crate::OutOfMemory;
use crate::entry::Word;
use crate::error::InsertError;
use crate::node::{Edit, Leaf, NONE, Replace};
use freehold_units::Span;

/// The place of a store and the nodes it takes. Valid until the tree changes.
#[derive(Clone, Debug)]
pub(crate) struct StorePlan {
    /// The path to the leaf and slot where the store begins.
    pub(crate) path: Path,
    /// The index range of the store. For a removal, the whole gap that it leaves.
    pub(crate) span: Span,
    /// The nodes that it takes.
    pub(crate) need: Need,
    pub(crate) kind: StoreKind,
}

/// The kind of a store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StoreKind {
    /// The tree has no node yet.
    NewRoot,
    /// It lies in one leaf, to which it makes this edit.
    InLeaf(Edit),
    /// It ends in another leaf.
    Spanning,
}

impl StorePlan {
    /// A plan that is still to be made.
    #[inline]
    pub(crate) const fn new(span: Span) -> Self {
        Self { path: Path::new(), span, need: Need { leaves: 0, inners: 0 }, kind: StoreKind::NewRoot }
    }

    /// Whether the tree has no node yet.
    #[inline]
    pub(crate) const fn is_rootless(&self) -> bool {
        matches!(self.kind, StoreKind::NewRoot)
    }

    /// Whether the store ends in another leaf.
    #[inline]
    pub(crate) const fn is_spanning(&self) -> bool {
        matches!(self.kind, StoreKind::Spanning)
    }

    /// Whether the store overlaps no entry. A gap is one slot, so a free range lies in one leaf.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        match &self.kind {
            StoreKind::NewRoot => true,
            StoreKind::InLeaf(edit) => edit.is_in_gap(),
            StoreKind::Spanning => false,
        }
    }
}

impl<M: Memory> Tree<M> {
    /// The range of the first entry that a store overlaps.
    #[cold]
    pub(crate) fn first_entry(&self, plan: &StorePlan) -> Span {
        let slot = self.slot(&plan.path);
        match slot.span.last().checked_add(1) {
            Some(behind) if slot.entry.is_none() => self.slot_of(behind).span,
            _ => slot.span,
        }
    }

    /// Refuses a planned store that overlaps an entry.
    #[inline]
    pub(crate) fn check_free(&self, plan: &StorePlan) -> Result<(), InsertError> {
        if plan.is_free() { Ok(()) } else { Err(InsertError::Occupied { entry: self.first_entry(plan) }) }
    }

    /// Plans a store of an entry over the plan's range, or the removal of everything there.
    #[inline]
    pub(crate) fn plan(&self, plan: &mut StorePlan, entry: bool) {
        if self.height == 0 {
            plan.need.leaves = usize::from(entry);
            return;
        }
        let leaf = self.walk(plan.span.first(), &mut plan.path);
        self.plan_from(plan, leaf, entry);
    }

    /// Plans a store, and reserves the nodes that it takes.
    #[inline]
    pub(crate) fn plan_and_reserve(&mut self, plan: &mut StorePlan, entry: bool) -> Result<(), OutOfMemory> {
        self.plan(plan, entry);
        self.reserve(plan)
    }

    /// The word of the entry that a planned store cuts in two, if it cuts one.
    #[inline]
    pub(crate) fn cut_word(&self, plan: &StorePlan) -> Option<Word> {
        match &plan.kind {
            StoreKind::InLeaf(Edit::Replace(edit)) => {
                edit.split_entry().map(|slot| self.leaf_of(&plan.path).word(slot))
            }
            _ => None,
        }
    }

    /// Plans a store whose first index is in this leaf, to which the plan's path leads.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    pub(crate) fn plan_from(&self, plan: &mut StorePlan, leaf: &Leaf, entry: bool) {
        let leaf = if entry { leaf } else { self.extend_null(plan, leaf) };
        let StorePlan { path, span, .. } = &*plan;
        if span.last() > path.whole.last() {
            let need = self.need_of_spanning(path, *span);
            if entry || need.nodes() == 0 || !self.can_move_edge(path, *span) {
                plan.need = need;
            }
            plan.kind = StoreKind::Spanning;
            return;
        }
        let slot = path.leaf().slot as usize;
        if entry && let Some(edit) = Edit::of_entry(leaf, path.whole, slot, *span, &self.limits) {
            plan.kind = StoreKind::InLeaf(edit);
            return;
        }
        let edit = replace_edit(leaf, path, *span, entry);
        if edit.slots_after() > self.limits.leaf_slots {
            plan.need = self.need_of_split(path.above(), |_, len| len);
        }
        plan.kind = StoreKind::InLeaf(Edit::Replace(edit));
    }

    /// Plans the removal of the whole entry that contains an index; returns its range.
    #[inline]
    pub(crate) fn plan_erase_at(&self, plan: &mut StorePlan, index: u64) -> Option<Span> {
        if self.height == 0 {
            return None;
        }
        let leaf = self.walk(index, &mut plan.path);
        let slot = plan.path.leaf().slot as usize;
        if !leaf.has_entry(slot) {
            return None;
        }
        let (first, last) = leaf.span(slot, plan.path.whole);
        let span = indexes(first, last);
        self.plan_erase(plan, leaf, span);
        Some(span)
    }

    /// Plans the removal of the whole entry in the slot that the plan's path leads to. `span` is its range.
    #[inline]
    pub(crate) fn plan_erase(&self, plan: &mut StorePlan, leaf: &Leaf, span: Span) {
        match Edit::vacate(leaf, plan.path.whole, plan.path.leaf().slot as usize) {
            Some((edit, gap)) => (plan.span, plan.kind) = (gap, StoreKind::InLeaf(edit)),
            None => {
                plan.span = span;
                self.plan_from(plan, leaf, false);
            }
        }
    }

    /// Extends a removal over the gaps beside it, so that it leaves a single gap (M2). Returns the leaf where it then
    /// begins.
    #[inline(never)]
    fn extend_null<'a>(&'a self, plan: &mut StorePlan, leaf: &'a Leaf) -> &'a Leaf {
        let StorePlan { path, span, .. } = plan;
        let whole = path.whole;
        let gap_in = |slot: usize| (!leaf.has_entry(slot)).then(|| leaf.span(slot, whole));
        let gap_at = |index: u64| {
            let slot = self.slot_of(index);
            slot.entry.is_none().then_some((slot.span.first(), slot.span.last()))
        };
        let from = path.leaf().slot as usize;
        let (start, end) = leaf.span(from, whole);
        // `below`: the gap that contains or touches the start of the range. `above`: the same for its end.
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
            // If an entry ends here, the gap may begin one index later. If the entry goes on, there is no gap there.
            gap_at(span.last()).or_else(|| span.last().checked_add(1).and_then(gap_at))
        };
        let first = below.map_or(span.first(), |(first, _)| first);
        *span = indexes(first, above.map_or(span.last(), |(_, last)| last));
        if first < whole.first() {
            return self.walk(first, path);
        }
        if first < start {
            path.set_slot(from - 1);
        }
        leaf
    }

    /// The nodes that a split of a path's leaf takes. `len_of` gets the depth of a node above and its present number of
    /// children, and returns the number to assume.
    pub(super) fn need_of_split(&self, above: &[Step], len_of: impl Fn(usize, usize) -> usize) -> Need {
        let mut need = Need { leaves: 1, inners: 0 };
        for (depth, step) in above.iter().enumerate().rev() {
            if len_of(depth, self.inner(step.id).len()) < self.limits.fanout {
                return need;
            }
            need.inners += 1;
        }
        // The root is split too, or is a leaf: there is a new root.
        need.inners += 1;
        need
    }

    /// Reserves the nodes that a plan takes: the only step of a store that can fail.
    #[inline]
    pub(crate) fn reserve(&mut self, plan: &StorePlan) -> Result<(), OutOfMemory> {
        if plan.need.nodes() == 0 { Ok(()) } else { self.reserve_nodes(plan.need) }
    }

    /// Makes a planned store that lies in one leaf, whose nodes are reserved. `duplicate` makes the second word of an
    /// entry that is cut in two. It is called before anything changes, since it may panic.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    pub(crate) fn commit(
        &mut self,
        plan: &StorePlan,
        entry: Option<Word>,
        duplicate: impl FnOnce(Word) -> Word,
        removed: &mut impl Extend<Word>,
    ) {
        match &plan.kind {
            StoreKind::InLeaf(edit) => self.edit_leaf(plan, edit, entry, duplicate, removed),
            StoreKind::NewRoot => entry.into_iter().for_each(|word| self.insert_root(plan.span, word)),
            StoreKind::Spanning => unreachable!("M1: a store that ends in another leaf is done in one"),
        }
    }

    /// Makes a planned store that ends in another leaf.
    #[inline(never)]
    pub(crate) fn commit_spanning(
        &mut self,
        plan: &mut StorePlan,
        entry: Option<Word>,
        removed: &mut Words,
        subtrees: &mut Subtrees,
    ) {
        if entry.is_none() && self.move_edge(&mut plan.path, plan.span, removed) {
            return;
        }
        let StorePlan { path, span, .. } = &mut *plan;
        let next = entry.and_then(|_| {
            self.grow_into_gap(path, *span, removed).or_else(|| self.stretch_over_edge(path, *span, removed))
        });
        if next.is_none() {
            self.clear_behind(path, *span, removed, subtrees);
        }
        // The rest of the first slot is on one side only: no entry is needed twice.
        let StorePlan { path, span, .. } = &*plan;
        let edit = replace_edit(self.leaf_of(path), path, *span, entry.is_some());
        // If the next leaf only gave way, no inner node has lost a child.
        let is_refilled = next
            .is_some_and(|next| edit.slots_after() >= self.limits.leaf_min && !self.is_underfull(next, 1));
        self.replace(path, &edit, entry, |word| word, removed);
        if is_refilled {
            return;
        }
        self.fix_underfull_path(span.first());
        if let Some(behind) = path.whole.last().checked_add(1) {
            self.fix_underfull_path(behind);
        }
    }

    /// The first entry makes the first leaf.
    fn insert_root(&mut self, span: Span, word: Word) {
        self.root = self.new_leaf(|leaf| {
            *leaf = Leaf::WITHOUT_SLOTS;
            // A slot is stored with the last index of the one before it.
            let before = span.first().wrapping_sub(1);
            if span.first() > 0 {
                leaf.push(before, None);
            }
            leaf.push(before, Some(word));
            if span.last() < u64::MAX {
                leaf.push(span.last(), None);
            }
        });
        self.height = 1;
        self.len = 1;
    }

    /// Makes the edit of the path's leaf.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    fn edit_leaf(
        &mut self,
        plan: &StorePlan,
        edit: &Edit,
        entry: Option<Word>,
        duplicate: impl FnOnce(Word) -> Word,
        removed: &mut impl Extend<Word>,
    ) {
        let path = &plan.path;
        let id = path.leaf().id;
        match edit {
            Edit::Fill(fill) => {
                let word = entry.expect("M2: nothing is stored into a gap");
                fill.apply(self.leaf_mut(id), plan.span, word);
                self.len += 1;
                self.gap_filled(path, fill, plan.span);
            }
            Edit::Vacate(vacate) => {
                let limits = self.limits;
                let leaf = self.leaf_mut(id);
                let before = leaf.len();
                removed.extend([vacate.apply(leaf)]);
                let is_underfull = limits.underfills(before, leaf.len());
                self.len -= 1;
                self.gap_grown(path, vacate.reach());
                if is_underfull || self.len == 0 {
                    self.fix_underfull(path);
                }
            }
            &Edit::Exchange(slot) => {
                let word = entry.expect("M2: nothing is stored over an entry");
                removed.extend([self.leaf(id).word(slot)]);
                self.set_word(id, slot, word);
            }
            Edit::Replace(edit) => self.replace(path, edit, entry, duplicate, removed),
        }
    }

    /// Replaces slots of the path's leaf, which splits if they do not fit.
    #[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
    fn replace(
        &mut self,
        path: &Path,
        edit: &Replace,
        entry: Option<Word>,
        duplicate: impl FnOnce(Word) -> Word,
        removed: &mut impl Extend<Word>,
    ) {
        let limits = self.limits;
        let leaf = self.leaf_mut(path.leaf().id);
        let mut second = None;
        // In a gap, no entry is removed and none is cut.
        if !edit.is_in_gap() {
            second = edit.split_entry().map(|slot| duplicate(leaf.word(slot)));
            removed.extend(leaf.words(edit.replaced()));
        }
        if edit.slots_after() > limits.leaf_slots {
            self.split(path, edit, entry, second);
        } else {
            let lost = edit.reach_lost(leaf, path.whole);
            edit.apply(leaf, entry, second);
            self.gap_replaced(path, lost, edit.reach_after());
        }
        let (before, after) = edit.entries();
        self.len = self.len - before + after;
        if limits.underfills(edit.slots_before(), edit.slots_after()) || self.len == 0 {
            self.fix_underfull(path);
        }
    }

    /// Refills an underfull leaf from a neighbour, or merges it with one. Removes a root leaf that is one gap.
    #[cold]
    #[inline]
    fn fix_underfull(&mut self, path: &Path) {
        if self.height > 1 {
            let is_private = !M::HAS_READERS || self.version.open().is_some();
            debug_assert!(is_private, "M10: nodes beside the leaf are changed in a version alone");
            self.fix_underfull_path(path.whole.first());
        } else if self.len == 0 {
            self.free_leaf(path.leaf().id);
            self.set_root(NONE, 0);
        }
    }
}

/// The edit that a store within one leaf makes.
#[inline(always)] // with the others of a store: an insert takes 624 instructions, 734 without (`tree/store.rs`)
pub(crate) fn replace_edit(leaf: &Leaf, path: &Path, span: Span, entry: bool) -> Replace {
    Replace::new(leaf, path.whole, path.leaf().slot as usize, span.first(), span.last(), entry)
}
