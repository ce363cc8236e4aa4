//! Turns words back into values, and meets the requirements of [`StoredValue`].
//!
//! # Invariants
//! - Every word in a map's tree came from `into_word` or `split` of the map's type, stands for one value, and is in
//!   that tree once (M7). The functions here that take a word rely on that. No other file of the map can turn a word
//!   into a value.
//! - Words leave the tree, and the tree is whole again, before their values are dropped. So if a drop panics, no word
//!   of a dropped value is left in the tree, and the other values are dropped during the unwind.

#![allow(unsafe_code)]

use super::{
    Changes, Cursor, CursorMut, Gaps, GapsWithin, IntoIter, Iter, OccupiedEntry, Removed, Transaction,
    VacantEntry, WordMap, overlap,
};
use crate::drop_all::drop_all;
use crate::entry::{StoredValue, Word};
use crate::tree::{Direction, StorePlan, Subtrees, Tree, Words};
use crate::value_arena::Place;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use freehold_units::Span;

// SAFETY: the tree's words are values of `E`, which the map owns as a `Vec<E>` would; its pointers are only those
// words.
unsafe impl<E: StoredValue + Send> Send for WordMap<E> {}
// SAFETY:
// - A shared map hands out references to its values: hence `Sync`.
// - By `get_owned` and `try_clone` it hands out owned values that share with its own: hence `Send`.
unsafe impl<E: StoredValue + Send + Sync> Sync for WordMap<E> {}

/// `alone`: types that own values, or borrow a map mutably, are `Send` if the values are. `shared`: types that share a
/// map are `Send` if the values may be shared.
macro_rules! as_its_map {
    (alone: $($alone:ty),*; shared: $($shared:ty),*) => {
        $(
            // SAFETY: its words are values that the borrowed map owns, or that it owns itself.
            unsafe impl<E: StoredValue + Send> Send for $alone {}
            // SAFETY: a shared reference to it gives no more access than a shared map.
            unsafe impl<E: StoredValue + Send + Sync> Sync for $alone {}
        )*
        $(
            // SAFETY: it gives no more access than the shared map that it borrows.
            unsafe impl<E: StoredValue + Send + Sync> Send for $shared {}
            // SAFETY: as above.
            unsafe impl<E: StoredValue + Send + Sync> Sync for $shared {}
        )*
    };
}

as_its_map! {
    alone: IntoIter<E>, CursorMut<'_, E>, OccupiedEntry<'_, E>, VacantEntry<'_, E>, Transaction<'_, E>;
    shared: Iter<'_, E>, Cursor<'_, E>
}

/// Types that make no value of a word.
macro_rules! without_values {
    ($($type:ty $(, $key:ident)?;)*) => {$(
        // SAFETY: it makes no value of a word.
        unsafe impl$(<$key>)? Send for $type {}
        // SAFETY: as above.
        unsafe impl$(<$key>)? Sync for $type {}
    )*};
}

// A `RangeMap`'s transaction has `Changes`, too, and its values beside them.
without_values! { Gaps<'_, K>, K; GapsWithin<'_, K>, K; Changes; }

impl<E: StoredValue> WordMap<E> {
    /// The value of a word in the map's tree.
    #[inline]
    pub(super) fn borrow<'a>(&'a self, word: Word) -> E::Ref<'a>
    where
        E: 'a,
    {
        // SAFETY: the word is in the tree (M7), and stays there while the map is borrowed.
        unsafe { E::borrow(word) }
    }

    /// A split of the value of a word in the map's tree.
    pub(super) fn owned(&self, word: Word) -> E {
        // SAFETY:
        // - The word is in the tree (M7).
        // - The second word is used only here.
        unsafe { E::from_word(E::split(word)) }
    }

    /// The same map with a copy of this map's tree: splits each word, so that no word is in two trees.
    pub(super) fn with_copied_tree(&self, mut copy: Tree) -> Self {
        if !E::SPLITS_AS_COPY {
            // SAFETY: the word is in this map's tree, too (M7).
            copy.replace_words(|word| unsafe { E::split(word) });
        }
        Self::of_tree(copy)
    }

    /// Makes a planned store whose nodes are reserved, and drops the values that it removes.
    #[inline]
    pub(crate) fn commit(&mut self, plan: &mut StorePlan, value: Option<E>) {
        // SAFETY: the word is in the tree (M7).
        let second = |word| unsafe { E::split(word) };
        // SAFETY: the word has left the tree (M7).
        let value_of = mem::needs_drop::<E>().then_some(|word| unsafe { E::from_word(word) });
        self.commit_words(plan, value.map(E::into_word), second, value_of);
    }

    /// Makes a planned store whose nodes are reserved. `second` makes the second word of an entry that is cut in two,
    /// before anything changes. `value_of` makes the values of removed words, which are dropped once the tree is whole
    /// again.
    #[inline]
    pub(crate) fn commit_words<T>(
        &mut self,
        plan: &mut StorePlan,
        entry: Option<Word>,
        second: impl FnOnce(Word) -> Word,
        value_of: Option<impl FnMut(Word) -> T>,
    ) {
        self.end_forgotten();
        if plan.is_spanning() {
            return self.commit_spanning(plan, entry, value_of);
        }
        let mut removed = Words::new();
        self.tree.commit(plan, entry, second, &mut removed);
        if let Some(value_of) = value_of
            && !removed.is_empty()
        {
            drop_all(removed.drain(..).map(value_of));
        }
    }

    /// Makes a planned store, and returns what it removes within `span`, for which `taken` has capacity. If a split
    /// panics, nothing has changed.
    ///
    /// The first and the last entry may be cut, or one in two. All splits come before a word is turned back into its
    /// value, after which it stands for nothing: the words must be in the tree if a split panics.
    pub(super) fn commit_taking(
        &mut self,
        plan: &mut StorePlan,
        span: Span,
        value: Option<E>,
        taken: Vec<(Span, E)>,
    ) -> Removed<E> {
        let owned = |index: u64, is_cut: fn(Span, Span) -> bool| {
            let slot = self.tree.slot_of(index);
            slot.entry.filter(|_| is_cut(slot.span, span)).map(|word| self.owned(word))
        };
        let mut last = owned(span.last(), |part, span| part.last() > span.last());
        let starts_before =
            |part: Span, span: Span| part.first() < span.first() && part.last() <= span.last();
        let mut first = owned(span.first(), starts_before);
        // SAFETY: the word is in the tree (M7).
        let second = self.tree.cut_word(plan).map(|word| unsafe { E::split(word) });
        // If something panics, values whose words are still in the tree must not be dropped.
        let mut taken = ManuallyDrop::new(taken);
        for (part, word) in self.tree.entries_from(span.first()).take_while(|(part, _)| part.overlaps(span)) {
            let value = if span.covers(part) {
                // SAFETY:
                // - The word leaves the tree below (M7).
                // - Until then its value is not used.
                unsafe { E::from_word(word) }
            } else {
                let end = if part.last() > span.last() { &mut last } else { &mut first };
                end.take().expect("M1: entries do not overlap, so each end of a range cuts one")
            };
            taken.push((overlap(part, span), value));
        }
        let second = |_| second.expect("M8: a cut entry has a second value");
        self.commit_words(plan, value.map(E::into_word), second, Some(drop));
        Removed::new(ManuallyDrop::into_inner(taken))
    }

    /// Makes a planned store that lies in one leaf.
    #[inline]
    pub(super) fn commit_in_leaf(&mut self, plan: &StorePlan, entry: Option<Word>, removed: &mut Words) {
        // SAFETY: the word is in the tree (M7).
        self.tree.commit(plan, entry, |word| unsafe { E::split(word) }, removed);
    }

    #[inline(never)]
    fn commit_spanning<T>(
        &mut self,
        plan: &mut StorePlan,
        entry: Option<Word>,
        mut value_of: Option<impl FnMut(Word) -> T>,
    ) {
        let (mut words, mut subtrees) = (Words::new(), Subtrees::new());
        self.tree.commit_spanning(plan, entry, &mut words, &mut subtrees);
        let removed = core::iter::from_fn(|| self.tree.next_removed(&mut words, &mut subtrees));
        drop_all(removed.map(|word| value_of.as_mut().map(|value_of| value_of(word))));
    }

    /// Makes a planned store that removes exactly one entry; returns the entry's value.
    #[inline]
    pub(super) fn commit_one(&mut self, plan: &mut StorePlan, value: Option<E>) -> E {
        self.end_forgotten();
        let mut removed = Words::new();
        if plan.is_spanning() {
            debug_assert!(value.is_none(), "M1: an entry that replaces one has its slot");
            self.remove_one_spanning(plan, &mut removed);
        } else {
            self.commit_in_leaf(plan, value.map(E::into_word), &mut removed);
        }
        let word = removed.pop().expect("M7: the entry's word leaves the tree");
        // SAFETY: the word has left the tree (M7).
        unsafe { E::from_word(word) }
    }

    /// A removal over an edge between leaves. The nodes that it removes hold at most one entry.
    #[inline(never)]
    fn remove_one_spanning(&mut self, plan: &mut StorePlan, removed: &mut Words) {
        let mut subtrees = Subtrees::new();
        self.tree.commit_spanning(plan, None, removed, &mut subtrees);
        let mut last = None;
        while let Some(word) = self.tree.next_removed(removed, &mut subtrees) {
            last = Some(word);
        }
        removed.extend(last);
    }

    /// Removes all entries, and keeps the memory for others.
    ///
    /// Cost: O(n) for n entries.
    pub fn clear(&mut self) {
        self.end_forgotten();
        if !mem::needs_drop::<E>() {
            return self.tree.vacate();
        }
        let mut all = Subtrees::new();
        all.extend(self.tree.take_root());
        let mut words = Words::new();
        drop_all(core::iter::from_fn(|| self.tree.next_removed(&mut words, &mut all)).map(to_drop::<E>));
    }
}

impl<E: StoredValue> IntoIter<E> {
    /// The next value from one of the ends.
    pub(super) fn next_value(&mut self, direction: Direction) -> Option<(Span, E)> {
        let (span, word) = self.next_word(direction)?;
        // SAFETY: the iterator owns the tree, and returns each of its words once (M7).
        Some((span, unsafe { E::from_word(word) }))
    }
}

impl<E: StoredValue> Transaction<'_, E> {
    /// Makes a planned store.
    pub(super) fn apply(&mut self, plan: &mut StorePlan, value: Option<E>) {
        // SAFETY: the word is in the tree (M7).
        let second = |word| unsafe { E::split(word) };
        self.changes.apply(&mut self.map.tree, plan, value.map(E::into_word), second);
    }
}

impl<E: StoredValue> Drop for Transaction<'_, E> {
    fn drop(&mut self) {
        // By a commit, the words that its stores removed leave the tree; by an undo, those that they put in.
        self.changes.end(&mut self.map.tree, self.committed, to_drop::<E>);
    }
}

/// The value of a word that has left the tree, to be dropped; `None` if values of the type need no drop.
fn to_drop<E: StoredValue>(word: Word) -> Option<E> {
    // SAFETY: the word has left the tree, and is not used again (M7).
    mem::needs_drop::<E>().then(|| unsafe { E::from_word(word) })
}

/// A word that is in no tree yet. Its value is dropped unless [`stored`](Self::stored) is called.
pub(crate) struct NewWord<E: StoredValue>(Word, PhantomData<E>);

impl<E: StoredValue> NewWord<E> {
    pub(crate) fn new(value: E) -> Self {
        Self(value.into_word(), PhantomData)
    }

    /// The word, to be put into a tree. Call [`stored`](Self::stored) afterwards.
    pub(crate) fn word(&self) -> Word {
        self.0
    }

    /// Records that the word is in a tree.
    pub(crate) fn stored(self) {
        mem::forget(self);
    }

    /// The value.
    pub(super) fn borrow(&self) -> E::Ref<'_> {
        // SAFETY: the word is taken back by `into_value` and by the drop alone, after this borrow.
        unsafe { E::borrow(self.0) }
    }

    /// Returns the value of a word that was not put into a tree.
    pub(crate) fn into_value(self) -> E {
        let this = ManuallyDrop::new(self);
        // SAFETY: the word is in no tree, and not used again (M7).
        unsafe { E::from_word(this.0) }
    }
}

impl<E: StoredValue> Drop for NewWord<E> {
    fn drop(&mut self) {
        drop(to_drop::<E>(self.0));
    }
}

/// Entries of a [`RangeMap`](crate::RangeMap) with mutable values.
pub(crate) struct IterMut<'a, V> {
    numbers: Iter<'a, u32>,
    /// The first place of the values.
    places: *mut Place<V>,
    len: usize,
    borrowed: PhantomData<&'a mut Place<V>>,
}

// SAFETY: it hands out mutable references to values, as a `&mut [V]` does.
unsafe impl<V: Send> Send for IterMut<'_, V> {}
// SAFETY: a shared reference to it gives access to no value.
unsafe impl<V: Sync> Sync for IterMut<'_, V> {}

impl<'a, V> IterMut<'a, V> {
    /// Iterates over the values of the places with the numbers in `numbers`, each of which is in a map's tree once
    /// (M8).
    pub(crate) fn new(numbers: Iter<'a, u32>, places: &'a mut [Place<V>]) -> Self {
        Self { numbers, places: places.as_mut_ptr(), len: places.len(), borrowed: PhantomData }
    }

    #[inline]
    fn value(&self, number: u32) -> &'a mut V {
        assert!((number as usize) < self.len, "M8: a number in the tree has a value");
        // SAFETY:
        // - The place is one of those borrowed for `'a`.
        // - This is the only reference to it: a number is in the tree once (M8), and an iteration returns each entry
        //   once.
        match unsafe { &mut *self.places.add(number as usize) } {
            Place::Value(value) => value,
            Place::Vacant(_) => unreachable!("M8: a number in the tree has a value"),
        }
    }
}

impl<'a, V> Iterator for IterMut<'a, V> {
    type Item = (Span, &'a mut V);

    #[inline(always)] // as `Iter::next` of a `RangeMap`
    fn next(&mut self) -> Option<Self::Item> {
        self.numbers.next().map(|(span, number)| (span, self.value(number)))
    }
}

impl<V> DoubleEndedIterator for IterMut<'_, V> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.numbers.next_back().map(|(span, number)| (span, self.value(number)))
    }
}
