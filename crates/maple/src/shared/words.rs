//! Turns the words of a shared tree back into values.
//!
//! # Invariants
//! Every word in the published version came from `into_word` or `split` of the map's type, stands for one value, and is
//! there once (M7). A word that left it is turned back into its value only after a grace period, when no reader can
//! have it.

#![allow(unsafe_code)]

use super::MapleTree;
use super::view::Reading;
use crate::drop_all::drop_all;
use crate::entry::{StoredValue, Word};
use crate::error::WriteError;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem;

// SAFETY: the tree's words are values of `E`, which the map owns; its other pointers are only its nodes.
unsafe impl<E: StoredValue + Send> Send for MapleTree<E> {}
// SAFETY:
// - A shared map hands out references to its values: hence `Sync`.
// - It takes values, drops them on any thread, and hands out values that share with its own: hence `Send`.
// - All changes are made under its lock.
unsafe impl<E: StoredValue + Send + Sync> Sync for MapleTree<E> {}

impl<E: StoredValue, K> Reading<'_, E, K> {
    /// The value of a word that is in the guard's view.
    #[inline]
    pub(super) fn borrow<'r>(&'r self, word: Word) -> E::Ref<'r>
    where
        E: 'r,
    {
        // SAFETY:
        // - The word was in a published version while the guard was held (M7).
        // - So its value is not taken back before the guard ends, which outlives `'r`.
        unsafe { E::borrow(word) }
    }

    /// A split of the value of a word that is in the guard's view.
    pub(super) fn owned(&self, word: Word) -> E {
        // SAFETY: as for `borrow`; the second word is used here alone.
        unsafe { E::from_word(E::split(word)) }
    }
}

impl<E: StoredValue> MapleTree<E> {
    /// A second word for a value in the tree.
    pub(super) fn split(word: Word) -> Word {
        // SAFETY: the word is in the writer's tree (M7).
        unsafe { E::split(word) }
    }

    /// The value of a word that is in no version, and that no reader can have.
    pub(super) fn value(word: Word) -> E {
        // SAFETY: the word stands for a value that nobody else has (M7).
        unsafe { E::from_word(word) }
    }
}

/// The value of a word in the version of a transaction.
pub(super) fn borrow_from<'r, T, E: StoredValue + 'r>(_transaction: &'r T, word: Word) -> E::Ref<'r> {
    // SAFETY:
    // - The word is in the version (M7).
    // - A word that leaves the version is not dropped before the transaction, which outlives `'r`.
    unsafe { E::borrow(word) }
}

/// Values that were removed earlier, and that no reader can have any more. They are dropped with it.
///
/// Operations drop them after releasing the map's lock. A caller that holds a lock of its own, which such a drop may
/// want to take, uses the methods that return them, and drops them later.
pub struct Reclaimed<E: StoredValue>(Vec<Word>, PhantomData<E>);

// SAFETY: its words are values that it owns.
unsafe impl<E: StoredValue + Send> Send for Reclaimed<E> {}
// SAFETY: a shared reference gives access to no value.
unsafe impl<E: StoredValue> Sync for Reclaimed<E> {}

impl<E: StoredValue> Reclaimed<E> {
    /// Takes words that are in no tree that anybody reads. Each stands for one value.
    pub(super) fn new(words: Vec<Word>) -> Self {
        Self(words, PhantomData)
    }

    pub(super) fn reserve(&mut self, more: usize) -> Result<(), WriteError> {
        self.0.try_reserve(more).map_err(|_| WriteError::OutOfMemory)
    }

    /// Takes a word, for which capacity was reserved.
    pub(super) fn push(&mut self, word: Word) {
        self.0.push(word);
    }

    /// Gives up the words, which the tree owns now.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

impl<E: StoredValue> Default for Reclaimed<E> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<E: StoredValue> Drop for Reclaimed<E> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<E>() && !self.0.is_empty() {
            drop_all(self.0.drain(..).map(MapleTree::<E>::value));
        }
    }
}

impl<E: StoredValue> fmt::Debug for Reclaimed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reclaimed").field("len", &self.0.len()).finish()
    }
}
