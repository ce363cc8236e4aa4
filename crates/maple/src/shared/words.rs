//! Where the words of a shared tree become values again.
//!
//! # Invariants
//! Every word in the published version came from `into_word` or `split` of the map's type, stands for one value, and is there
//! once (M7). A word that left it is turned back into its value after a grace period, when no reader can have it.

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

// SAFETY: the tree's words are values of `E`, which the map owns; its other pointers are nothing else.
unsafe impl<E: StoredValue + Send> Send for MapleTree<E> {}
// SAFETY: a shared map gives out references to its values, hence `Sync`, takes values and drops them on any thread, and gives out
// values that share with its own, hence `Send`. What changes it holds its lock.
unsafe impl<E: StoredValue + Send + Sync> Sync for MapleTree<E> {}

impl<E: StoredValue, K> Reading<'_, E, K> {
    /// The value of a word that the guard's view has.
    #[inline]
    pub(super) fn borrow<'r>(&'r self, word: Word) -> E::Ref<'r>
    where
        E: 'r,
    {
        // SAFETY: the word was in a published version within the guard's time (M7), so its value is not taken back before the guard
        // ends, which outlives `'r`.
        unsafe { E::borrow(word) }
    }

    /// A second value like that of a word that the guard's view has.
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

    /// The value of a word that is in no version any more, and that no reader can have.
    pub(super) fn value(word: Word) -> E {
        // SAFETY: the word stands for a value that nobody else has (M7).
        unsafe { E::from_word(word) }
    }
}

/// The value of a word in the version of a transaction.
pub(super) fn borrow_from<'r, T, E: StoredValue + 'r>(_transaction: &'r T, word: Word) -> E::Ref<'r> {
    // SAFETY: the word is in the version (M7), and what leaves it is not dropped before the transaction is, which outlives `'r`.
    unsafe { E::borrow(word) }
}

/// Values that were removed, and that no reader can have any more: dropped with it. They are of removals before, whose readers have
/// left since.
///
/// Operations drop them once they have given the map's lock back. Who holds a lock of their own, which such a drop may want to
/// take, has them handed over instead, and drops them later.
pub struct Reclaimed<E: StoredValue>(Vec<Word>, PhantomData<E>);

// SAFETY: its words are values that it owns.
unsafe impl<E: StoredValue + Send> Send for Reclaimed<E> {}
// SAFETY: shared, it gives out nothing.
unsafe impl<E: StoredValue> Sync for Reclaimed<E> {}

impl<E: StoredValue> Reclaimed<E> {
    /// Words that are in no tree that anybody reads, each of which stands for a value.
    pub(super) fn new(words: Vec<Word>) -> Self {
        Self(words, PhantomData)
    }

    pub(super) fn reserve(&mut self, more: usize) -> Result<(), WriteError> {
        self.0.try_reserve(more).map_err(|_| WriteError::OutOfMemory)
    }

    /// Takes a word for which there is room.
    pub(super) fn push(&mut self, word: Word) {
        self.0.push(word);
    }

    /// The words are in the tree now.
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
