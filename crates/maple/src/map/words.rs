//! Where words become values again: the promises that [`Entry`] asks for are kept here.
//!
//! # Invariants
//! Every word in the tree came from `into_word` or `split` of the map's entry type, and is there once (M7). Words leave the
//! tree, and the tree is whole again, before their values are dropped: one whose drop panics is not met again, the
//! others are dropped all the same.

#![allow(unsafe_code)]

use super::{Cursor, CursorMut, Gaps, IntoIter, Iter, OccupiedEntry, RangeMap, Transaction, VacantEntry};
use crate::entry::{Entry, Word};
use crate::node::Shape;
use core::marker::PhantomData;

// SAFETY: the tree's words are values of `E`, which the map owns as a `Vec<E>` would; its pointers are nothing else.
unsafe impl<E: Entry + Send, S: Shape> Send for RangeMap<E, S> {}
// SAFETY: a shared map gives out no more than `E::Ref` of shared values.
unsafe impl<E: Entry + Sync, S: Shape> Sync for RangeMap<E, S> {}

/// What owns values, or borrows a map for itself alone, goes where the values may go; what shares a map, where they may be
/// shared.
macro_rules! as_its_map {
    (alone: $($alone:ty),*; shared: $($shared:ty),*) => {
        $(
            // SAFETY: its words are values that the borrowed map owns, or that it owns itself.
            unsafe impl<E: Entry + Send, S: Shape> Send for $alone {}
            // SAFETY: shared, it gives out no more than a shared map.
            unsafe impl<E: Entry + Sync, S: Shape> Sync for $alone {}
        )*
        $(
            // SAFETY: it gives out no more than the shared map that it borrows.
            unsafe impl<E: Entry + Sync, S: Shape> Send for $shared {}
            // SAFETY: likewise.
            unsafe impl<E: Entry + Sync, S: Shape> Sync for $shared {}
        )*
    };
}

as_its_map! {
    alone: IntoIter<E, S>, CursorMut<'_, E, S>, OccupiedEntry<'_, E, S>, VacantEntry<'_, E, S>, Transaction<'_, E, S>;
    shared: Iter<'_, E, S>, Cursor<'_, E, S>
}

// SAFETY: it looks at no word.
unsafe impl<S: Shape> Send for Gaps<'_, S> {}
// SAFETY: likewise.
unsafe impl<S: Shape> Sync for Gaps<'_, S> {}

impl<E: Entry, S: Shape> RangeMap<E, S> {
    /// The value that a word of the map's tree stands for, as long as the map is not changed.
    #[inline(always)]
    pub(super) fn borrow<'a>(&'a self, word: Word) -> E::Ref<'a>
    where
        E: 'a,
    {
        // SAFETY: the word is in the tree (M7), and stays there while the map is borrowed.
        unsafe { E::borrow(word) }
    }
}

/// The value of a word that has just left the tree, or never came there.
#[inline(always)]
pub(super) fn take<E: Entry>(word: Word) -> E {
    // SAFETY: the word is not in a tree any more, so this is the only use of it (M7).
    unsafe { E::from_word(word) }
}

/// A second word for a value whose word is in the tree.
#[inline(always)]
pub(super) fn split<E: Entry>(word: Word) -> Word {
    // SAFETY: the word is in the tree (M7).
    unsafe { E::split(word) }
}

/// Drops the values of words that have left the tree. If one panics, the others are dropped while it unwinds; a second
/// panic ends the process, as it does in the standard library's collections.
pub(super) fn drop_values<E: Entry>(words: impl Iterator<Item = Word>) {
    struct Rest<E: Entry, I: Iterator<Item = Word>>(I, PhantomData<E>);
    impl<E: Entry, I: Iterator<Item = Word>> Drop for Rest<E, I> {
        fn drop(&mut self) {
            self.0.by_ref().for_each(|word| drop(take::<E>(word)));
        }
    }
    let mut rest = Rest::<E, _>(words, PhantomData);
    for word in rest.0.by_ref() {
        drop(take::<E>(word));
    }
}
