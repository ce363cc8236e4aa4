//! Where the words of a shared tree become values again.
//!
//! # Invariants
//! Every word in the published version came from `into_word` or `split` of the map's type, stands for one value, and is there
//! once (M7). A word that left it is turned back into its value after a grace period, when no reader can have it.

#![allow(unsafe_code)]

use super::{MapleTree, Reading};
use crate::entry::{StoredValue, Word};

// SAFETY: the tree's words are values of `E`, which the map owns; its other pointers are nothing else.
unsafe impl<E: StoredValue + Send> Send for MapleTree<E> {}
// SAFETY: a shared map gives out references to its values, hence `Sync`, takes values and drops them on any thread, and gives out
// values that share with its own, hence `Send`. What changes it holds its lock.
unsafe impl<E: StoredValue + Send + Sync> Sync for MapleTree<E> {}

impl<E: StoredValue> Reading<'_, E> {
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
