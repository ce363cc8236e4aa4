//! Where words become values again: the promises that [`StoredValue`] asks for are kept here.
//!
//! # Invariants
//! Every word in the tree came from `into_word` or `split` of the map's entry type, and is there once (M7). Words leave the
//! tree, and the tree is whole again, before their values are dropped: one whose drop panics is not met again, the
//! others are dropped all the same.

#![allow(unsafe_code)]

use super::{Cursor, CursorMut, Gaps, IntoIter, Iter, OccupiedEntry, RangeMap, Transaction, VacantEntry};
use crate::entry::{StoredValue, Word};
use core::marker::PhantomData;

// SAFETY: the tree's words are values of `E`, which the map owns as a `Vec<E>` would; its pointers are nothing else.
unsafe impl<E: StoredValue + Send> Send for RangeMap<E> {}
// SAFETY: a shared map gives out references to its values, hence `Sync`, and owned values that share with its own, by
// `get_owned` and `try_clone`, hence `Send`.
unsafe impl<E: StoredValue + Send + Sync> Sync for RangeMap<E> {}

/// What owns values, or borrows a map for itself alone, goes where the values may go; what shares a map, where they may be
/// shared.
macro_rules! as_its_map {
    (alone: $($alone:ty),*; shared: $($shared:ty),*) => {
        $(
            // SAFETY: its words are values that the borrowed map owns, or that it owns itself.
            unsafe impl<E: StoredValue + Send> Send for $alone {}
            // SAFETY: shared, it gives out no more than a shared map.
            unsafe impl<E: StoredValue + Send + Sync> Sync for $alone {}
        )*
        $(
            // SAFETY: it gives out no more than the shared map that it borrows.
            unsafe impl<E: StoredValue + Send + Sync> Send for $shared {}
            // SAFETY: likewise.
            unsafe impl<E: StoredValue + Send + Sync> Sync for $shared {}
        )*
    };
}

as_its_map! {
    alone: IntoIter<E>, CursorMut<'_, E>, OccupiedEntry<'_, E>, VacantEntry<'_, E>, Transaction<'_, E>;
    shared: Iter<'_, E>, Cursor<'_, E>
}

// SAFETY: it looks at no word.
unsafe impl Send for Gaps<'_> {}
// SAFETY: likewise.
unsafe impl Sync for Gaps<'_> {}

impl<E: StoredValue> RangeMap<E> {
    /// The value that a word of the map's tree stands for, as long as the map is not changed.
    #[inline]
    pub(super) fn borrow<'a>(&'a self, word: Word) -> E::Ref<'a>
    where
        E: 'a,
    {
        // SAFETY: the word is in the tree (M7), and stays there while the map is borrowed.
        unsafe { E::borrow(word) }
    }
}

/// The value of a word that has just left the tree, or never came there.
#[inline]
pub(super) fn take<E: StoredValue>(word: Word) -> E {
    // SAFETY: the word is not in a tree any more, so this is the only use of it (M7).
    unsafe { E::from_word(word) }
}

/// A second word for a value whose word is in the tree.
#[inline]
pub(super) fn split<E: StoredValue>(word: Word) -> Word {
    // SAFETY: the word is in the tree (M7).
    unsafe { E::split(word) }
}

/// Drops the values of words that have left the tree. If one panics, the others are dropped while it unwinds; a second
/// panic ends the process, as it does in the standard library's collections.
pub(super) fn drop_values<E: StoredValue>(words: impl Iterator<Item = Word>) {
    struct Rest<E: StoredValue, I: Iterator<Item = Word>>(I, PhantomData<E>);
    impl<E: StoredValue, I: Iterator<Item = Word>> Drop for Rest<E, I> {
        fn drop(&mut self) {
            self.0.by_ref().for_each(|word| drop(take::<E>(word)));
        }
    }
    let mut rest = Rest::<E, _>(words, PhantomData);
    for word in rest.0.by_ref() {
        drop(take::<E>(word));
    }
}

/// A value that may be shared and not sent:
///
/// ```
/// # use freehold_maple::{Plain, PlainValue, RangeMap};
/// # use std::marker::PhantomData;
/// #[derive(Clone, Copy)]
/// struct Here(PhantomData<*const ()>);
/// unsafe impl Sync for Here {}
/// impl PlainValue for Here {
///     fn to_bits(self) -> u64 { 0 }
///     fn from_bits(_: u64) -> Self { Self(PhantomData) }
/// }
/// fn shared<T: Sync>(_: &T) {}
/// let map = RangeMap::<Plain<Here>>::new();
/// shared(&Plain(Here(PhantomData)));
/// ```
///
/// A map of such values is not shared either, since [`RangeMap::get_owned`] would send one:
///
/// ```compile_fail,E0277
/// # use freehold_maple::{Plain, PlainValue, RangeMap};
/// # use std::marker::PhantomData;
/// #[derive(Clone, Copy)]
/// struct Here(PhantomData<*const ()>);
/// unsafe impl Sync for Here {}
/// impl PlainValue for Here {
///     fn to_bits(self) -> u64 { 0 }
///     fn from_bits(_: u64) -> Self { Self(PhantomData) }
/// }
/// fn shared<T: Sync>(_: &T) {}
/// let map = RangeMap::<Plain<Here>>::new();
/// shared(&map);
/// ```
#[cfg(doctest)]
struct NotShared;
